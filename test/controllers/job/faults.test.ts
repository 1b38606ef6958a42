/**
 * Fault injection: Jobs on simulated nodes while writes fail, responses are lost, watches stall and the controller is killed. In the end every pod is
 * counted once.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import * as JobController from "../../../src/controllers/Job.ts"
import * as PodGC from "../../../src/controllers/PodGC.ts"
import { Job, Pod } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest, type Provides } from "../../../src/testing/ClusterTest.ts"
import { leaderLost } from "../../support/cluster.ts"
import * as Harness from "./harness.ts"

const template = (command: ReadonlyArray<string>) => ({
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1", command }] }
})

/** A Job of six completions, three at once, whose pods run for two seconds. */
const work = (spec: object = {}) =>
  Harness.job({ completions: 6, parallelism: 3, template: template(["sleep", "2"]), ...spec })

const onNodes =
  (nodes: number) =>
  <A, E>(test: Effect.Effect<A, E, Provides | Scope.Scope>) =>
    test.pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes })))

/** Waits until the Job has ended, at most this many minutes. */
const untilEnded = (minutes: number) =>
  Effect.gen(function* () {
    for (let minute = 0; minute < minutes; minute++) {
      if ((yield* Harness.conditions).length > 1) return
      yield* Harness.advance("1 minute")
    }
  })

/** Complete, with exactly as many successes as requested, and no pod with the finalizer. */
const isDone = Effect.gen(function* () {
  yield* untilEnded(30)
  assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
  const status = yield* Harness.statusOf()
  assert.deepInclude(status, { succeeded: 6, terminating: 0, uncountedTerminatedPods: {} })
  assert.isUndefined(status?.failed)
  assert.deepStrictEqual((yield* Harness.pods).filter(Harness.isTracked).map(Harness.nameOf), [])
  assert.lengthOf(yield* Harness.pods, 6)
})

/** The verbs with which the loop writes. */
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
  "status writes conflict": [on("jobs.batch", { _tag: "Conflict" }, 5)],
  "writes of pods are throttled": [on("pods", { _tag: "Throttle", retryAfterSeconds: 1 }, 8)],
  "writes of pods fail": [on("pods", { _tag: "Status", code: 500 }, 5)],
  "status writes fail": [on("jobs.batch", { _tag: "Status", code: 500 }, 5)],
  "responses to writes of pods are lost": [on("pods", { _tag: "DropAnswer" }, 7)],
  "responses to status writes are lost": [on("jobs.batch", { _tag: "DropAnswer" }, 4)],
  "the watch of pods stalls": [
    { match: { verb: "watch", resource: "pods" }, fault: { _tag: "CutWatch", after: 2, how: "silence" }, times: 1 }
  ],
  "the watch of Jobs stalls": [
    {
      match: { verb: "watch", resource: "jobs.batch" },
      fault: { _tag: "CutWatch", after: 2, how: "silence" },
      times: 1
    }
  ],
  "pods are listed again": [{ match: { verb: "watch", resource: "pods" }, fault: { _tag: "Gone", after: 1 }, times: 1 }]
}

describe("a Job of six completions is complete", () => {
  for (const mode of ["NonIndexed", "Indexed"]) {
    for (const [title, rules] of Object.entries(faultRules)) {
      it.effect(`although ${title} (${mode})`, () =>
        Effect.gen(function* () {
          yield* (yield* ApiServer).setFaults(rules)
          yield* Harness.start
          yield* Harness.apply(work({ completionMode: mode }))
          yield* isDone
        }).pipe(onNodes(2))
      )
    }
  }

  for (const millis of [300, 1_000, 1_700]) {
    it.effect(`although the controller is killed every ${millis} ms`, () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        yield* Harness.apply(work())
        for (let kills = 0; kills < 20; kills++) {
          const running = yield* cluster.run(JobController.make())
          yield* cluster.advance(millis)
          yield* running.stop(leaderLost)
        }
        yield* Harness.start
        yield* isDone
      }).pipe(onNodes(2))
    )
  }
})

describe("on simulated nodes", () => {
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
        yield* untilEnded(3)
        assert.deepInclude(yield* Harness.statusOf(), { succeeded: 1, failed: 1 })
      }).pipe(onNodes(2))
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
    }).pipe(onNodes(1))
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
        assert.deepStrictEqual(left.filter(Harness.isTracked), [])
      }).pipe(onNodes(2))
    )
  }
})
