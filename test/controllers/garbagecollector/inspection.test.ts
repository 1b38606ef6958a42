/** The garbage collector's readiness and its graph page. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import * as Health from "../../../src/layers/Health.ts"
import * as Inspection from "../../../src/layers/Inspection.ts"
import { leaderLost } from "../../support/cluster.ts"
import * as LoopMetrics from "../../../src/streams/reconcile/loopMetrics.ts"
import { make, to } from "./harness.ts"

const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(ClusterTest.layer()),
    Effect.provideService(Health.Health, Health.makeUnsafe()),
    Effect.provideService(Inspection.Inspection, Inspection.makeUnsafe()),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

const ready = Effect.gen(function* () {
  const checks = yield* (yield* Health.Health).checks("readiness")
  const check = checks.find(({ name }) => name === "workers-garbagecollector")
  return check === undefined ? "no check" : ((yield* check.run) ?? "ok")
})

it.effect(
  "the garbage collector is not ready when its workers take no key for ten minutes although keys are ready",
  () =>
    alone(
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        assert.strictEqual(yield* ready, "no check")
        const running = yield* cluster.run(GarbageCollector.make({ concurrency: 1 }))
        yield* cluster.settle
        assert.strictEqual(yield* ready, "ok")
        // A queue without workers is attached, because a hanging run would be interrupted after five minutes.
        const metrics = yield* LoopMetrics.of("garbagecollector")
        const stalled = (millis: number) => {
          const stats = { ready: 1, waiting: 0, processing: 0, failing: 0, adds: 0, retries: 0 }
          const view = { waited: () => millis, stalled: () => millis, levels: () => new Map(), stats: () => stats }
          return metrics
            .queue("another")
            .attachQueue({ ...view, head: () => ({ next: [], delayed: [] }), dueOf: () => undefined })
        }
        const detach = stalled(600_000)
        assert.strictEqual(yield* ready, "ok")
        detach()
        stalled(600_001)
        assert.match(yield* ready, /^controller garbagecollector has taken no key for 600 s, although keys are ready/)
        yield* running.stop(leaderLost)
        assert.strictEqual(yield* ready, "no check")
      }).pipe(Effect.scoped)
    )
)

it.effect("the garbage collector serves its graph while it runs", () =>
  alone(
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const pages = Effect.flatMap(Inspection.Inspection, (inspection) => inspection.pages.all)
      const collector = GarbageCollector.make()
      const running = yield* cluster.run(collector)
      const owner = yield* make("owner")
      const dependent = yield* make("dependent", { owners: [to(owner)] })
      yield* make("other")
      yield* cluster.settle
      const [page] = yield* pages
      assert.deepInclude(page, { controller: "garbagecollector", name: "graph" })
      assert.property(collector.debug, "graph")
      const read = (query = "") => page?.read(new URLSearchParams(query)) ?? Effect.succeed("")
      assert.include(yield* read(), `"${dependent.metadata.uid}" -> "${owner.metadata.uid}";`)
      assert.include(yield* read(), "ConfigMap default/other")
      const some = yield* read(`uid=${owner.metadata.uid}`)
      assert.include(some, "ConfigMap default/dependent")
      assert.notInclude(some, "default/other")
      yield* running.stop()
      assert.deepStrictEqual(yield* pages, [])
    }).pipe(Effect.scoped)
  )
)
