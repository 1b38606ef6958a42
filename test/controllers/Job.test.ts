/** What a user sees of a Job that runs to its end: spec D.3 to D.8, one row after the other. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Job, Pod } from "../../src/kube/resources.ts"
import { logged } from "../support/logged.ts"
import * as Stand from "./job/harness.ts"

const noCondition: ReadonlyArray<string> = []

describe("a Job", () => {
  it.effect("makes a pod that it holds, and says when it began", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        const [pod] = yield* Stand.pods
        const { metadata } = yield* Stand.get()
        assert.deepInclude(pod?.metadata, {
          generateName: "work-",
          finalizers: [Stand.finalizer],
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
        assert.deepStrictEqual(yield* Stand.statusOf(), {
          active: 1,
          ready: 0,
          terminating: 0,
          startTime: "1970-01-01T00:00:00Z",
          uncountedTerminatedPods: {}
        })
        assert.deepStrictEqual(yield* Stand.events(), [
          { text: `Normal SuccessfulCreate Created pod: ${pod?.metadata.name}`, component: "job-controller" }
        ])
      })
    )
  )

  it.effect("is complete when its pod has succeeded, and lets the pod go", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        yield* Stand.advance("10 seconds")
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        const reached = {
          status: "True",
          reason: "CompletionsReached",
          message: "Reached expected number of succeeded pods",
          lastProbeTime: "1970-01-01T00:00:11Z",
          lastTransitionTime: "1970-01-01T00:00:11Z"
        }
        assert.deepStrictEqual(yield* Stand.statusOf(), {
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
        assert.deepStrictEqual((yield* Stand.pods).map(Stand.isHeld), [false])
        assert.deepStrictEqual(yield* Stand.news, ["Normal Completed Job completed"])
      })
    )
  )

  it.effect("keeps so many pods active, and no more than are missing", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 3, completions: 5 }))
        assert.lengthOf(yield* Stand.activePods, 3)
        yield* Stand.endSome(2, 0)
        yield* Stand.rounds
        assert.lengthOf(yield* Stand.activePods, 3)
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        assert.lengthOf(yield* Stand.activePods, 2)
        assert.deepInclude(yield* Stand.statusOf(), { active: 2, succeeded: 3 })
        yield* Stand.endSome(2, 0)
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { succeeded: 5 })
        assert.lengthOf(yield* Stand.pods, 5)
        assert.deepStrictEqual(yield* Stand.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )

  it.effect("without a number of completions, ends when one has succeeded and the others have ended", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 3 }))
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        assert.lengthOf(yield* Stand.activePods, 2)
        yield* Stand.endSome(1, 1)
        yield* Stand.advance("1 minute")
        assert.lengthOf(yield* Stand.activePods, 1)
        assert.deepStrictEqual(yield* Stand.conditions, noCondition)
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { succeeded: 2, failed: 1 })
        assert.deepStrictEqual(yield* Stand.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )

  it.effect("counts what happens within a second in one sync", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 10, completions: 10 }))
        yield* Stand.advance("5 seconds")
        const calls = yield* Stand.recording()
        for (let i = 0; i < 8; i++) {
          yield* Stand.endSome(1, 0)
          yield* Stand.advance("100 millis")
        }
        calls.length = 0
        yield* Stand.advance("5 seconds")
        assert.strictEqual(calls.filter((call) => Stand.line(call).startsWith("update jobs")).length, 2)
        assert.deepInclude(yield* Stand.statusOf(), { succeeded: 8, active: 2 })
      })
    )
  )

  it.effect("is looked at in the same moment when its spec changes", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 1, completions: 5 }))
        yield* Stand.advance("5 seconds")
        yield* Stand.change({ parallelism: 4 })
        assert.lengthOf(yield* Stand.activePods, 4)
      })
    )
  )

  it.effect("with fewer at once, calls back those that do least, and counts none of them", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 3, completions: 5 }))
        const [, second] = yield* Stand.activePods
        yield* Stand.ready(second)
        yield* Stand.rounds
        yield* Stand.change({ parallelism: 1 })
        yield* Stand.rounds
        assert.deepStrictEqual((yield* Stand.pods).map(Stand.nameOf), [Stand.nameOf(second)])
        const status = yield* Stand.statusOf()
        assert.deepInclude(status, { active: 1, ready: 1 })
        assert.isUndefined(status?.failed)
      })
    )
  )

  it.effect("ends with two words and no more, and writes nothing after", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        const calls = yield* Stand.recording()
        yield* Stand.advance("1 hour")
        assert.deepStrictEqual(calls.map(Stand.line), [])
      })
    )
  )

  it.effect("writes nothing while nothing happens", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 3 }))
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        const calls = yield* Stand.recording()
        yield* Stand.advance("1 hour")
        assert.deepStrictEqual(calls.map(Stand.line), [])
      })
    )
  )

  it.effect("waits for pods on their way out before it is complete", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 2 }))
        yield* Stand.bindAll
        const [first] = yield* Stand.activePods
        yield* Stand.remove(Pod, Stand.nameOf(first))
        yield* Stand.rounds
        // It has failed, is counted and replaced, and lingers.
        yield* Stand.advance("11 seconds")
        assert.deepInclude(yield* Stand.statusOf(), { active: 2, failed: 1, terminating: 1 })
        yield* Stand.endSome(2, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["SuccessCriteriaMet"])
        assert.deepInclude(yield* Stand.statusOf(), { succeeded: 2, terminating: 1 })
        yield* Stand.takeAway(Stand.nameOf(first))
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["SuccessCriteriaMet", "Complete"])
        assert.deepInclude(yield* Stand.statusOf(), { succeeded: 2, failed: 1, terminating: 0 })
      })
    )
  )

  it.effect("says so when more have succeeded than were asked for", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 2 }))
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        // Somebody gives it a pod that has done the work as well.
        const { metadata, spec } = yield* Stand.get()
        yield* Stand.apply({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "helper", namespace: "default", labels: spec?.template.metadata?.labels },
          spec: { containers: [{ name: "main", image: "work:1" }] }
        })
        const helper = (yield* Stand.pods).find((pod) => Stand.nameOf(pod) === "helper")
        yield* Stand.end(helper, 0)
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        const adopted = (yield* Stand.pods).find((pod) => Stand.nameOf(pod) === "helper")
        assert.strictEqual(adopted?.metadata.ownerReferences?.[0]?.uid, metadata.uid)
        assert.deepInclude(yield* Stand.statusOf(), { succeeded: 3 })
        assert.deepStrictEqual(yield* Stand.news, [
          "Warning TooManySucceededPods Too many succeeded pods running after completion count reached",
          "Normal Completed Job completed"
        ])
      })
    )
  )

  it.effect("is counted by its end, its pods and its syncs, and its end is logged", () => {
    const { lines, logger } = logged()
    return Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 2, backoffLimit: 0 }))
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        yield* Stand.endSome(1, 1)
        yield* Stand.rounds
        assert.includeMembers(yield* Stand.counters, [
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
    Stand.world(
      Effect.gen(function* () {
        const containers = [{ name: "main", image: "other:1" }]
        yield* Stand.apply({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "orphan", namespace: "default", labels: { app: "other" } },
          spec: { containers }
        })
        const template = { metadata: { labels: { app: "own" } }, spec: { restartPolicy: "Never", containers } }
        yield* Stand.apply(Stand.job({ manualSelector: true, selector: {}, parallelism: 2, completions: 2, template }))
        yield* Stand.rounds
        const { metadata } = yield* Stand.get()
        const all = yield* Stand.pods
        assert.lengthOf(all, 2)
        assert.deepStrictEqual(
          all.map(({ metadata: { ownerReferences } }) => ownerReferences?.[0]?.uid),
          [metadata.uid, metadata.uid]
        )
        yield* Stand.endSome(2, 0)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["SuccessCriteriaMet", "Complete"])
      })
    )
  )

  it.effect("of another manager is left alone altogether", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ managedBy: "example.com/other" }))
        yield* Stand.advance("1 minute")
        assert.deepStrictEqual(yield* Stand.statusOf(), {})
        assert.lengthOf(yield* Stand.pods, 0)
        assert.deepStrictEqual(yield* Stand.events(), [])
      })
    )
  )

  it.effect("that names this manager is managed", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ managedBy: "kubernetes.io/job-controller" }))
        assert.lengthOf(yield* Stand.pods, 1)
      })
    )
  )

  it.effect("that is being deleted makes no pods and lets those go that it has", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 4 }, { finalizers: ["example.com/hold"] }))
        yield* Stand.endSome(1, 0)
        yield* Stand.remove(Job, "work", { propagationPolicy: "Background" })
        yield* Stand.rounds
        const all = yield* Stand.pods
        assert.deepStrictEqual(all.map(Stand.isHeld), [false, false])
        assert.deepInclude(yield* Stand.statusOf(), { active: 1, succeeded: 1 })
      })
    )
  )
})
