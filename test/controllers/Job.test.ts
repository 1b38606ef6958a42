/** The Job controller on the embedded API server: pods, status, events and metrics of a Job. Source: pkg/controller/job: syncJob. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Job, Pod } from "../../src/kube/resources.ts"
import { logged } from "../support/logged.ts"
import * as Harness from "./job/harness.ts"

const noCondition: ReadonlyArray<string> = []

describe("a Job", () => {
  it.effect("creates a pod with the tracking finalizer, and sets startTime", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        const [pod] = yield* Harness.pods
        const { metadata } = yield* Harness.get()
        assert.deepInclude(pod?.metadata, {
          generateName: "work-",
          finalizers: [Harness.finalizer],
          ownerReferences: [
            {
              apiVersion: "batch/v1",
              kind: "Job",
              name: "work",
              uid: metadata.uid ?? "",
              controller: true,
              blockOwnerDeletion: true
            }
          ]
        })
        assert.deepStrictEqual(pod?.metadata.labels, {
          "batch.kubernetes.io/controller-uid": metadata.uid ?? "",
          "batch.kubernetes.io/job-name": "work",
          "controller-uid": metadata.uid ?? "",
          "job-name": "work"
        })
        assert.deepStrictEqual(yield* Harness.statusOf(), {
          active: 1,
          ready: 0,
          terminating: 0,
          startTime: "1970-01-01T00:00:00Z",
          uncountedTerminatedPods: {}
        })
        assert.deepStrictEqual(yield* Harness.events(), [
          { text: `Normal SuccessfulCreate Created pod: ${pod?.metadata.name}`, component: "job-controller" }
        ])
      })
    )
  )

  it.effect("is complete when its pod has succeeded, and removes the finalizer", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        yield* Harness.advance("10 seconds")
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        const reached = {
          status: "True",
          reason: "CompletionsReached",
          message: "Reached expected number of succeeded pods",
          lastProbeTime: "1970-01-01T00:00:11Z",
          lastTransitionTime: "1970-01-01T00:00:11Z"
        }
        assert.deepStrictEqual(yield* Harness.statusOf(), {
          ready: 0,
          succeeded: 1,
          terminating: 0,
          startTime: "1970-01-01T00:00:00Z",
          completionTime: "1970-01-01T00:00:11Z",
          uncountedTerminatedPods: {},
          conditions: [
            { type: "SuccessCriteriaMet", ...reached },
            { type: "Complete", ...reached }
          ]
        })
        assert.deepStrictEqual((yield* Harness.pods).map(Harness.isTracked), [false])
        assert.deepStrictEqual(yield* Harness.jobEvents, ["Normal Completed Job completed"])
      })
    )
  )

  it.effect("keeps `parallelism` pods active, and no more than completions are missing", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 3, completions: 5 }))
        assert.lengthOf(yield* Harness.activePods, 3)
        yield* Harness.endSome(2, 0)
        yield* Harness.rounds
        assert.lengthOf(yield* Harness.activePods, 3)
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        assert.lengthOf(yield* Harness.activePods, 2)
        assert.deepInclude(yield* Harness.statusOf(), { active: 2, succeeded: 3 })
        yield* Harness.endSome(2, 0)
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 5 })
        assert.lengthOf(yield* Harness.pods, 5)
        assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )

  it.effect("without completions is complete when one pod has succeeded and the others have ended", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 3 }))
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        assert.lengthOf(yield* Harness.activePods, 2)
        yield* Harness.endSome(1, 1)
        yield* Harness.advance("1 minute")
        assert.lengthOf(yield* Harness.activePods, 1)
        assert.deepStrictEqual(yield* Harness.conditions, noCondition)
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 2, failed: 1 })
        assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )

  it.effect("is synced once for all changes within one second", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 10, completions: 10 }))
        yield* Harness.advance("5 seconds")
        const calls = yield* Harness.recording()
        for (let i = 0; i < 8; i++) {
          yield* Harness.endSome(1, 0)
          yield* Harness.advance("100 millis")
        }
        calls.length = 0
        yield* Harness.advance("5 seconds")
        assert.strictEqual(calls.filter((call) => Harness.line(call).startsWith("update jobs")).length, 2)
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 8, active: 2 })
      })
    )
  )

  it.effect("is synced at once when its spec changes", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 1, completions: 5 }))
        yield* Harness.advance("5 seconds")
        yield* Harness.change({ parallelism: 4 })
        assert.lengthOf(yield* Harness.activePods, 4)
      })
    )
  )

  it.effect("whose parallelism is lowered deletes pods that are not ready first, and counts none of them", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 3, completions: 5 }))
        const [, second] = yield* Harness.activePods
        yield* Harness.ready(second)
        yield* Harness.rounds
        yield* Harness.change({ parallelism: 1 })
        yield* Harness.rounds
        assert.deepStrictEqual((yield* Harness.pods).map(Harness.nameOf), [Harness.nameOf(second)])
        const status = yield* Harness.statusOf()
        assert.deepInclude(status, { active: 1, ready: 1 })
        assert.isUndefined(status?.failed)
      })
    )
  )

  for (const [title, spec] of [
    ["after its end", {}],
    ["while its pods do not change", { parallelism: 2, completions: 3 }]
  ] as const)
    it.effect(`leads to no request ${title}`, () =>
      Harness.withLoop(
        Effect.gen(function* () {
          yield* Harness.apply(Harness.job(spec))
          yield* Harness.endSome(1, 0)
          yield* Harness.rounds
          const calls = yield* Harness.recording()
          yield* Harness.advance("1 hour")
          assert.deepStrictEqual(calls.map(Harness.line), [])
        })
      )
    )

  it.effect("waits for terminating pods before it is complete", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 2 }))
        yield* Harness.bindAll
        const [first] = yield* Harness.activePods
        yield* Harness.remove(Pod, Harness.nameOf(first))
        yield* Harness.rounds
        // The deleted pod is counted as failed and replaced, but still terminating.
        yield* Harness.advance("11 seconds")
        assert.deepInclude(yield* Harness.statusOf(), { active: 2, failed: 1, terminating: 1 })
        yield* Harness.endSome(2, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet"])
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 2, terminating: 1 })
        yield* Harness.deleteNow(Harness.nameOf(first))
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 2, failed: 1, terminating: 0 })
      })
    )
  )

  it.effect("records an event when more pods than requested have succeeded", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 2 }))
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        // A user creates a pod that the Job adopts, and that succeeds.
        const { metadata, spec } = yield* Harness.get()
        yield* Harness.apply({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "helper", namespace: "default", labels: spec?.template.metadata?.labels },
          spec: { containers: [{ name: "main", image: "work:1" }] }
        })
        const helper = (yield* Harness.pods).find((pod) => Harness.nameOf(pod) === "helper")
        yield* Harness.end(helper, 0)
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        const adopted = (yield* Harness.pods).find((pod) => Harness.nameOf(pod) === "helper")
        assert.strictEqual(adopted?.metadata.ownerReferences?.[0]?.uid, metadata.uid)
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 3 })
        assert.deepStrictEqual(yield* Harness.jobEvents, [
          "Warning TooManySucceededPods Too many succeeded pods running after completion count reached",
          "Normal Completed Job completed"
        ])
      })
    )
  )

  it.effect("counts its end, its pods and its syncs in metrics, and logs its end", () => {
    const { lines, logger } = logged()
    return Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 2, backoffLimit: 0 }))
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        yield* Harness.endSome(1, 1)
        yield* Harness.rounds
        assert.includeMembers(yield* Harness.counters, [
          "job_controller_jobs_finished_total NonIndexed failed BackoffLimitExceeded 1",
          "job_controller_job_pods_finished_total NonIndexed succeeded 1",
          "job_controller_job_pods_finished_total NonIndexed failed 1",
          "job_controller_job_syncs_total NonIndexed success pods_created 1"
        ])
        assert.deepStrictEqual(lines(/ended/), ["job: Job has ended"])
      })
    ).pipe(Effect.provideService(Metric.MetricRegistry, new Map()), Effect.provide(logger))
  })

  it.effect("with manualSelector and an empty selector runs, and adopts every pod that has no controller", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const containers = [{ name: "main", image: "other:1" }]
        yield* Harness.apply({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "orphan", namespace: "default", labels: { app: "other" } },
          spec: { containers }
        })
        const template = { metadata: { labels: { app: "own" } }, spec: { restartPolicy: "Never", containers } }
        yield* Harness.apply(
          Harness.job({ manualSelector: true, selector: {}, parallelism: 2, completions: 2, template })
        )
        yield* Harness.rounds
        const { metadata } = yield* Harness.get()
        const all = yield* Harness.pods
        assert.lengthOf(all, 2)
        assert.deepStrictEqual(
          all.map(({ metadata: { ownerReferences } }) => ownerReferences?.[0]?.uid),
          [metadata.uid, metadata.uid]
        )
        yield* Harness.endSome(2, 0)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )

  it.effect("with the managedBy of another controller is not reconciled", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ managedBy: "example.com/other" }))
        yield* Harness.advance("1 minute")
        assert.deepStrictEqual(yield* Harness.statusOf(), {})
        assert.lengthOf(yield* Harness.pods, 0)
        assert.deepStrictEqual(yield* Harness.events(), [])
      })
    )
  )

  it.effect("with the default managedBy is reconciled", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ managedBy: "kubernetes.io/job-controller" }))
        assert.lengthOf(yield* Harness.pods, 1)
      })
    )
  )

  it.effect("that is being deleted creates no pods and removes the finalizer from its pods", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 4 }, { finalizers: ["example.com/hold"] }))
        yield* Harness.endSome(1, 0)
        yield* Harness.remove(Job, "work", { propagationPolicy: "Background" })
        yield* Harness.rounds
        const all = yield* Harness.pods
        assert.deepStrictEqual(all.map(Harness.isTracked), [false, false])
        assert.deepInclude(yield* Harness.statusOf(), { active: 1, succeeded: 1 })
      })
    )
  )
})
