/**
 * Scaling to zero and back, on small test dependencies: a server with the gate off does not store such an autoscaler.
 * The process may end after any write, and another takes over.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import type { Settings } from "../../../src/controllers/horizontalpodautoscaler/plan/spec.ts"
import type { Deps } from "../../../src/controllers/horizontalpodautoscaler/deps.ts"
import * as State from "../../../src/controllers/horizontalpodautoscaler/state.ts"
import * as Sync from "../../../src/controllers/horizontalpodautoscaler/sync.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import type { HorizontalPodAutoscaler, Pod } from "../../../src/kube/resources.ts"
import { MetricsApi } from "../../../src/layers/MetricsApi.ts"
import * as Store from "../../../src/streams/store/Store.ts"

const settings: Settings = {
  period: 15_000,
  downscaleStabilization: 0,
  tolerance: 0.1,
  cpuInitialization: 0,
  initialReadiness: 0,
  scalesToZero: true
}

const metadata = { name: "web", namespace: "default", uid: "1" }

const first: HorizontalPodAutoscaler = {
  metadata,
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 0,
    maxReplicas: 10,
    metrics: [
      {
        type: "External",
        external: { metric: { name: "depth" }, target: { type: "AverageValue", averageValue: "10" } }
      }
    ]
  }
}

/** A server with one autoscaler and one target; it may fail after some writes. */
interface Case {
  autoscaler: HorizontalPodAutoscaler
  replicas: number
  depth: number
  /** Writes that are still stored. */
  writes: number
  readonly recorded: Array<string>
}

const worldOf = (replicas: number): Case => ({ autoscaler: first, replicas, depth: 0, writes: Infinity, recorded: [] })

const cut = ApiError.network({ verb: "update", path: "/" }, new Error("cut off"))

const writing = <A>(given: Case, write: () => A): Effect.Effect<A, ApiError.ApiError> =>
  Effect.suspend(() => (given.writes-- > 0 ? Effect.sync(write) : Effect.fail(cut)))

const depsOf = (given: Case): Effect.Effect<Deps> =>
  Effect.map(MetricsApi, (metrics): Deps => {
    const scale = () => ({
      metadata: { name: "web" },
      spec: { replicas: given.replicas },
      status: { replicas: given.replicas, selector: "app=web" }
    })
    const recordEvent = (reason: string, message: string) =>
      Effect.sync(() => void given.recorded.push(`${reason}: ${message}`))
    return {
      autoscalers: { ...Store.make<HorizontalPodAutoscaler>(), get: () => given.autoscaler },
      pods: Store.make<Pod>(),
      scales: {
        get: () => Effect.sync(scale),
        update: (_, wanted) =>
          writing(given, () => {
            given.replicas = wanted.spec?.replicas ?? 0
            return wanted
          })
      },
      metrics,
      live: () => Effect.sync(() => given.autoscaler),
      updateStatus: (next) => writing(given, () => (given.autoscaler = next)),
      events: {
        event: (_, __, reason, message) => recordEvent(reason, message),
        normal: (_, reason, message) => recordEvent(reason, message),
        warning: (_, reason, message) => recordEvent(reason, message)
      }
    }
  }).pipe(Effect.provide(MetricsApi.layerMemory({ external: () => [{ value: String(given.depth) }] })))

/** A leadership term, whose reconciles the test runs. */
const term = (given: Case, scalesToZero = true) =>
  Effect.map(depsOf(given), (deps) => {
    const reconcile = Sync.sync(deps, State.make({ ...settings, scalesToZero }))
    return Effect.andThen(TestClock.adjust("15 seconds"), Effect.result(reconcile("default/web")))
  })

const zero = (given: Case): string | undefined =>
  given.autoscaler.status?.conditions?.flatMap(({ message, reason, status, type }) =>
    type === "ScaledToZero" ? [`${status} ${reason}: ${message}`] : []
  )[0]

const isZero = "True ScaledToZero: the HPA controller scaled the workload to zero"
const isNot = "False NotScaledToZero: the HPA controller did not scale the workload to zero"

describe("the last replica", () => {
  it.effect("is removed, and added when the metric requires it", () =>
    Effect.gen(function* () {
      const given = worldOf(2)
      const reconcile = yield* term(given)
      yield* reconcile
      assert.deepStrictEqual([given.replicas, zero(given)], [2, undefined])
      yield* reconcile
      assert.deepStrictEqual([given.replicas, zero(given)], [0, isZero])
      yield* reconcile
      assert.deepStrictEqual([given.replicas, zero(given)], [0, isZero])
      given.depth = 25
      yield* reconcile
      assert.deepStrictEqual([given.replicas, zero(given)], [3, isNot])
      assert.deepStrictEqual(given.recorded, [
        "SuccessfulRescale: New size: 0; reason: All metrics below target",
        "SuccessfulRescale: New size: 3; reason: external metric depth(nil) above target"
      ])
    })
  )

  it.effect("that a user removed is not added, nor any while the gate is off", () =>
    Effect.gen(function* () {
      const given = worldOf(0)
      given.depth = 25
      yield* yield* term(given)
      assert.strictEqual(given.replicas, 0)
      const own = worldOf(1)
      const reconcile = yield* term(own)
      yield* reconcile
      yield* reconcile
      assert.deepStrictEqual([own.replicas, zero(own)], [0, isZero])
      own.depth = 25
      yield* yield* term(own, false)
      assert.deepStrictEqual([own.replicas, zero(own)], [0, undefined])
    })
  )

  it.effect("is added up to the bounds, where they were raised meanwhile", () =>
    Effect.gen(function* () {
      const given = worldOf(1)
      const reconcile = yield* term(given)
      yield* reconcile
      yield* reconcile
      const { autoscaler } = given
      if (autoscaler.spec !== undefined)
        given.autoscaler = { ...autoscaler, spec: { ...autoscaler.spec, minReplicas: 2 } }
      yield* reconcile
      assert.deepStrictEqual([given.replicas, zero(given)], [2, isNot])
      assert.strictEqual(
        given.recorded.at(-1),
        "SuccessfulRescale: New size: 2; reason: Current number of replicas below Spec.MinReplicas"
      )
    })
  )
})

/**
 * Reconciles until the process is cut off after this many writes; then another takes over. Returns the size once the
 * metric requires replicas.
 */
const survives = (writes: number) =>
  Effect.gen(function* () {
    const given = worldOf(1)
    const before = yield* term(given)
    yield* before
    given.writes = writes
    yield* before
    given.writes = Infinity
    const after = yield* term(given)
    yield* after
    yield* after
    given.depth = 25
    yield* after
    return given.replicas
  })

describe("a process that ends between any two writes", () => {
  for (const writes of [0, 1, 2]) {
    it.effect(`scales up again if it ends after ${writes} of them`, () =>
      Effect.map(survives(writes), (replicas) => assert.isAbove(replicas, 0))
    )
  }

  it.effect("records a refusal, and resets the condition ScaledToZero", () =>
    Effect.gen(function* () {
      const given = worldOf(1)
      const reconcile = yield* term(given)
      yield* reconcile
      given.writes = 1
      const answer = yield* reconcile
      assert.isTrue(Result.isFailure(answer))
      given.writes = Infinity
      given.depth = 10
      yield* reconcile
      assert.deepStrictEqual([given.replicas, zero(given)], [1, isNot])
    })
  )
})
