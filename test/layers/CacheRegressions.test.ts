/**
 * The cases of the regression list (failures of comparable projects) that concern a cache, each in virtual time.
 */
import { assert, describe, it } from "@effect/vitest"
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
import { ConfigMap, Pod, ReplicaSet } from "../../src/kube/resources.ts"
import { Cache } from "../../src/layers/Cache.ts"
import type { Delta } from "../../src/streams/store/Store.ts"
import * as KeyedQueue from "../../src/streams/queue/KeyedQueue.ts"
import * as Trigger from "../../src/streams/store/trigger.ts"
import { runs } from "../support/runs.ts"
import { takeAll } from "../streams/queue/observed.ts"
import * as Fake from "./cache/fakeServer.ts"
import { passed, pod } from "./cache/fakeServer.ts"

const layer = (server: Fake.FakeServer, pageSize?: number) =>
  Cache.layer({ streamingList: "never", pageSize }).pipe(Layer.provide(server.layer))

const describeDelta = (delta: Delta<KubeObject>): string => `${delta._tag} ${delta.object.metadata.uid}`

describe("regressions", () => {
  it.effect("case 4: a 410 causes one atomic relist, and the owners of deleted objects are queued", () => {
    const server = new Fake.FakeServer()
    const pods = server.kind(Pod)
    const owned = (name: string, owner: string) =>
      pod(name, {
        ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: owner, controller: true }]
      })
    for (const name of ["a", "b", "c"]) pods.put(owned(name, `rs-${name}`))
    return Effect.gen(function* () {
      const cache = yield* Cache
      const queue = yield* KeyedQueue.make()
      const trigger = Trigger.owner(ReplicaSet)
      const sizes: Array<number> = []
      const informer = yield* cache.subscribe(Pod)
      yield* informer.onDeltas((deltas) => {
        sizes.push(informer.store.size)
        for (const delta of deltas) queue.addAllUnsafe(trigger(delta))
      })
      yield* informer.synced
      assert.isTrue(yield* passed(Pod, pods.put(owned("c", "rs-c"))))
      assert.deepStrictEqual(takeAll(queue).sort(), ["default/rs-a", "default/rs-b", "default/rs-c"])
      pods.remove("default/a")
      pods.remove("default/b")
      pods.put(owned("d", "rs-d"))
      const lists = pods.lists
      pods.expire()
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(pods.lists, lists + 1)
      assert.deepStrictEqual(sizes, [3, 3, 2])
      assert.deepStrictEqual(takeAll(queue).sort(), ["default/rs-a", "default/rs-b", "default/rs-d"])
    }).pipe(Effect.provide(layer(server)))
  })

  it.effect("case 7: a deletion and a recreation while no watch is open arrive as two deltas with their uids", () => {
    const { pods, server } = Fake.serverWithPod()
    return Effect.gen(function* () {
      const cache = yield* Cache
      const seen = yield* Queue.unbounded<string>()
      const go = Latch.makeUnsafe(true)
      yield* Stream.runForEachArray(cache.changes(Pod), (deltas) =>
        Effect.andThen(Queue.offerAll(seen, deltas.map(describeDelta)), go.await)
      ).pipe(Effect.forkScoped)
      assert.strictEqual(yield* Queue.take(seen), "Created uid-a")
      assert.isTrue(yield* passed(Pod, pods.put(pod("a", { labels: { at: "1" } }))))
      assert.strictEqual(yield* Queue.take(seen), "Updated uid-a")
      pods.remove("default/a")
      pods.put(pod("a", { uid: "second" }))
      pods.expire()
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* Queue.takeAll(seen), ["Deleted uid-a", "Created second"])
      // The same for a subscriber that is busy meanwhile.
      yield* go.close
      assert.isTrue(yield* passed(Pod, pods.put(pod("a", { uid: "second", labels: { at: "2" } }))))
      assert.strictEqual(yield* Queue.take(seen), "Updated second")
      pods.put(pod("a", { uid: "second", labels: { at: "3" } }))
      pods.remove("default/a")
      pods.put(pod("a", { uid: "third" }))
      assert.isTrue(yield* passed(Pod, pods.put(pod("a", { uid: "third", labels: { at: "4" } }))))
      yield* go.open
      yield* cache.settled
      assert.deepStrictEqual(yield* Queue.takeAll(seen), ["Deleted second", "Created third"])
    }).pipe(Effect.provide(layer(server)))
  })

  for (const { arrange, when } of [
    { when: "a list", arrange: (pods: Fake.FakeKind) => void (pods.beforeList = Effect.never) },
    {
      when: "a later page",
      arrange: (pods: Fake.FakeKind) =>
        void (pods.beforeList = Effect.suspend(() => (pods.lists > 1 ? Effect.never : Effect.void)))
    },
    { when: "backoff", arrange: (pods: Fake.FakeKind) => void (pods.failure = Fake.unreachable(Pod)) },
    { when: "a watch", arrange: () => undefined }
  ]) {
    it.effect(`case 8: after an interruption during ${when} no request is sent and no connection is open`, () => {
      const server = new Fake.FakeServer()
      const pods = server.kind(Pod)
      for (let i = 0; i < 5; i++) pods.put(pod(`p${i}`))
      arrange(pods)
      return Effect.gen(function* () {
        const scope = yield* Scope.make()
        const services = yield* Layer.buildWithScope(layer(server, 2), scope)
        const reader = yield* Effect.gen(function* () {
          const cache = yield* Cache
          yield* Scope.provide(cache.subscribe(Pod), scope)
          return yield* cache.synced(Pod)
        }).pipe(Effect.provide(services), Effect.exit, Effect.forkChild({ startImmediately: true }))
        yield* TestClock.adjust("1 second")
        assert.strictEqual(pods.connections.size, when === "a watch" ? 1 : 0)
        assert.isAbove(server.requests, 0)
        yield* Scope.close(scope, Exit.void)
        const requests = server.requests
        pods.failure = undefined
        pods.beforeList = Effect.void
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual([server.requests, pods.connections.size], [requests, 0])
        assert.strictEqual(Exit.isSuccess(yield* Fiber.join(reader)), when === "a watch")
      })
    })
  }

  it.effect("case 11: a kind that always fails does not delay another", () => {
    const server = new Fake.FakeServer()
    server.kind(ConfigMap).failure = Fake.forbidden(ConfigMap)
    const pods = server.kind(Pod)
    return Effect.gen(function* () {
      const cache = yield* Cache
      yield* cache.subscribe(ConfigMap)
      yield* cache.subscribe(Pod)
      for (let i = 0; i < 20; i++) {
        // No time passes here, so a wait for the backoff of the failing kind would never end.
        assert.isTrue(yield* passed(Pod, pods.put(pod(`p${i}`))))
      }
      yield* TestClock.adjust("10 minutes")
      assert.isTrue(yield* passed(Pod, pods.put(pod("last"))))
      const statuses = yield* cache.status
      assert.deepStrictEqual(
        statuses.map(({ objects, resource, synced }) => ({ objects, resource, synced })),
        [
          { objects: 0, resource: "configmaps", synced: false },
          { objects: 21, resource: "pods", synced: true }
        ]
      )
      assert.deepStrictEqual([pods.lists, pods.connections.size], [1, 1])
    }).pipe(Effect.provide(layer(server)))
  })

  it.effect("case 14: the wait for a write ends with its event, with a bookmark, or at its limit", () => {
    const { pods, server } = Fake.serverWithPod()
    return Effect.gen(function* () {
      const cache = yield* Cache
      yield* cache.subscribe(Pod)
      yield* cache.synced(Pod)
      const version = pods.put(pod("a", { labels: { own: "write" } }))
      assert.isTrue(yield* passed(Pod, version))
      assert.strictEqual((yield* cache.get(Pod, "default/a"))?.metadata.labels?.["own"], "write")
      // A write that changes nothing returns a version that the cache has: the callback runs before the call returns.
      let answer: boolean | undefined
      yield* cache.onVersion(Pod, "default/a", version, (reached) => void (answer = reached), "5 seconds")
      assert.isTrue(answer)
      // The wait for a write without an event ends first with a bookmark, then at its limit.
      const bookmarked = yield* Effect.forkChild(passed(Pod, "150"), { startImmediately: true })
      pods.bookmark(150)
      assert.isTrue(yield* Fiber.join(bookmarked))
      const never = yield* Effect.forkChild(passed(Pod, "99999999999999999999", "5 seconds"), {
        startImmediately: true
      })
      yield* TestClock.adjust("4999 millis")
      assert.isUndefined(never.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isFalse(yield* Fiber.join(never))
    }).pipe(Effect.provide(layer(server)))
  })

  it.effect("case 15: a list and a watch keep unknown fields, invalid timestamps and the order of fields", () => {
    const server = new Fake.FakeServer()
    const pods = server.kind(Pod)
    const odd = {
      zeta: { nested: [1, null, { deep: 1e21 }], empty: {} },
      apiVersion: "v1",
      kind: "Pod",
      status: { startTime: "2026-02-30T25:61:00.123456789Z", unknownField: "kept" },
      metadata: {
        annotations: { "a/b": "1", __proto__key: "x" },
        namespace: "default",
        name: "odd",
        uid: "u",
        creationTimestamp: "2020-01-01T00:00:00Z",
        futureField: true
      }
    }
    return Effect.gen(function* () {
      const cache = yield* Cache
      const check = Effect.map(cache.get(Pod, "default/odd"), (object) =>
        assert.strictEqual(JSON.stringify(object), pods.objects.get("default/odd"))
      )
      pods.put(odd)
      yield* cache.subscribe(Pod)
      yield* check
      assert.isTrue(yield* passed(Pod, pods.put({ ...odd, another: "one" } as KubeObject)))
      yield* check
    }).pipe(Effect.provide(layer(server)))
  })

  it.effect("case 16: after ten thousand creations and deletions nothing is left", () => {
    const server = new Fake.FakeServer()
    const pods = server.kind(Pod)
    return Effect.gen(function* () {
      const cache = yield* Cache
      const byName = { name: "name", of: (object: Pod) => [object.metadata.name] }
      const informer = yield* cache.subscribe(Pod, { indexes: [byName] })
      const go = Latch.makeUnsafe()
      yield* Stream.runForEachArray(cache.changes(Pod), () => go.await).pipe(Effect.forkScoped)
      yield* informer.synced
      const count = runs(10_000)
      for (let i = 0; i < count; i++) {
        const name = `p${i}`
        const version = pods.put(pod(name))
        yield* cache.onVersion(Pod, `default/${name}`, version, () => undefined, "1 hour")
        pods.remove(`default/${name}`)
      }
      assert.isTrue(yield* passed(Pod, String(server.version)))
      yield* go.open
      yield* cache.settled
      assert.strictEqual(yield* cache.outstanding, 0)
      assert.deepStrictEqual([informer.store.size, informer.store.keysByIndex("namespace", "default").length], [0, 0])
      for (let i = 0; i < count; i += 97) assert.deepStrictEqual(informer.store.byIndex("name", `p${i}`), [])
    }).pipe(Effect.provide(layer(server)))
  })
})
