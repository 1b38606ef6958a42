/** What the counters of kube-controller-manager say of Jobs, with its values. Source: pkg/controller/job: syncJob, manageJob, recordJobPodFinished. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Job, Pod } from "../../../src/kube/resources.ts"
import * as Stand from "./stand.ts"

const world = (test: Parameters<typeof Stand.world>[0]) =>
  Stand.world(test).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))

/** By action and result, of Jobs without indexes: `success tracking 2`. */
const syncs = Effect.map(Stand.counters, (all) =>
  all.flatMap((line) => /^job_controller_job_syncs_total NonIndexed (.*) \d+$/.exec(line)?.[1] ?? []).toSorted()
)

describe("job_syncs_total", () => {
  it.effect("calls a sync that ends a Job reconciling, whatever it deletes", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 2, backoffLimit: 0 }))
        yield* Stand.endSome(1, 1)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget", "Failed"])
        assert.notInclude(yield* syncs, "success pods_deleted")
        assert.include(yield* syncs, "success reconciling")
      })
    )
  )

  it.effect("calls a sync of a suspended Job pods_deleted, even if there is none to delete", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ suspend: true }))
        yield* Stand.rounds
        assert.deepStrictEqual(yield* syncs, ["success pods_deleted"])
      })
    )
  )

  it.effect("calls a sync that waits for the backoff of failed pods pods_created", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        yield* Stand.rounds
        yield* Stand.endSome(1, 1)
        yield* Stand.advance("1 second")
        const before = yield* Stand.counters
        yield* Stand.advance("1 second")
        const after = yield* Stand.counters
        const changed = after.filter((line) => line.includes("job_syncs_total") && !before.includes(line))
        assert.lengthOf(changed, 1)
        assert.match(changed[0] ?? "", /success pods_created/)
      })
    )
  )

  it.effect("calls a sync that may not manage pods reconciling", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({}, { finalizers: ["example.com/hold"] }))
        yield* Stand.rounds
        const before = yield* Stand.counters
        yield* Stand.remove(Job, "work", { propagationPolicy: "Background" })
        yield* Stand.rounds
        const after = yield* Stand.counters
        const changed = after.filter((line) => line.includes("job_syncs_total") && !before.includes(line))
        assert.deepStrictEqual(
          changed.map((line) => line.replace(/ \d+$/, "")),
          ["job_controller_job_syncs_total NonIndexed success reconciling"]
        )
      })
    )
  )

  it.effect("counts a sync whose pods could not be claimed", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        const [pod] = yield* Stand.pods
        yield* Stand.patch(Pod, pod?.metadata.name ?? "", { metadata: { labels: null } })
        yield* Stand.recording([
          { match: { verb: "patch", resource: "pods" }, fault: { _tag: "Status", code: 403 }, times: 1 }
        ])
        yield* Stand.rounds
        assert.include(yield* syncs, "error reconciling")
      })
    )
  )
})

describe("job_pods_finished_total", () => {
  it.effect("of an indexed Job counts indexes that it still has", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ completionMode: "Indexed", completions: 4, parallelism: 4 }))
        yield* Stand.endIndex(0, 0)
        yield* Stand.endIndex(3, 0)
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { succeeded: 2, completedIndexes: "0,3" })
        // Index 1 succeeds in the sync in which index 3 leaves the Job: as many as before, and one more.
        yield* Stand.endIndex(1, 0)
        yield* Stand.change({ completions: 2, parallelism: 2 })
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { succeeded: 2, completedIndexes: "0,1" })
        assert.include(yield* Stand.counters, "job_controller_job_pods_finished_total Indexed succeeded 3")
      })
    )
  )

  it.effect("is there with zero as soon as a status was written", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        assert.includeMembers(yield* Stand.counters, [
          "job_controller_job_pods_finished_total NonIndexed succeeded 0",
          "job_controller_job_pods_finished_total NonIndexed failed 0"
        ])
      })
    )
  )
})
