/** A cache of some namespaces, resyncs, and waits for own writes. */
import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { KubeObject } from "../../src/kube/Meta.ts"
import { ConfigMap, Namespace, Node, Pod } from "../../src/kube/resources.ts"
import { Cache, type Options } from "../../src/layers/Cache.ts"
import { delay } from "../../src/layers/cache/informer/resync.ts"
import type { Delta } from "../../src/streams/store/Store.ts"
import { checkProperty, int } from "../support/property.ts"
import * as Fake from "./cache/fakeServer.ts"

const object = (namespace: string, name: string): KubeObject => ({
  metadata: { ...(namespace === "" ? {} : { namespace }), name, uid: `uid-${namespace}-${name}` }
})

const provide = (server: Fake.FakeServer, options: Options) =>
  Effect.provide(Layer.provide(Cache.layer({ streamingList: "never", ...options }), server.layer))

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`

const line = (delta: Delta<KubeObject>): string => `${Fake.tagOf(delta)} ${keyOf(delta.object)}`

const turns = Effect.repeat(TestClock.adjust("1 millis"), { times: 5 })

const keys = (objects: ReadonlyArray<KubeObject>) => objects.map(keyOf).sort()

/** The namespaces in which pods were listed; the empty text is all namespaces. */
const listedNamespaces = (server: Fake.FakeServer) =>
  Array.from(server.kind(Pod).requestedNamespaces, (namespace) => namespace ?? "").sort()

/** Waits for a version of the pod `a/x` that no event has. Returns how to read the result of the wait, which is undefined until it ends. */
const waitForPod = Effect.fnUntraced(function* (limit: Duration.Input) {
  const cache = yield* Cache
  yield* cache.subscribe(Pod)
  yield* cache.synced(Pod)
  let answer: boolean | undefined
  yield* cache.onVersion(Pod, "a/x", "999999", (reached) => void (answer = reached), limit)
  return () => answer
})

describe("a cache of a list of namespaces", () => {
  it.effect("shows the namespaces of the list as one store; one that does not exist is empty", () => {
    const server = new Fake.FakeServer()
    for (const namespace of ["a", "b", "c"]) server.kind(Pod).put(object(namespace, "x"))
    server.kind(Node).put(object("", "n"))
    return Effect.gen(function* () {
      const cache = yield* Cache
      const received: Array<string> = []
      const informer = yield* cache.subscribe(Pod, {
        indexes: [{ name: "name", of: ({ metadata }) => [metadata.name] }]
      })
      yield* informer.onDeltas((deltas) => void received.push(...deltas.map(line)))
      yield* cache.subscribe(Node)
      yield* cache.synced(Pod)
      assert.deepStrictEqual(keys(yield* cache.list(Pod)), ["a/x", "b/x"])
      assert.deepStrictEqual(keys(yield* cache.list(Pod, { namespace: "b" })), ["b/x"])
      assert.deepStrictEqual(keys(yield* cache.list(Pod, { namespace: "c" })), [])
      assert.deepStrictEqual(keys(yield* cache.byIndex(Pod, "name", "x")), ["a/x", "b/x"])
      assert.isUndefined(yield* cache.get(Pod, "c/x"))
      assert.deepStrictEqual(keys(yield* cache.list(Node)), ["/n"])
      assert.deepStrictEqual(received, ["Created* a/x", "Created* b/x"])
      server.kind(Pod).put(object("b", "y"))
      server.kind(Pod).put(object("c", "y"))
      server.kind(Pod).remove("a/x")
      yield* turns
      assert.sameMembers(received.slice(2), ["Created b/y", "Deleted a/x"])
      assert.deepStrictEqual(listedNamespaces(server), ["a", "absent", "b"])
      assert.deepStrictEqual([...server.kind(Node).requestedNamespaces], [undefined])
      const status = (yield* cache.status).filter(({ resource }) => resource === "pods")
      assert.deepStrictEqual(
        status.map(({ objects, selection, synced }) => [selection.namespace, objects, synced]),
        [
          ["a", 0, true],
          ["b", 2, true],
          ["absent", 0, true]
        ]
      )
    }).pipe(provide(server, { namespaces: ["a", "b", "absent"] }))
  })

  it.effect("a subscription that names a namespace gets that namespace, and an empty list means all namespaces", () => {
    const server = new Fake.FakeServer()
    for (const namespace of ["a", "b"]) server.kind(Pod).put(object(namespace, "x"))
    return Effect.gen(function* () {
      const cache = yield* Cache
      const selection = { namespace: "b" }
      yield* cache.subscribe(Pod, { selection })
      assert.deepStrictEqual(keys(yield* cache.list(Pod, { selection })), ["b/x"])
    }).pipe(
      provide(server, { namespaces: ["a"] }),
      Effect.andThen(
        Effect.gen(function* () {
          const cache = yield* Cache
          yield* cache.subscribe(Pod)
          assert.deepStrictEqual(keys(yield* cache.list(Pod)), ["a/x", "b/x"])
        }).pipe(provide(server, { namespaces: [] }))
      ),
      Effect.tap(() =>
        Effect.sync(() => assert.deepStrictEqual([...server.kind(Pod).requestedNamespaces], ["b", undefined]))
      )
    )
  })

  it.effect("a kind syncs when each of its namespaces has been read, and the status shows which is missing", () => {
    const server = new Fake.FakeServer()
    const pods = server.kind(Pod)
    pods.put(object("a", "x"))
    pods.failure = Fake.unreachable(Pod)
    return Effect.gen(function* () {
      const cache = yield* Cache
      const informer = yield* cache.subscribe(Pod)
      yield* turns
      assert.isFalse(informer.store.synced)
      const status = yield* cache.status
      assert.deepStrictEqual(
        status.map(({ lastError, selection, synced }) => [selection.namespace, synced, lastError?.reason]),
        [
          ["a", false, "Network"],
          ["b", false, "Network"]
        ]
      )
      pods.failure = undefined
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(keys(yield* cache.list(Pod)), ["a/x"])
    }).pipe(provide(server, { namespaces: ["a", "b"] }))
  })

  it.effect("the wait for a write ends with an event of its namespace, or at once if that is not watched", () => {
    const server = new Fake.FakeServer()
    const pods = server.kind(Pod)
    return Effect.gen(function* () {
      const cache = yield* Cache
      yield* cache.subscribe(Pod)
      yield* cache.synced(Pod)
      yield* turns
      const answers: Array<string> = []
      const ask = (key: string, version: string) =>
        cache.onVersion(Pod, key, version, (reached) => void answers.push(`${key} ${reached}`), "5 seconds")
      const next = String(server.version + 2)
      yield* ask("a/x", next)
      yield* ask("b/x", next)
      yield* ask("elsewhere/x", next)
      assert.deepStrictEqual(answers, ["elsewhere/x true"])
      pods.put(object("a", "other"))
      pods.put(object("a", "another"))
      yield* turns
      assert.deepStrictEqual(answers.slice(1), ["a/x true"])
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(answers.slice(2), ["b/x false"])
    }).pipe(provide(server, { namespaces: ["a", "b"] }))
  })
})

describe("a cache of namespaces with labels", () => {
  it.effect("a selected namespace arrives as created; a deselected one arrives as deleted and is not watched", () => {
    const server = new Fake.FakeServer()
    const [namespaces, pods] = [server.kind(Namespace), server.kind(Pod)]
    for (const name of ["a", "b"]) pods.put(object(name, "x"))
    namespaces.put(object("", "a"))
    return Effect.gen(function* () {
      const cache = yield* Cache
      const received: Array<string> = []
      yield* cache.onDeltas(Pod, undefined, (deltas) => void received.push(...deltas.map(line)))
      yield* cache.subscribe(ConfigMap)
      yield* cache.synced(Pod)
      const watched = () => Array.from(pods.connections, ({ namespace }) => namespace ?? "").sort()
      namespaces.put(object("", "b"))
      yield* turns
      assert.deepStrictEqual(
        [received, watched()],
        [
          ["Created* a/x", "Created* b/x"],
          ["a", "b"]
        ]
      )
      namespaces.remove("a")
      yield* turns
      assert.deepStrictEqual([received.slice(2), watched()], [["Deleted? a/x"], ["b"]])
      assert.deepStrictEqual(keys(yield* cache.list(Pod)), ["b/x"])
      pods.put(object("a", "y"))
      yield* turns
      assert.deepStrictEqual(received.slice(3), [])
      assert.deepStrictEqual(listedNamespaces(server), ["a", "b"])
    }).pipe(provide(server, { namespaces: { labels: [{ key: "team", operator: "In", values: ["x"] }] } }))
  })

  it.effect("a wait for a write ends when its namespace is no longer selected", () => {
    const server = new Fake.FakeServer()
    server.kind(Namespace).put(object("", "a"))
    return Effect.gen(function* () {
      const answer = yield* waitForPod("5 minutes")
      yield* turns
      assert.isUndefined(answer())
      server.kind(Namespace).remove("a")
      yield* turns
      assert.isTrue(answer())
    }).pipe(provide(server, { namespaces: { labels: [] } }))
  })

  it.effect("a kind without a namespace to watch is synced and empty", () => {
    const server = new Fake.FakeServer()
    server.kind(Pod).put(object("a", "x"))
    return Effect.gen(function* () {
      const cache = yield* Cache
      yield* cache.subscribe(Pod)
      assert.deepStrictEqual(yield* cache.list(Pod), [])
      const [, pods] = yield* cache.status
      assert.deepInclude(pods, { resource: "pods", synced: true, objects: 0 })
      assert.deepStrictEqual(server.kind(Pod).requestedNamespaces.size, 0)
    }).pipe(provide(server, { namespaces: { labels: [] } }))
  })
})

describe("a resync", () => {
  it.effect("distributes every object as an update that changes nothing, without a request", () => {
    const server = new Fake.FakeServer()
    const pods = server.kind(Pod)
    for (let i = 0; i < 1200; i++) pods.put(object("a", `p${i}`))
    return Effect.gen(function* () {
      const cache = yield* Cache
      const received = new Map<string, number>()
      let others = 0
      yield* cache.onDeltas(Pod, undefined, (deltas) => {
        for (const delta of deltas) {
          if (delta._tag !== "Updated" || delta.previous !== delta.object) others++
          else received.set(delta.object.metadata.name, (received.get(delta.object.metadata.name) ?? 0) + 1)
        }
      })
      yield* cache.synced(Pod)
      yield* turns
      const [requests, before] = [server.requests, others]
      yield* TestClock.adjust("8 minutes")
      assert.strictEqual(received.size, 0)
      pods.remove("a/p7")
      yield* TestClock.adjust("3 minutes")
      yield* turns
      assert.deepStrictEqual([received.size, received.has("p7"), new Set(received.values()).size], [1199, false, 1])
      yield* TestClock.adjust("11 minutes")
      yield* turns
      assert.deepStrictEqual([...new Set(received.values())], [2])
      assert.deepStrictEqual([server.requests, others], [requests, before + 1])
    }).pipe(
      provide(server, { resync: { period: "10 minutes", spread: "around" }, idleTimeout: "1 hour", pageSize: 5000 })
    )
  })

  it.effect("ends with its informer", () => {
    const server = new Fake.FakeServer()
    server.kind(Pod).put(object("a", "x"))
    return Effect.gen(function* () {
      const cache = yield* Cache
      const scope = yield* Scope.make()
      let received = 0
      yield* Scope.provide(
        cache.onDeltas(Pod, undefined, () => void received++),
        scope
      )
      yield* cache.synced(Pod)
      yield* TestClock.adjust("25 seconds")
      const before = received
      assert.isAbove(before, 1)
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(received, before)
    }).pipe(provide(server, { resync: { period: "10 seconds", spread: "atLeast" } }))
  })
})

describe("the delay of a resync", () => {
  checkProperty("the spread `around` differs from the period by at most a tenth", int(0, 999_999), (draw) => {
    const millis = delay({ period: "10 hours", spread: "around" }, draw / 1_000_000)
    return millis >= 9 * 3_600_000 && millis < 11 * 3_600_000
  })

  checkProperty("the spread `atLeast` is between one and two periods", int(0, 999_999), (draw) => {
    const millis = delay({ period: "12 hours", spread: "atLeast" }, draw / 1_000_000)
    return millis >= 12 * 3_600_000 && millis < 24 * 3_600_000
  })

  checkProperty("different random numbers give different delays", int(1, 999_999), (draw) =>
    (["around", "atLeast"] as const).every(
      (spread) => delay({ period: "1 hour", spread }, 0) < delay({ period: "1 hour", spread }, draw / 1_000_000)
    )
  )
})

describe("without read-your-writes", () => {
  it.effect("a wait for a version ends at once", () => {
    const server = new Fake.FakeServer()
    return Effect.gen(function* () {
      const answer = yield* waitForPod("5 seconds")
      assert.isTrue(answer())
    }).pipe(provide(server, { readYourWrites: false }))
  })
})
