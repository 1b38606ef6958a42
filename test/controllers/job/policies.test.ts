/** What a failure means, suspension, and pods that nobody counts: spec D.2, D.5, D.10. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Job, Pod } from "../../../src/kube/resources.ts"
import * as Stand from "./harness.ts"

const noRule: ReadonlyArray<string> = []

describe("a policy of failure", () => {
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

  it.effect("fails the Job at once for an exit code, and tells which pod it was", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 2, ...policy }))
        const [pod] = yield* Stand.activePods
        yield* Stand.end(pod, 42)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget", "Failed"])
        const message = `Container main for pod default/${Stand.nameOf(pod)} failed with exit code 42 matching FailJob rule at index 1`
        assert.deepStrictEqual(yield* Stand.news, [`Warning PodFailurePolicy ${message}`])
        assert.deepStrictEqual(
          (yield* Stand.statusOf())?.conditions?.map((condition) => condition.message),
          [message, message]
        )
        assert.deepInclude(yield* Stand.statusOf(), { failed: 2 })
      })
    )
  )

  it.effect("fails the Job at once for a condition", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job(policy))
        const [pod] = yield* Stand.activePods
        yield* Stand.end(pod, 1, { conditions: [{ type: "Broken", status: "True" }] })
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.news, [
          `Warning PodFailurePolicy Pod default/${Stand.nameOf(pod)} has condition Broken matching FailJob rule at index 2`
        ])
      })
    )
  )

  it.effect("leaves a failure out of account, and has the pod replaced", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ ...policy, backoffLimit: 0 }))
        const [pod] = yield* Stand.activePods
        yield* Stand.end(pod, 42, { conditions: [{ type: "DisruptionTarget", status: "True" }] })
        yield* Stand.advance("12 seconds")
        assert.deepStrictEqual(yield* Stand.conditions, noRule)
        const status = yield* Stand.statusOf()
        assert.deepInclude(status, { active: 1 })
        assert.isUndefined(status?.failed)
        assert.isFalse((yield* Stand.pods).filter((one) => one.status?.phase === "Failed").some(Stand.isHeld))
      })
    )
  )

  it.effect("counts what a rule says counts, and what no rule speaks of", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ ...policy, parallelism: 2, completions: 2 }))
        yield* Stand.endSome(1, 3)
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { failed: 1 })
      })
    )
  )

  it.effect("judges only pods that have ended", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job(policy))
        yield* Stand.bindAll
        const [pod] = yield* Stand.activePods
        yield* Stand.remove(Pod, Stand.nameOf(pod))
        yield* Stand.advance("20 seconds")
        assert.deepInclude(yield* Stand.statusOf(), { terminating: 1 })
        yield* Stand.end(pod, 42)
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, ["FailureTarget", "Failed"])
      })
    )
  )
})

describe("a suspended Job", () => {
  it.effect("has no pods and no start until it is resumed", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ suspend: true, activeDeadlineSeconds: 60 }))
        yield* Stand.advance("2 minutes")
        const { startTime, ...status } = (yield* Stand.statusOf()) ?? {}
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
        assert.lengthOf(yield* Stand.pods, 0)
        yield* Stand.change({ suspend: false })
        yield* Stand.advance("59 seconds")
        assert.deepInclude(yield* Stand.statusOf(), { active: 1, startTime: "1970-01-01T00:02:00Z" })
        assert.deepStrictEqual(yield* Stand.conditions, ["not Suspended"])
        assert.deepStrictEqual(yield* Stand.news, ["Normal Suspended Job suspended", "Normal Resumed Job resumed"])
        yield* Stand.advance("5 seconds")
        assert.deepStrictEqual(yield* Stand.conditions, ["not Suspended", "FailureTarget", "Failed"])
      })
    )
  )

  it.effect("loses its pods, which do not count, and keeps what it has done", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 3, completions: 5 }))
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        yield* Stand.change({ suspend: true })
        yield* Stand.rounds
        assert.lengthOf(yield* Stand.activePods, 0)
        const status = yield* Stand.statusOf()
        assert.deepInclude(status, { succeeded: 1, terminating: 0 })
        assert.isUndefined(status?.active)
        assert.isUndefined(status?.failed)
        assert.isUndefined(status?.startTime)
        yield* Stand.change({ suspend: false })
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { active: 3, succeeded: 1 })
      })
    )
  )

  it.effect("that was never suspended says nothing of it", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ suspend: false }))
        yield* Stand.rounds
        assert.deepStrictEqual(yield* Stand.conditions, noRule)
      })
    )
  )
})

describe("pods that are held for nobody", () => {
  const orphan = (name: string, metadata: object = {}) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", finalizers: [Stand.finalizer], ...metadata },
    spec: { containers: [{ name: "main", image: "work:1" }] }
  })
  const owner = (kind: string, name: string, uid: string, apiVersion = "batch/v1") => ({
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }]
  })
  const held = Effect.map(Stand.pods, (all) => all.filter(Stand.isHeld).map(Stand.nameOf).toSorted())

  it.effect("are let go: without a controller, or of a Job that is gone", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        const { metadata } = yield* Stand.get()
        yield* Stand.apply(
          orphan("nobody"),
          orphan("gone", owner("Job", "gone", "1")),
          orphan("former", owner("Job", "work", "2")),
          orphan("other", owner("ReplicaSet", "work", "3", "apps/v1")),
          orphan("elsewhere", owner("Job", "work", "4", "example.com/v1")),
          orphan("mine", { ...owner("Job", "work", metadata.uid ?? ""), labels: { job: "no" } })
        )
        yield* Stand.settle
        const names = yield* held
        assert.include(names, "other")
        assert.include(names, "elsewhere")
        assert.notIncludeMembers(names, ["nobody", "gone", "former"])
        yield* Stand.rounds
        // Not of its selector: it is released, and with that let go.
        assert.notInclude(yield* held, "mine")
      })
    )
  )

  it.effect("of a Job that is deleted are let go, with and without their owner", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ parallelism: 2, completions: 2 }))
        assert.lengthOf(yield* held, 2)
        const calls = yield* Stand.recording()
        yield* Stand.remove(Job, "work", { propagationPolicy: "Background" })
        yield* Stand.rounds
        assert.deepStrictEqual(yield* held, [])
        // Nobody is asked for a Job whose end was seen.
        assert.deepStrictEqual(
          calls.map(Stand.line).filter((line) => line.startsWith("get")),
          []
        )
      })
    )
  )

  it.effect("stay held while their Job is managed by somebody else", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job({ managedBy: "example.com/other" }))
        const { metadata } = yield* Stand.get()
        yield* Stand.apply(orphan("theirs", owner("Job", "work", metadata.uid ?? "")))
        yield* Stand.rounds
        assert.deepStrictEqual(yield* held, ["theirs"])
      })
    )
  )

  it.effect("of a Job that has ended are let go when they come late", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        const { metadata } = yield* Stand.get()
        yield* Stand.apply(orphan("late", owner("Job", "work", metadata.uid ?? "")))
        yield* Stand.rounds
        assert.deepStrictEqual(yield* held, [])
      })
    )
  )

  it.effect("that somebody takes away from a Job are taken back, and counted", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        const [pod] = yield* Stand.activePods
        yield* Stand.patch(Pod, Stand.nameOf(pod), { metadata: { ownerReferences: null } })
        yield* Stand.settle
        assert.deepStrictEqual(yield* held, [])
        yield* Stand.rounds
        assert.deepStrictEqual(yield* held, [Stand.nameOf(pod)])
        yield* Stand.endSome(1, 0)
        yield* Stand.rounds
        assert.deepInclude(yield* Stand.statusOf(), { succeeded: 1 })
        assert.lengthOf(yield* Stand.pods, 1)
      })
    )
  )

  it.effect("whose labels are changed are released, and replaced", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.apply(Stand.job())
        const [pod] = yield* Stand.activePods
        yield* Stand.patch(Pod, Stand.nameOf(pod), { metadata: { labels: null } })
        yield* Stand.rounds
        const released = (yield* Stand.pods).find((one) => Stand.nameOf(one) === Stand.nameOf(pod))
        assert.isUndefined(released?.metadata.ownerReferences)
        assert.notInclude(yield* held, Stand.nameOf(pod))
        assert.lengthOf(yield* Stand.activePods, 2)
      })
    )
  )
})
