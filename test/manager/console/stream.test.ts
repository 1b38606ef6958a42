/** The stream of the console: what it sends at which pace, to readers that are fast, slow or asleep. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { Pod } from "../../../src/kube/resources.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Inspection from "../../../src/layers/Inspection.ts"
import { mostStreams } from "../../../src/manager/console/handler.ts"
import type * as Protocol from "../../../src/manager/console/protocol.ts"
import { pace } from "../../../src/manager/console/stream.ts"
import * as LoopMetrics from "../../../src/streams/reconcile/loopMetrics.ts"
import * as Cluster from "../../support/cluster.ts"
import { ask, make, program, reader } from "./asking.ts"

const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(Cluster.layer),
    Effect.provideService(Inspection.Inspection, Inspection.makeUnsafe()),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.scoped
  )

const stream = "/console/api/stream"
const worker = { name: "worker", reads: [Pod], needsLeader: false }

const create = (name: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default" },
      spec: { containers: [{ name: "a", image: "a" }] }
    })
  )

/** Waits for the next part while time passes. */
const next = <A, E>(pull: Effect.Effect<A, E>, time: number = pace.figures) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(pull)
    yield* Cluster.settle
    yield* TestClock.adjust(time)
    yield* Cluster.settle
    return yield* Fiber.join(fiber)
  })

const typesOf = (messages: ReadonlyArray<Protocol.Message>) => messages.map(({ type }) => type)

describe("the stream of the console", () => {
  it.effect("begins with the program, the figures and the whole cluster", () =>
    alone(
      Effect.gen(function* () {
        yield* create("a")
        const handle = yield* make({ controllers: [worker], disabled: ["other"], cluster: yield* Cache })
        const pull = yield* reader(yield* ask(handle, stream))
        yield* Cluster.settle
        const messages = yield* next(pull)
        assert.deepStrictEqual(typesOf(messages), ["hello", "controllers", "informers", "leadership", "cluster"])
        const [hello, controllers, , , cluster] = messages
        assert.deepStrictEqual(hello, { type: "hello", program })
        assert.deepInclude(controllers, { disabled: ["other"] })
        assert.isTrue(cluster?.type === "cluster" && cluster.pods.reset && cluster.nodes.reset)
      })
    )
  )

  it.effect("says nothing while nothing changes, and shows now and then that it is alive", () =>
    alone(
      Effect.gen(function* () {
        const pull = yield* reader(yield* ask(yield* make({ controllers: [worker] }), stream))
        yield* next(pull, 0)
        const waiting = yield* Effect.forkChild(pull)
        yield* TestClock.adjust(pace.silence - 2 * pace.look)
        assert.isUndefined(waiting.pollUnsafe())
        yield* TestClock.adjust(4 * pace.look)
        assert.deepStrictEqual(yield* Fiber.join(waiting), [])
      })
    )
  )

  it.effect("sends figures that have changed, at most once a second", () =>
    alone(
      Effect.gen(function* () {
        const pull = yield* reader(yield* ask(yield* make({ controllers: [worker] }), stream))
        yield* next(pull, 0)
        const queue = (yield* LoopMetrics.of("worker")).queue("worker")
        queue.ended(40)
        const waiting = yield* Effect.forkChild(pull)
        yield* TestClock.adjust(pace.figures)
        const [message, ...others] = yield* Fiber.join(waiting)
        assert.lengthOf(others, 0)
        assert.isTrue(message?.type === "controllers" && message.controllers[0]?.runs === 1)
        queue.ended(40)
        const again = yield* Effect.forkChild(pull)
        yield* TestClock.adjust(pace.figures - 2 * pace.look)
        assert.isUndefined(again.pollUnsafe())
        yield* TestClock.adjust(2 * pace.look)
        const [later] = yield* Fiber.join(again)
        assert.isTrue(later?.type === "controllers" && later.controllers[0]?.runs === 2)
      })
    )
  )

  it.effect("a page that does not read costs nothing, and gets only the last state when it reads again", () =>
    alone(
      Effect.gen(function* () {
        const inspection = yield* Inspection.Inspection
        let looks = 0
        yield* inspection.informers.show(Effect.sync(() => (looks++, [])))
        const handle = yield* make({ controllers: [worker], cluster: yield* Cache })
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(looks, 0)
        const pull = yield* reader(yield* ask(handle, stream))
        yield* Cluster.settle
        yield* next(pull)
        const before = looks
        const queue = (yield* LoopMetrics.of("worker")).queue("worker")
        for (let run = 0; run < 100; run++) {
          queue.ended(1)
          yield* TestClock.adjust("1 second")
        }
        for (const name of ["a", "b", "c"]) yield* create(name)
        yield* Cluster.settle
        yield* Effect.flatMap(KubeClient, (client) =>
          client.delete(Pod, { namespace: "default", name: "b" }, { gracePeriodSeconds: 0 })
        )
        yield* Cluster.settle
        assert.strictEqual(looks, before)
        const messages = yield* next(pull)
        assert.deepStrictEqual(typesOf(messages), ["controllers", "cluster"])
        const [controllers, cluster] = messages
        assert.isTrue(controllers?.type === "controllers" && controllers.controllers[0]?.runs === 100)
        assert.isTrue(cluster?.type === "cluster")
        if (cluster?.type !== "cluster") return
        assert.deepStrictEqual(
          cluster.pods.changed.map(({ key }) => key),
          ["default/a", "default/c"]
        )
        assert.deepStrictEqual(cluster.pods.removed, ["default/b"])
      })
    )
  )

  it.effect("several pages share one sample of the figures", () =>
    alone(
      Effect.gen(function* () {
        const inspection = yield* Inspection.Inspection
        let looks = 0
        const handle = yield* make({ controllers: [worker] })
        yield* inspection.informers.show(Effect.sync(() => (looks++, [])))
        yield* next(yield* reader(yield* ask(handle, stream)), 0)
        const once = looks
        for (let page = 0; page < 5; page++) yield* next(yield* reader(yield* ask(handle, stream)), 0)
        assert.strictEqual(looks, once)
      })
    )
  )

  it.effect("there are only so many at once; the place of one that is closed is free again", () =>
    alone(
      Effect.gen(function* () {
        const handle = yield* make()
        const open = Effect.gen(function* () {
          const scope = yield* Scope.make()
          const response = yield* ask(handle, stream)
          if (response.status === 200) yield* next(yield* Scope.provide(reader(response), scope), 0)
          return { scope, status: response.status }
        })
        const all = yield* Effect.forEach(Array.from({ length: mostStreams }), () => open)
        assert.strictEqual((yield* open).status, 429)
        yield* Scope.close(all[0]?.scope ?? (yield* Scope.make()), Exit.void)
        assert.strictEqual((yield* open).status, 200)
        assert.strictEqual((yield* open).status, 429)
        yield* Effect.forEach(all, ({ scope }) => Scope.close(scope, Exit.void))
      })
    )
  )

  it.effect("ends when the server closes, and after half an hour, so that the permission is checked again", () =>
    alone(
      Effect.gen(function* () {
        const closing = Deferred.makeUnsafe<void>()
        const handle = yield* make({ closing: Deferred.await(closing) })
        const old = yield* reader(yield* ask(handle, stream))
        yield* next(old)
        yield* TestClock.adjust(pace.life)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(next(old))))
        const pull = yield* reader(yield* ask(handle, stream))
        yield* next(pull)
        const waiting = yield* Effect.forkChild(Effect.exit(pull))
        yield* Cluster.settle
        yield* Deferred.succeed(closing, undefined)
        assert.isTrue(Exit.isFailure(yield* Fiber.join(waiting)))
      })
    )
  )
})
