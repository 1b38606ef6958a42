/** The garbage collector's readiness and its graph page. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import * as Health from "../../../src/layers/Health.ts"
import * as Inspection from "../../../src/layers/Inspection.ts"
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import * as LoopMetrics from "../../../src/streams/reconcile/loopMetrics.ts"
import { make, to } from "./objects.ts"

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
  return check === undefined ? "there is no such check" : ((yield* check.run) ?? "ok")
})

it.effect("is not ready when its workers have taken no key for long although the queue is not empty", () =>
  alone(
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      assert.strictEqual(yield* ready, "there is no such check")
      const running = yield* cluster.run(GarbageCollector.make({ concurrency: 1 }))
      yield* cluster.settle
      assert.strictEqual(yield* ready, "ok")
      // A run that hangs is interrupted after five minutes, so it takes a missing worker.
      const metrics = yield* LoopMetrics.of("garbagecollector")
      const stalled = (millis: number) => {
        const stats = { ready: 1, waiting: 0, processing: 0, failing: 0, adds: 0, retries: 0 }
        const view = { waited: () => millis, stalled: () => millis, levels: () => new Map(), stats: () => stats }
        return metrics.queue("another").attachQueue({ ...view, head: () => ({ next: [], delayed: [] }) })
      }
      const detach = stalled(600_000)
      assert.strictEqual(yield* ready, "ok")
      detach()
      stalled(600_001)
      assert.match(yield* ready, /^controller garbagecollector has taken no key for 600 s, although keys are ready/)
      yield* running.stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "gone" })))
      assert.strictEqual(yield* ready, "there is no such check")
    }).pipe(Effect.scoped)
  )
)

it.effect("serves its graph while it runs", () =>
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
