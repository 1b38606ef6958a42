import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { ConfigMap, Node, Pod } from "../../src/kube/resources.ts"
import { Cache } from "../../src/layers/Cache.ts"
import type { Delta } from "../../src/streams/store/Store.ts"
import { logged } from "../support/logged.ts"
import * as Fake from "./cache/fakeServer.ts"
import { passed, pod } from "./cache/fakeServer.ts"

const on = (nodeName: string, name: string): Pod => ({ ...pod(name), spec: { nodeName, containers: [] } })

const provide = (server: Fake.FakeServer, frozen = false) =>
  Effect.provide(
    Cache.layer({ streamingList: "never" }).pipe(
      Layer.provide(server.layer),
      Layer.provide(Layer.succeed(Cache.Frozen, frozen))
    )
  )

const line = (delta: Delta<KubeObject>): string => `${Fake.tagOf(delta)} ${delta.object.metadata.name}`

describe("Cache", () => {
  it.effect("a server without streaming lists gets one such request for all kinds each hour; it is logged once", () => {
    const server = new Fake.FakeServer()
    const kinds = [Pod, Node, ConfigMap].map((resource) => server.kind(resource))
    for (const kind of kinds) kind.streamingFailure = Fake.progressUnsupported(kind.resource)
    const streams = () => kinds.map((kind) => kind.streams)
    const { lines, logger } = logged()
    return Effect.gen(function* () {
      const cache = yield* Cache
      for (const resource of [Pod, Node, ConfigMap]) {
        const informer = yield* cache.subscribe<KubeObject>(resource)
        yield* informer.synced
      }
      assert.deepStrictEqual(streams(), [1, 0, 0])
      const warnings = lines(/cannot stream lists/)
      assert.strictEqual(warnings.length, 1)
      const relist = Effect.gen(function* () {
        server.version++
        for (const kind of kinds) kind.expire()
        yield* TestClock.adjust("30 seconds")
      })
      yield* TestClock.adjust("59 minutes")
      yield* relist
      assert.deepStrictEqual(
        kinds.map(({ lists, streams }) => [lists, streams]),
        [
          [2, 1],
          [2, 0],
          [2, 0]
        ]
      )
      yield* TestClock.adjust("1 minute")
      yield* relist
      assert.deepStrictEqual(
        kinds.map(({ lists }) => lists),
        [3, 3, 3]
      )
      assert.strictEqual(
        streams().reduce((sum, count) => sum + count),
        2
      )
      assert.deepStrictEqual(lines(/cannot stream lists/), warnings)
    }).pipe(Effect.scoped, Effect.provide(Cache.layer().pipe(Layer.provide(server.layer), Layer.provideMerge(logger))))
  })

  it.effect(
    "one informer serves all subscribers, and stops when the last one has ended and the idle time is over",
    () => {
      const { pods, server } = Fake.serverWithPod()
      return Effect.gen(function* () {
        const cache = yield* Cache
        const use = Effect.scoped(
          Effect.gen(function* () {
            const one = yield* cache.subscribe(Pod)
            const two = yield* cache.subscribe(Pod, { selection: { namespace: "" } })
            yield* one.synced
            yield* two.synced
            yield* passed(Pod, pods.put(pod("a")))
            assert.strictEqual((yield* one.status)[0]?.subscribers, 2)
            assert.strictEqual((yield* cache.get(Pod, "default/a"))?.metadata.uid, "uid-a")
          })
        )
        yield* use
        assert.deepStrictEqual([pods.lists, pods.watches, pods.connections.size], [1, 1, 1])
        yield* TestClock.adjust("29 seconds")
        yield* use
        assert.deepStrictEqual([pods.lists, pods.watches, pods.connections.size], [1, 1, 1])
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual(pods.connections.size, 0)
        assert.deepStrictEqual(yield* cache.status, [])
        yield* use
        assert.deepStrictEqual([pods.lists, pods.watches, pods.connections.size], [2, 2, 1])
      }).pipe(provide(server))
    }
  )

  it.effect("each selection and projection has an informer of its own", () => {
    const server = new Fake.FakeServer()
    server.kind(Pod).put(pod("a"))
    server.kind(Pod).put(pod("b", { namespace: "other" }))
    return Effect.gen(function* () {
      const cache = yield* Cache
      yield* cache.subscribe(Pod)
      yield* cache.subscribe(Pod, { selection: { namespace: "other" } })
      yield* cache.subscribe(Resource.metadataOnly(Pod))
      yield* cache.subscribe(Node, { selection: { namespace: "ignored" } })
      assert.strictEqual((yield* cache.list(Pod)).length, 2)
      const other = yield* cache.list(Pod, { selection: { namespace: "other" } })
      assert.deepStrictEqual(
        other.map((object) => object.metadata.name),
        ["b"]
      )
      assert.strictEqual((yield* cache.list(Resource.metadataOnly(Pod), { namespace: "default" })).length, 1)
      yield* cache.synced(Node)
      assert.strictEqual((yield* cache.status).length, 4)
    }).pipe(provide(server))
  })

  it.effect("a read without a subscription fails with what to declare, and sends no request", () => {
    const server = new Fake.FakeServer()
    return Effect.gen(function* () {
      const cache = yield* Cache
      const error = yield* Effect.flip(cache.get(Pod, "default/a"))
      assert.strictEqual(error._tag, "NotCached")
      assert.strictEqual(error.message, "pods are not cached: declare read(Pod) in the controller's access")
      assert.include(
        (yield* Effect.flip(cache.list(Pod, { selection: { namespace: "x", labelSelector: "a=b" } }))).message,
        'pods in namespace "x" with labels "a=b" are not cached'
      )
      for (const refused of [
        cache.list(Pod),
        cache.byIndex(Pod, "namespace", "default"),
        cache.synced(Pod),
        cache.onVersion(Pod, "default/a", "1", () => assert.fail("called"), "1 second")
      ]) {
        assert.strictEqual((yield* Effect.flip(refused))._tag, "NotCached")
      }
      assert.strictEqual(server.requests, 0)
      yield* Effect.scoped(cache.subscribe(Pod))
      assert.strictEqual((yield* Effect.flip(cache.list(Pod)))._tag, "NotCached")
    }).pipe(provide(server))
  })

  it.effect("a read waits for the first sync, and fails with NotCached when the informer stops before", () => {
    const server = new Fake.FakeServer()
    const pods = server.kind(Pod)
    const answer = Latch.makeUnsafe()
    pods.beforeList = answer.await
    pods.put(pod("a"))
    return Effect.gen(function* () {
      const cache = yield* Cache
      const scope = yield* Scope.make()
      yield* Scope.provide(cache.subscribe(Pod), scope)
      const left = yield* Effect.forkChild(Effect.flip(cache.list(Pod)), { startImmediately: true })
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(left))._tag, "NotCached")
      yield* cache.subscribe(Pod)
      const waiting = yield* Effect.forkChild(cache.list(Pod), { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      yield* answer.open
      assert.strictEqual((yield* Fiber.join(waiting)).length, 1)
    }).pipe(provide(server))
  })

  it.effect("an index may be added after the sync; a read by an undeclared index fails with its name", () => {
    const server = new Fake.FakeServer()
    const pods = server.kind(Pod)
    pods.put(on("n1", "a"))
    const byNode = {
      name: "node",
      of: (object: Pod) => (object.spec?.nodeName === undefined ? [] : [object.spec.nodeName])
    }
    return Effect.gen(function* () {
      const cache = yield* Cache
      yield* cache.subscribe(Pod)
      yield* cache.synced(Pod)
      const error = yield* Effect.flip(cache.byIndex(Pod, "node", "n1"))
      assert.include(error.message, 'pods have no index "node"')
      yield* cache.subscribe(Pod, { indexes: [byNode] })
      const names = Effect.map(cache.byIndex(Pod, "node", "n1"), (found) => found.map((object) => object.metadata.name))
      assert.deepStrictEqual(yield* names, ["a"])
      const version = pods.put(on("n1", "b"))
      assert.isTrue(yield* passed(Pod, version))
      assert.deepStrictEqual(yield* names, ["a", "b"])
    }).pipe(provide(server))
  })

  it.effect("a list selects objects by namespace and labels", () => {
    const server = new Fake.FakeServer()
    for (const [name, namespace, app] of [
      ["a", "default", "web"],
      ["b", "default", "db"],
      ["c", "other", "web"]
    ] as const) {
      server.kind(Pod).put(pod(name, { namespace, labels: { app } }))
    }
    return Effect.gen(function* () {
      const cache = yield* Cache
      yield* cache.subscribe(Pod)
      const labels = [{ key: "app", operator: "In", values: ["web"] }] as const
      const names = (found: ReadonlyArray<Pod>) => found.map((object) => object.metadata.name)
      assert.deepStrictEqual(names(yield* cache.list(Pod, { labels })), ["a", "c"])
      assert.deepStrictEqual(names(yield* cache.list(Pod, { labels, namespace: "default" })), ["a"])
      assert.deepStrictEqual(names(yield* cache.list(Pod, { namespace: "default" })), ["a", "b"])
    }).pipe(provide(server))
  })

  it.effect("changes yields the present objects, then the live deltas, and a later subscriber causes no list", () => {
    const { pods, server } = Fake.serverWithPod()
    return Effect.gen(function* () {
      const cache = yield* Cache
      const seen = yield* Queue.unbounded<string>()
      const follow = (name: string) =>
        Effect.forkScoped(
          Stream.runForEachArray(cache.changes(Pod), (deltas) =>
            Queue.offerAll(
              seen,
              deltas.map((delta) => `${name} ${line(delta)}`)
            )
          )
        )
      yield* follow("early")
      assert.strictEqual(yield* Queue.take(seen), "early Created* a")
      pods.put(pod("b"))
      assert.strictEqual(yield* Queue.take(seen), "early Created b")
      yield* follow("late")
      assert.deepStrictEqual(yield* Queue.takeN(seen, 2), ["late Created* a", "late Created* b"])
      pods.remove("default/a")
      const both = yield* Queue.takeN(seen, 2)
      assert.deepStrictEqual([...both].sort(), ["early Deleted a", "late Deleted a"])
      yield* cache.settled
      assert.deepStrictEqual([yield* cache.outstanding, pods.lists], [0, 1])
      assert.strictEqual(yield* Stream.runCount(Stream.take(cache.changes(Pod), 1)), 1)
      assert.deepStrictEqual(
        (yield* cache.status).map((status) => status.subscribers),
        [2]
      )
    }).pipe(provide(server))
  })

  it.effect("a slow subscriber blocks no other, and its buffer merges deltas by key", () => {
    const { pods, server } = Fake.serverWithPod()
    return Effect.gen(function* () {
      const cache = yield* Cache
      const started = Latch.makeUnsafe()
      const go = Latch.makeUnsafe()
      const seen: Array<string> = []
      yield* Stream.runForEachArray(cache.changes(Pod), (deltas) => {
        for (const delta of deltas) seen.push(line(delta))
        return Effect.andThen(started.open, go.await)
      }).pipe(Effect.forkScoped)
      yield* started.await
      for (let i = 0; i < 1000; i++) {
        pods.put(pod("a", { labels: { i: String(i) } }))
        pods.put(pod("b", { labels: { i: String(i) } }))
      }
      pods.put(pod("c"))
      const version = pods.remove("default/c")
      assert.isTrue(yield* passed(Pod, version))
      assert.strictEqual((yield* cache.get(Pod, "default/b"))?.metadata.labels?.["i"], "999")
      assert.strictEqual(yield* cache.outstanding, 3)
      yield* go.open
      yield* cache.settled
      assert.deepStrictEqual(seen, ["Created* a", "Updated a", "Created b"])
    }).pipe(provide(server))
  })

  it.effect("by `synced` every listener was called; a listener that throws is reported and affects no other", () => {
    const { pods, server } = Fake.serverWithPod()
    return Effect.gen(function* () {
      const cache = yield* Cache
      const seen: Array<string> = []
      yield* cache.onDeltas(Pod, undefined, () => {
        throw new Error("listener")
      })
      yield* cache.onDeltas(Pod, undefined, (deltas) => void seen.push(...deltas.map(line)))
      assert.deepStrictEqual(seen, [])
      yield* cache.synced(Pod)
      assert.deepStrictEqual(seen, ["Created* a"])
      yield* Effect.scoped(cache.onDeltas(Pod, {}, (deltas) => void seen.push(...deltas.map((d) => `late ${line(d)}`))))
      assert.deepStrictEqual(seen, ["Created* a", "late Created* a"])
      assert.isTrue(yield* passed(Pod, pods.put(pod("b"))))
      assert.deepStrictEqual(seen, ["Created* a", "late Created* a", "Created b"])
      const [status] = yield* cache.status
      assert.strictEqual(status?.listenerErrors, 2)
      assert.include(String(status?.lastListenerError), "listener")
    }).pipe(provide(server))
  })

  it.effect("objects are trimmed, have their kind and, if so configured, are frozen", () => {
    const server = new Fake.FakeServer()
    const { apiVersion: _, kind: __, ...nameless } = pod("a", { managedFields: [{ manager: "m" }], labels: { a: "b" } })
    server.kind(Pod).put(nameless)
    return Effect.gen(function* () {
      const cache = yield* Cache
      yield* cache.subscribe(Pod)
      const object = yield* cache.get(Pod, "default/a")
      assert.deepStrictEqual([object?.apiVersion, object?.kind], ["v1", "Pod"])
      assert.isUndefined(object?.metadata.managedFields)
      assert.isTrue(Object.isFrozen(object) && Object.isFrozen(object?.metadata.labels))
    }).pipe(provide(server, true))
  })

  it.effect("the status of an informer has a failure with verb and resource, and its recovery", () => {
    const server = new Fake.FakeServer()
    const pods = server.kind(Pod)
    pods.failure = Fake.forbidden(Pod)
    return Effect.gen(function* () {
      const cache = yield* Cache
      yield* cache.subscribe(Pod)
      yield* TestClock.adjust("5 seconds")
      const [failing] = yield* cache.status
      assert.isFalse(failing?.synced)
      assert.isAtLeast(failing?.attempts ?? 0, 2)
      assert.deepInclude(failing?.lastError, { verb: "list", reason: "Forbidden", status: 403 })
      assert.include(failing?.lastError?.message ?? "", "list pods: pods is forbidden")
      pods.failure = undefined
      pods.put(pod("a"))
      yield* TestClock.adjust("1 minute")
      const [working] = yield* cache.status
      assert.deepInclude(working, { synced: true, attempts: 0, objects: 1, resourceVersion: "101", subscribers: 1 })
      assert.deepInclude(working?.lastError, { reason: "Forbidden" })
    }).pipe(provide(server))
  })

  it.effect("a defect in an informer is counted and restarts it; subscribers receive the deltas of a relist", () => {
    const { pods, server } = Fake.serverWithPod()
    return Effect.gen(function* () {
      const cache = yield* Cache
      const seen: Array<string> = []
      yield* cache.onDeltas(Pod, undefined, (deltas) => void seen.push(...deltas.map(line)))
      yield* cache.synced(Pod)
      assert.isTrue(yield* passed(Pod, pods.put(pod("z"))))
      for (const { queue } of pods.connections) Queue.failCauseUnsafe(queue, Cause.die(new Error("bug")))
      pods.connections.clear()
      pods.put(pod("b"))
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(yield* passed(Pod, pods.put(pod("c"))))
      assert.deepStrictEqual(seen, ["Created* a", "Created z", "Created b", "Created c"])
      const [status] = yield* cache.status
      assert.deepInclude(status, { defects: 1, attempts: 0, objects: 4 })
      assert.deepInclude(status?.lastError, { reason: "Defect" })
      for (const { queue } of pods.connections) Queue.failCauseUnsafe(queue, Cause.interrupt())
      pods.connections.clear()
      yield* TestClock.adjust("4 seconds")
      assert.isTrue(yield* passed(Pod, pods.put(pod("d"))))
      assert.strictEqual((yield* cache.status)[0]?.defects, 2)
    }).pipe(provide(server))
  })

  it.effect("a subscription to pods does not list config maps", () => {
    const server = new Fake.FakeServer()
    return Effect.gen(function* () {
      const cache = yield* Cache
      yield* cache.subscribe(Pod)
      yield* cache.synced(Pod)
      assert.strictEqual((yield* Effect.flip(cache.list(ConfigMap))).resource, "configmaps")
      assert.strictEqual(server.kind(ConfigMap).lists, 0)
    }).pipe(provide(server))
  })
})
