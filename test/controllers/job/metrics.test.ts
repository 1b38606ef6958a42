/** The Job metrics have the values of kube-controller-manager. Source: pkg/controller/job: syncJob, manageJob, recordJobPodFinished. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Job, Pod } from "../../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

const withLoop = (test: Parameters<typeof Harness.withLoop>[0]) =>
  Harness.withLoop(test).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))

/** The labels of the series of NonIndexed Jobs: `success tracking`. */
const syncs = Effect.map(Harness.counters, (all) =>
  all.flatMap((line) => /^job_controller_job_syncs_total NonIndexed (.*) \d+$/.exec(line)?.[1] ?? []).toSorted()
)

describe("job_syncs_total", () => {
  it.effect("has the action reconciling for a sync that ends a Job, whatever it deletes", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 2, backoffLimit: 0 }))
        yield* Harness.endSome(1, 1)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget", "Failed"])
        assert.notInclude(yield* syncs, "success pods_deleted")
        assert.include(yield* syncs, "success reconciling")
      })
    )
  )

  it.effect("has the action pods_deleted for a suspended Job, even without pods", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ suspend: true }))
        yield* Harness.rounds
        assert.deepStrictEqual(yield* syncs, ["success pods_deleted"])
      })
    )
  )

  it.effect("has the action pods_created for a sync that waits for the backoff", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        yield* Harness.rounds
        yield* Harness.endSome(1, 1)
        yield* Harness.advance("1 second")
        const before = yield* Harness.counters
        yield* Harness.advance("1 second")
        const after = yield* Harness.counters
        const changed = after.filter((line) => line.includes("job_syncs_total") && !before.includes(line))
        assert.lengthOf(changed, 1)
        assert.match(changed[0] ?? "", /success pods_created/)
      })
    )
  )

  it.effect("has the action reconciling for a sync that does not manage pods", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({}, { finalizers: ["example.com/hold"] }))
        yield* Harness.rounds
        const before = yield* Harness.counters
        yield* Harness.remove(Job, "work", { propagationPolicy: "Background" })
        yield* Harness.rounds
        const after = yield* Harness.counters
        const changed = after.filter((line) => line.includes("job_syncs_total") && !before.includes(line))
        assert.deepStrictEqual(
          changed.map((line) => line.replace(/ \d+$/, "")),
          ["job_controller_job_syncs_total NonIndexed success reconciling"]
        )
      })
    )
  )

  it.effect("counts a sync whose pods could not be claimed", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        const [pod] = yield* Harness.pods
        yield* Harness.patch(Pod, pod?.metadata.name ?? "", { metadata: { labels: null } })
        yield* Harness.recording([
          { match: { verb: "patch", resource: "pods" }, fault: { _tag: "Status", code: 403 }, times: 1 }
        ])
        yield* Harness.rounds
        assert.include(yield* syncs, "error reconciling")
      })
    )
  )
})

describe("job_pods_finished_total", () => {
  it.effect("of an indexed Job counts a new success although lowered completions remove another index", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ completionMode: "Indexed", completions: 4, parallelism: 4 }))
        yield* Harness.endIndex(0, 0)
        yield* Harness.endIndex(3, 0)
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 2, completedIndexes: "0,3" })
        // Index 1 succeeds in the sync in which index 3 is removed, so the status has as many as before, and the counter one more.
        yield* Harness.endIndex(1, 0)
        yield* Harness.change({ completions: 2, parallelism: 2 })
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 2, completedIndexes: "0,1" })
        assert.include(yield* Harness.counters, "job_controller_job_pods_finished_total Indexed succeeded 3")
      })
    )
  )

  it.effect("exists with zero as soon as the status was written", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        assert.includeMembers(yield* Harness.counters, [
          "job_controller_job_pods_finished_total NonIndexed succeeded 0",
          "job_controller_job_pods_finished_total NonIndexed failed 0"
        ])
      })
    )
  )
})

/** The lines of one counter, without its name. */
const of = (name: string) =>
  Effect.map(Harness.counters, (all) =>
    all.flatMap((line) => new RegExp(`^job_controller_${name} (.*)$`).exec(line)?.[1] ?? []).toSorted()
  )

describe("job_sync_duration_seconds", () => {
  it.effect("measures each sync that is counted, with the same labels", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        yield* Harness.rounds
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        const counted = yield* of("job_syncs_total")
        assert.isNotEmpty(counted)
        assert.deepStrictEqual(yield* of("job_sync_duration_seconds"), counted)
      })
    )
  )
})

describe("job_finished_indexes_total", () => {
  it.effect("counts indexes that succeeded, with backoffLimit global", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ completionMode: "Indexed", completions: 3, parallelism: 3 }))
        yield* Harness.endIndex(0, 0)
        yield* Harness.endIndex(2, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* of("job_finished_indexes_total"), ["succeeded global 2"])
      })
    )
  )

  it.effect("counts indexes that failed, with backoffLimit perIndex", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(
          Harness.job({ completionMode: "Indexed", completions: 3, parallelism: 3, backoffLimitPerIndex: 0 })
        )
        yield* Harness.endIndex(0, 0)
        yield* Harness.endIndex(1, 1)
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { failedIndexes: "1" })
        assert.deepStrictEqual(yield* of("job_finished_indexes_total"), ["failed perIndex 1", "succeeded perIndex 1"])
      })
    )
  )

  it.effect("does not exist for a Job without indexes", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* of("job_finished_indexes_total"), [])
      })
    )
  )
})

describe("job_pods_creation_total", () => {
  it.effect("distinguishes first pods from replacements of failed ones", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 2 }))
        yield* Harness.rounds
        assert.deepStrictEqual(yield* of("job_pods_creation_total"), ["new succeeded 2"])
        yield* Harness.endSome(1, 1)
        yield* Harness.advance("1 minute")
        assert.deepStrictEqual(yield* of("job_pods_creation_total"), [
          "new succeeded 2",
          "recreate_terminating_or_failed succeeded 1"
        ])
      })
    )
  )

  it.effect("has the reason recreate_failed with podReplacementPolicy Failed", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ podReplacementPolicy: "Failed" }))
        yield* Harness.endSome(1, 1)
        yield* Harness.advance("1 minute")
        assert.deepStrictEqual(yield* of("job_pods_creation_total"), ["new succeeded 1", "recreate_failed succeeded 1"])
      })
    )
  )

  it.effect("counts failed creations with the status failed only", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.recording([
          { match: { verb: "create", resource: "pods" }, fault: { _tag: "Status", code: 403 }, times: 1 }
        ])
        yield* Harness.apply(Harness.job({ parallelism: 3, completions: 3 }))
        yield* Harness.settle
        assert.deepStrictEqual(yield* of("job_pods_creation_total"), ["new failed 1"])
      })
    )
  )
})

describe("jobs_by_external_controller_total", () => {
  it.effect("counts a Job of another controller when it is created, and not again when it changes", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ managedBy: "example.com/queue" }))
        yield* Harness.change({ parallelism: 2 })
        yield* Harness.apply(Harness.job({ managedBy: "kubernetes.io/job-controller" }, { name: "own" }))
        yield* Harness.settle
        assert.deepStrictEqual(yield* of("jobs_by_external_controller_total"), ["example.com/queue 1"])
      })
    )
  )
})

describe("terminated_pods_tracking_finalizer_total", () => {
  it.effect("counts pods that ended with the finalizer, and those of them that lost it", () =>
    withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 2 }))
        yield* Harness.endSome(2, 0)
        yield* Harness.settle
        assert.deepStrictEqual(yield* of("terminated_pods_tracking_finalizer_total"), ["add 2"])
        yield* Harness.rounds
        assert.deepStrictEqual(yield* of("terminated_pods_tracking_finalizer_total"), ["add 2", "delete 2"])
      })
    )
  )
})
