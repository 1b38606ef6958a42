/** Pod failure policy, suspension, and pods that no Job counts. Source: pkg/controller/job. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Job, Pod } from "../../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

const none: ReadonlyArray<string> = []

describe("a pod failure policy", () => {
  const policy = {
    podFailurePolicy: {
      rules: [
        { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
        { action: "FailJob", onExitCodes: { containerName: "main", operator: "In", values: [42] } },
        { action: "FailJob", onPodConditions: [{ type: "Broken", status: "True" }] },
        { action: "Count", onExitCodes: { operator: "NotIn", values: [0] } }
      ]
    }
  }

  it.effect("fails the Job at once for an exit code, with the pod in the message", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 2, ...policy }))
        const [pod] = yield* Harness.activePods
        yield* Harness.end(pod, 42)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget", "Failed"])
        const message = `Container main for pod default/${Harness.nameOf(pod)} failed with exit code 42 matching FailJob rule at index 1`
        assert.deepStrictEqual(yield* Harness.jobEvents, [`Warning PodFailurePolicy ${message}`])
        assert.deepStrictEqual(
          (yield* Harness.statusOf())?.conditions?.map((condition) => condition.message),
          [message, message]
        )
        assert.deepInclude(yield* Harness.statusOf(), { failed: 2 })
      })
    )
  )

  it.effect("fails the Job at once for a condition", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job(policy))
        const [pod] = yield* Harness.activePods
        yield* Harness.end(pod, 1, { conditions: [{ type: "Broken", status: "True" }] })
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.jobEvents, [
          `Warning PodFailurePolicy Pod default/${Harness.nameOf(pod)} has condition Broken matching FailJob rule at index 2`
        ])
      })
    )
  )

  it.effect("ignores a failure, and replaces the pod", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ ...policy, backoffLimit: 0 }))
        const [pod] = yield* Harness.activePods
        yield* Harness.end(pod, 42, { conditions: [{ type: "DisruptionTarget", status: "True" }] })
        yield* Harness.advance("12 seconds")
        assert.deepStrictEqual(yield* Harness.conditions, none)
        const status = yield* Harness.statusOf()
        assert.deepInclude(status, { active: 1 })
        assert.isUndefined(status?.failed)
        assert.isFalse((yield* Harness.pods).filter((one) => one.status?.phase === "Failed").some(Harness.isTracked))
      })
    )
  )

  it.effect("counts failures with the action Count, and those without a matching rule", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ ...policy, parallelism: 2, completions: 2 }))
        yield* Harness.endSome(1, 3)
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { failed: 1 })
      })
    )
  )

  it.effect("applies rules only to pods that have ended", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job(policy))
        yield* Harness.bindAll
        const [pod] = yield* Harness.activePods
        yield* Harness.remove(Pod, Harness.nameOf(pod))
        yield* Harness.advance("20 seconds")
        assert.deepInclude(yield* Harness.statusOf(), { terminating: 1 })
        yield* Harness.end(pod, 42)
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, ["FailureTarget", "Failed"])
      })
    )
  )
})

describe("suspension: a Job", () => {
  it.effect("that is suspended has no pods and no startTime until it is resumed", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ suspend: true, activeDeadlineSeconds: 60 }))
        yield* Harness.advance("2 minutes")
        const { startTime, ...status } = (yield* Harness.statusOf()) ?? {}
        assert.isUndefined(startTime)
        const at = "1970-01-01T00:00:00Z"
        assert.deepStrictEqual(status, {
          ready: 0,
          terminating: 0,
          uncountedTerminatedPods: {},
          conditions: [
            {
              type: "Suspended",
              status: "True",
              reason: "JobSuspended",
              message: "Job suspended",
              lastProbeTime: at,
              lastTransitionTime: at
            }
          ]
        })
        assert.lengthOf(yield* Harness.pods, 0)
        yield* Harness.change({ suspend: false })
        yield* Harness.advance("59 seconds")
        assert.deepInclude(yield* Harness.statusOf(), { active: 1, startTime: "1970-01-01T00:02:00Z" })
        assert.deepStrictEqual(yield* Harness.conditions, ["not Suspended"])
        assert.deepStrictEqual(yield* Harness.jobEvents, [
          "Normal Suspended Job suspended",
          "Normal Resumed Job resumed"
        ])
        yield* Harness.advance("5 seconds")
        assert.deepStrictEqual(yield* Harness.conditions, ["not Suspended", "FailureTarget", "Failed"])
      })
    )
  )

  it.effect("deletes its pods without counting them, and keeps its successes", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 3, completions: 5 }))
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        yield* Harness.change({ suspend: true })
        yield* Harness.rounds
        assert.lengthOf(yield* Harness.activePods, 0)
        const status = yield* Harness.statusOf()
        assert.deepInclude(status, { succeeded: 1, terminating: 0 })
        assert.isUndefined(status?.active)
        assert.isUndefined(status?.failed)
        assert.isUndefined(status?.startTime)
        yield* Harness.change({ suspend: false })
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { active: 3, succeeded: 1 })
      })
    )
  )

  it.effect("that was never suspended has no Suspended condition", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ suspend: false }))
        yield* Harness.rounds
        assert.deepStrictEqual(yield* Harness.conditions, none)
      })
    )
  )
})

describe("pods with the tracking finalizer", () => {
  const orphan = (name: string, metadata: object = {}) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", finalizers: [Harness.finalizer], ...metadata },
    spec: { containers: [{ name: "main", image: "work:1" }] }
  })
  const owner = (kind: string, name: string, uid: string, apiVersion = "batch/v1") => ({
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }]
  })
  const tracked = Effect.map(Harness.pods, (all) => all.filter(Harness.isTracked).map(Harness.nameOf).toSorted())

  it.effect("lose it without a controller, or if their Job does not exist", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        const { metadata } = yield* Harness.get()
        yield* Harness.apply(
          orphan("unowned"),
          orphan("gone", owner("Job", "gone", "1")),
          orphan("former", owner("Job", "work", "2")),
          orphan("other", owner("ReplicaSet", "work", "3", "apps/v1")),
          orphan("elsewhere", owner("Job", "work", "4", "example.com/v1")),
          orphan("mine", { ...owner("Job", "work", metadata.uid ?? ""), labels: { job: "no" } })
        )
        yield* Harness.settle
        const names = yield* tracked
        assert.include(names, "other")
        assert.include(names, "elsewhere")
        assert.notIncludeMembers(names, ["unowned", "gone", "former"])
        yield* Harness.rounds
        // The Job's selector does not match it, so the Job releases it, and it is orphaned.
        assert.notInclude(yield* tracked, "mine")
      })
    )
  )

  it.effect("lose it when their Job is deleted, without a live read of the Job", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ parallelism: 2, completions: 2 }))
        assert.lengthOf(yield* tracked, 2)
        const calls = yield* Harness.recording()
        yield* Harness.remove(Job, "work", { propagationPolicy: "Background" })
        yield* Harness.rounds
        assert.deepStrictEqual(yield* tracked, [])
        // No live read for a Job whose deletion was observed.
        assert.deepStrictEqual(
          calls.map(Harness.line).filter((line) => line.startsWith("get")),
          []
        )
      })
    )
  )

  it.effect("keep it while another controller manages their Job", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job({ managedBy: "example.com/other" }))
        const { metadata } = yield* Harness.get()
        yield* Harness.apply(orphan("theirs", owner("Job", "work", metadata.uid ?? "")))
        yield* Harness.rounds
        assert.deepStrictEqual(yield* tracked, ["theirs"])
      })
    )
  )

  it.effect("lose it if they are created after the end of their Job", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        const { metadata } = yield* Harness.get()
        yield* Harness.apply(orphan("late", owner("Job", "work", metadata.uid ?? "")))
        yield* Harness.rounds
        assert.deepStrictEqual(yield* tracked, [])
      })
    )
  )

  it.effect("are adopted again and counted after a user has removed their owner", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        const [pod] = yield* Harness.activePods
        yield* Harness.patch(Pod, Harness.nameOf(pod), { metadata: { ownerReferences: null } })
        yield* Harness.settle
        assert.deepStrictEqual(yield* tracked, [])
        yield* Harness.rounds
        assert.deepStrictEqual(yield* tracked, [Harness.nameOf(pod)])
        yield* Harness.endSome(1, 0)
        yield* Harness.rounds
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 1 })
        assert.lengthOf(yield* Harness.pods, 1)
      })
    )
  )

  it.effect("are released and replaced if the Job's selector does not match them any more", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.job())
        const [pod] = yield* Harness.activePods
        yield* Harness.patch(Pod, Harness.nameOf(pod), { metadata: { labels: null } })
        yield* Harness.rounds
        const released = (yield* Harness.pods).find((one) => Harness.nameOf(one) === Harness.nameOf(pod))
        assert.isUndefined(released?.metadata.ownerReferences)
        assert.notInclude(yield* tracked, Harness.nameOf(pod))
        assert.lengthOf(yield* Harness.activePods, 2)
      })
    )
  )
})
