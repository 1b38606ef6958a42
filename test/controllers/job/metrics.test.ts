/** What the counters of kube-controller-manager say of Jobs, with its values. Source: pkg/controller/job: syncJob, manageJob, recordJobPodFinished. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Job, Pod } from "../../../src/kube/resources.ts"
import * as Stand from "./harness.ts"

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

/** The lines of one counter, without its name. */
const of = (name: string) =>
  Effect.map(Stand.counters, (all) =>
    all.flatMap((line) => new RegExp(`^job_controller_${name} (.*)$`).exec(line)?.[1] ?? []).toSorted()
  )

describe("job_sync_duration_seconds", () => {
  it.effect("measures each sync that is counted, with the same labels", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        yield* Stand.rounds
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        const counted = yield* of("job_syncs_total")
        assert.isNotEmpty(counted)
        assert.deepStrictEqual(yield* of("job_sync_duration_seconds"), counted)
      })
    )
  )
})

describe("job_finished_indexes_total", () => {
  it.effect("counts indexes that succeeded, with failures counted for all together", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ completionMode: "Indexed", completions: 3, parallelism: 3 }))
        yield* Stand.endIndex(0, 0)
        yield* Stand.endIndex(2, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* of("job_finished_indexes_total"), ["succeeded global 2"])
      })
    )
  )

  it.effect("counts indexes that failed where each has failures of its own", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(
          Stand.job({ completionMode: "Indexed", completions: 3, parallelism: 3, backoffLimitPerIndex: 0 })
        )
        yield* Stand.endIndex(0, 0)
        yield* Stand.endIndex(1, 1)
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { failedIndexes: "1" })
        assert.deepStrictEqual(yield* of("job_finished_indexes_total"), ["failed perIndex 1", "succeeded perIndex 1"])
      })
    )
  )

  it.effect("is not there for a Job without indexes", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* of("job_finished_indexes_total"), [])
      })
    )
  )
})

describe("job_pods_creation_total", () => {
  it.effect("tells first pods from those that take the place of failed ones", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 2 }))
        yield* Stand.rounds
        assert.deepStrictEqual(yield* of("job_pods_creation_total"), ["new succeeded 2"])
        yield* Stand.endSome(1, 1)
        yield* Stand.advance("1 minute")
        assert.deepStrictEqual(yield* of("job_pods_creation_total"), [
          "new succeeded 2",
          "recreate_terminating_or_failed succeeded 1"
        ])
      })
    )
  )

  it.effect("knows a Job that replaces only pods that have failed", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ podReplacementPolicy: "Failed" }))
        yield* Stand.endSome(1, 1)
        yield* Stand.advance("1 minute")
        assert.deepStrictEqual(yield* of("job_pods_creation_total"), ["new succeeded 1", "recreate_failed succeeded 1"])
      })
    )
  )

  it.effect("counts what could not be made, and that not as made", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.recording([
          { match: { verb: "create", resource: "pods" }, fault: { _tag: "Status", code: 403 }, times: 1 }
        ])
        yield* Stand.apply(Stand.job({ parallelism: 3, completions: 3 }))
        yield* Stand.settle
        assert.deepStrictEqual(yield* of("job_pods_creation_total"), ["new failed 1"])
      })
    )
  )
})

describe("jobs_by_external_controller_total", () => {
  it.effect("counts a Job that somebody else manages when it is made, and not again when it changes", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ managedBy: "example.com/queue" }))
        yield* Stand.change({ parallelism: 2 })
        yield* Stand.apply(Stand.job({ managedBy: "kubernetes.io/job-controller" }, { name: "own" }))
        yield* Stand.settle
        assert.deepStrictEqual(yield* of("jobs_by_external_controller_total"), ["example.com/queue 1"])
      })
    )
  )
})

describe("terminated_pods_tracking_finalizer_total", () => {
  it.effect("counts pods that ended with the finalizer, and those of them that lost it", () =>
    world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 2 }))
        yield* Stand.endSome(2, 0)
        yield* Stand.settle
        assert.deepStrictEqual(yield* of("terminated_pods_tracking_finalizer_total"), ["add 2"])
        yield* Stand.rounds
        assert.deepStrictEqual(yield* of("terminated_pods_tracking_finalizer_total"), ["add 2", "delete 2"])
      })
    )
  )
})
