/**
 * Fault injection: Jobs on simulated nodes while writes fail, answers are lost, watches stall and the loop stops. In the end every pod is counted
 * once.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import * as JobController from "../../../src/controllers/Job.ts"
import * as PodGC from "../../../src/controllers/PodGC.ts"
import { Job, Pod } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import * as Harness from "./harness.ts"

const template = (command: ReadonlyArray<string>) => ({
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1", command }] }
})

/** Six times two seconds of work, three at once. */
const work = (spec: object = {}) =>
  Harness.job({ completions: 6, parallelism: 3, template: template(["sleep", "2"]), ...spec })

const until = (limit: number) =>
  Effect.gen(function* () {
    for (let minute = 0; minute < limit; minute++) {
      if ((yield* Harness.conditions).length > 1) return
      yield* Harness.advance("1 minute")
    }
  })

/** Complete, with exactly as many successes as requested, and no pod with the finalizer. */
const isDone = Effect.gen(function* () {
  yield* until(30)
  assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
  const status = yield* Harness.statusOf()
  assert.deepInclude(status, { succeeded: 6, terminating: 0, uncountedTerminatedPods: {} })
  assert.isUndefined(status?.failed)
  assert.deepStrictEqual((yield* Harness.pods).filter(Harness.isHeld).map(Harness.nameOf), [])
  assert.lengthOf(yield* Harness.pods, 6)
})

/** What the loop writes: of Jobs that is the status alone. */
const writes: Readonly<Record<string, ReadonlyArray<string>>> = {
  pods: ["create", "patch", "delete"],
  "jobs.batch": ["update"]
}

const on = (resource: "pods" | "jobs.batch", fault: Rule["fault"], times: number): Rule => ({
  match: ({ context }) => context.resource === resource && writes[resource]?.includes(context.verb) === true,
  fault,
  times
})

const faultRules: Readonly<Record<string, ReadonlyArray<Rule>>> = {
  "statuses conflict": [on("jobs.batch", { _tag: "Conflict" }, 5)],
  "the server is busy": [on("pods", { _tag: "Throttle", retryAfterSeconds: 1 }, 8)],
  "writes of pods fail": [on("pods", { _tag: "Status", code: 500 }, 5)],
  "writes of statuses fail": [on("jobs.batch", { _tag: "Status", code: 500 }, 5)],
  "answers about pods get lost": [on("pods", { _tag: "DropAnswer" }, 7)],
  "answers about statuses get lost": [on("jobs.batch", { _tag: "DropAnswer" }, 4)],
  "the cache of pods falls silent": [
    { match: { verb: "watch", resource: "pods" }, fault: { _tag: "CutWatch", after: 2, how: "silence" }, times: 1 }
  ],
  "the cache of Jobs falls silent": [
    {
      match: { verb: "watch", resource: "jobs.batch" },
      fault: { _tag: "CutWatch", after: 2, how: "silence" },
      times: 1
    }
  ],
  "pods are listed again": [{ match: { verb: "watch", resource: "pods" }, fault: { _tag: "Gone", after: 1 }, times: 1 }]
}

describe("six times two seconds of work, done", () => {
  for (const mode of ["NonIndexed", "Indexed"]) {
    for (const [title, rules] of Object.entries(faultRules)) {
      it.effect(`although ${title} (${mode})`, () =>
        Effect.gen(function* () {
          yield* (yield* ApiServer).setFaults(rules)
          yield* Harness.start
          yield* Harness.apply(work({ completionMode: mode }))
          yield* isDone
        }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
      )
    }
  }

  for (const millis of [300, 1_000, 1_700]) {
    it.effect(`although the loop dies every ${millis} ms`, () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        yield* Harness.apply(work())
        for (let dies = 0; dies < 20; dies++) {
          const running = yield* cluster.run(JobController.make())
          yield* cluster.advance(millis)
          yield* running.stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" })))
        }
        yield* Harness.start
        yield* isDone
      }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
    )
  }
})

describe("on simulated machines", () => {
  it.effect(
    "a deleted pod counts as failed, and with podReplacementPolicy Failed is replaced after it has stopped",
    () =>
      Effect.gen(function* () {
        yield* Harness.start
        yield* Harness.apply(Harness.job({ podReplacementPolicy: "Failed", template: template(["sleep", "60"]) }))
        yield* Harness.advance("10 seconds")
        const [pod] = yield* Harness.activePods
        yield* Harness.remove(Pod, Harness.nameOf(pod))
        yield* Harness.advance("20 seconds")
        assert.deepInclude(yield* Harness.statusOf(), { active: 1, failed: 1, terminating: 0 })
        yield* until(3)
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 1, failed: 1 })
      }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
  )

  it.effect("an unscheduled pod counts as failed when it is deleted", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(PodGC.make())
      yield* Harness.start
      const selector = { nodeSelector: { nowhere: "yes" } }
      const spec = { ...template(["true"]).spec, ...selector }
      yield* Harness.apply(Harness.job({ podReplacementPolicy: "Failed", template: { spec } }))
      const [pod] = yield* Harness.activePods
      yield* Harness.remove(Pod, Harness.nameOf(pod))
      yield* Harness.advance("1 minute")
      assert.deepInclude(yield* Harness.statusOf(), { failed: 1, active: 1, terminating: 0 })
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 1 })))
  )

  for (const propagationPolicy of ["Background", "Foreground", "Orphan"] as const) {
    it.effect(`a Job that is deleted (${propagationPolicy}) leaves no pod with the finalizer`, () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        yield* cluster.run(GarbageCollector.make())
        yield* Harness.start
        yield* Harness.apply(work({ template: template(["sleep", "infinity"]) }))
        yield* Harness.advance("10 seconds")
        yield* Harness.remove(Job, "work", { propagationPolicy })
        yield* Harness.advance("2 minutes")
        assert.lengthOf(yield* cluster.snapshot(Job), 0)
        const left = yield* Harness.pods
        assert.lengthOf(left, propagationPolicy === "Orphan" ? 3 : 0)
        assert.deepStrictEqual(left.filter(Harness.isHeld), [])
      }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
    )
  }
})
