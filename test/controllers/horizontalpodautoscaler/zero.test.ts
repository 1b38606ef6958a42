/**
 * Scaling to zero and back, on small test dependencies: a server with the gate off does not store such an autoscaler.
 * The process may end after any write, and another takes over.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import type { Settings } from "../../../src/controllers/horizontalpodautoscaler/plan/spec.ts"
import { makeHistories, type Deps } from "../../../src/controllers/horizontalpodautoscaler/deps.ts"
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

/** A server of one autoscaler and one target, which may be cut off after some writes. */
interface World {
  autoscaler: HorizontalPodAutoscaler
  replicas: number
  depth: number
  /** Writes that are still stored. */
  writes: number
  readonly told: Array<string>
}

const worldOf = (replicas: number): World => ({ autoscaler: first, replicas, depth: 0, writes: Infinity, told: [] })

const cut = ApiError.network({ verb: "update", path: "/" }, new Error("cut off"))

const writing = <A>(world: World, write: () => A): Effect.Effect<A, ApiError.ApiError> =>
  Effect.suspend(() => (world.writes-- > 0 ? Effect.sync(write) : Effect.fail(cut)))

const portsOf = (world: World): Effect.Effect<Deps> =>
  Effect.map(MetricsApi, (metrics): Deps => {
    const scale = () => ({
      metadata: { name: "web" },
      spec: { replicas: world.replicas },
      status: { replicas: world.replicas, selector: "app=web" }
    })
    const tell = (reason: string, message: string) => Effect.sync(() => void world.told.push(`${reason}: ${message}`))
    return {
      autoscalers: { ...Store.make<HorizontalPodAutoscaler>(), get: () => world.autoscaler },
      pods: Store.make<Pod>(),
      scales: {
        get: () => Effect.sync(scale),
        update: (_, wanted) =>
          writing(world, () => {
            world.replicas = wanted.spec?.replicas ?? 0
            return wanted
          })
      },
      metrics,
      live: () => Effect.sync(() => world.autoscaler),
      updateStatus: (next) => writing(world, () => (world.autoscaler = next)),
      events: {
        event: (_, __, reason, message) => tell(reason, message),
        normal: (_, reason, message) => tell(reason, message),
        warning: (_, reason, message) => tell(reason, message)
      }
    }
  }).pipe(Effect.provide(MetricsApi.layerMemory({ external: () => [{ value: String(world.depth) }] })))

/** A leadership term: it reconciles when the test says so. */
const term = (world: World, scalesToZero = true) =>
  Effect.map(portsOf(world), (deps) => {
    const look = Sync.sync(deps, { settings: { ...settings, scalesToZero }, histories: makeHistories() })
    return Effect.andThen(TestClock.adjust("15 seconds"), Effect.result(look("default/web")))
  })

const zero = (world: World): string | undefined =>
  world.autoscaler.status?.conditions?.flatMap(({ message, reason, status, type }) =>
    type === "ScaledToZero" ? [`${status} ${reason}: ${message}`] : []
  )[0]

const isZero = "True ScaledToZero: the HPA controller scaled the workload to zero"
const isNot = "False NotScaledToZero: the HPA controller did not scale the workload to zero"

describe("the last replica", () => {
  it.effect("is removed, and added when the metric requires it", () =>
    Effect.gen(function* () {
      const world = worldOf(2)
      const look = yield* term(world)
      yield* look
      assert.deepStrictEqual([world.replicas, zero(world)], [2, undefined])
      yield* look
      assert.deepStrictEqual([world.replicas, zero(world)], [0, isZero])
      yield* look
      assert.deepStrictEqual([world.replicas, zero(world)], [0, isZero])
      world.depth = 25
      yield* look
      assert.deepStrictEqual([world.replicas, zero(world)], [3, isNot])
      assert.deepStrictEqual(world.told, [
        "SuccessfulRescale: New size: 0; reason: All metrics below target",
        "SuccessfulRescale: New size: 3; reason: external metric depth(nil) above target"
      ])
    })
  )

  it.effect("that a user removed is not added, nor any while the gate is off", () =>
    Effect.gen(function* () {
      const world = worldOf(0)
      world.depth = 25
      yield* yield* term(world)
      assert.strictEqual(world.replicas, 0)
      const own = worldOf(1)
      const look = yield* term(own)
      yield* look
      yield* look
      assert.deepStrictEqual([own.replicas, zero(own)], [0, isZero])
      own.depth = 25
      yield* yield* term(own, false)
      assert.deepStrictEqual([own.replicas, zero(own)], [0, undefined])
    })
  )

  it.effect("is added up to the bounds, where they were raised meanwhile", () =>
    Effect.gen(function* () {
      const world = worldOf(1)
      const look = yield* term(world)
      yield* look
      yield* look
      const { autoscaler } = world
      if (autoscaler.spec !== undefined)
        world.autoscaler = { ...autoscaler, spec: { ...autoscaler.spec, minReplicas: 2 } }
      yield* look
      assert.deepStrictEqual([world.replicas, zero(world)], [2, isNot])
      assert.strictEqual(
        world.told.at(-1),
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
    const world = worldOf(1)
    const before = yield* term(world)
    yield* before
    world.writes = writes
    yield* before
    world.writes = Infinity
    const after = yield* term(world)
    yield* after
    yield* after
    world.depth = 25
    yield* after
    return world.replicas
  })

describe("a process that ends between any two writes", () => {
  for (const writes of [0, 1, 2]) {
    it.effect(`after ${writes} of them leaves nothing away for ever`, () =>
      Effect.map(survives(writes), (replicas) => assert.isAbove(replicas, 0))
    )
  }

  it.effect("records a refusal, and resets the condition ScaledToZero", () =>
    Effect.gen(function* () {
      const world = worldOf(1)
      const look = yield* term(world)
      yield* look
      world.writes = 1
      const answer = yield* look
      assert.isTrue(Result.isFailure(answer))
      world.writes = Infinity
      world.depth = 10
      yield* look
      assert.deepStrictEqual([world.replicas, zero(world)], [1, isNot])
    })
  )
})
