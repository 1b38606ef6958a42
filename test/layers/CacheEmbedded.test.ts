/** The cache on the embedded API server, with the real client and streaming lists: in process, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { ConfigMap, Pod, Secret } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { logged } from "../support/logged.ts"

const layer = Cache.layer().pipe(
  Layer.provide(Layer.succeed(Cache.Frozen, true)),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(ApiServer.layerTransport),
  Layer.provideMerge(ApiServer.layer())
)

const draft = (name: string, labels: Record<string, string> = {}) => ({
  metadata: { name, namespace: "default", labels },
  data: { name }
})

/** Waits until the informers that receive this object's version have passed it. */
const shown = (resource: Resource.Any, object: KubeObject, limit: Duration.Input = "1 hour") =>
  Effect.gen(function* () {
    const { name, namespace, resourceVersion } = object.metadata
    const answer = Deferred.makeUnsafe<boolean>()
    const done = (reached: boolean) => Deferred.doneUnsafe(answer, Effect.succeed(reached))
    yield* (yield* Cache).onVersion(resource, `${namespace}/${name}`, resourceVersion ?? "", done, limit, object)
    return yield* Deferred.await(answer)
  })

const names = (objects: ReadonlyArray<KubeObject>) => objects.map((object) => object.metadata.name).sort()

describe("Cache on the embedded server", () => {
  it.effect("a write is read from the cache once the wait for its version is over", () =>
    Effect.gen(function* () {
      const cache = yield* Cache
      const client = yield* KubeClient
      yield* client.create(ConfigMap, draft("a"))
      yield* cache.subscribe(ConfigMap)
      assert.deepStrictEqual(names(yield* cache.list(ConfigMap)), ["a"])
      const target = { namespace: "default", name: "a" }
      const written = yield* client.patch(ConfigMap, target, Patch.merge({ data: { more: "1" } }))
      assert.isTrue(yield* shown(ConfigMap, written))
      const read = yield* cache.get(ConfigMap, "default/a")
      assert.deepStrictEqual(read?.data, { name: "a", more: "1" })
      assert.deepStrictEqual([read?.apiVersion, read?.kind, Object.isFrozen(read?.data)], ["v1", "ConfigMap", true])
      // A patch that changes nothing returns a version that the cache has, so the wait ends without an event.
      const unchanged = yield* client.patch(ConfigMap, target, Patch.merge({ data: { more: "1" } }))
      let answer: boolean | undefined
      const version = unchanged.metadata.resourceVersion ?? ""
      yield* cache.onVersion(ConfigMap, "default/a", version, (reached) => void (answer = reached), "5 seconds")
      assert.isTrue(answer)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an object that no longer matches is deleted, and the wait for the write ends before the limit", () =>
    Effect.gen(function* () {
      const cache = yield* Cache
      const client = yield* KubeClient
      const selection = { labelSelector: "app=web" }
      const seen = yield* Queue.unbounded<string>()
      yield* client.create(ConfigMap, draft("a", { app: "web" }))
      yield* client.create(ConfigMap, draft("b", { app: "db" }))
      yield* Stream.runForEachArray(cache.changes(ConfigMap, { selection }), (deltas) =>
        Queue.offerAll(
          seen,
          deltas.map((delta) => `${delta._tag} ${delta.object.metadata.name}`)
        )
      ).pipe(Effect.forkScoped)
      assert.strictEqual(yield* Queue.take(seen), "Created a")
      const leaving = yield* client.patch(
        ConfigMap,
        { namespace: "default", name: "a" },
        Patch.merge({ metadata: { labels: { app: "db" } } })
      )
      assert.isTrue(yield* shown(ConfigMap, leaving))
      assert.strictEqual(yield* Queue.take(seen), "Deleted a")
      // The object is not selected before or after: no event will arrive, and the wait ends at once.
      const outside = yield* client.patch(
        ConfigMap,
        { namespace: "default", name: "b" },
        Patch.merge({ data: { x: "1" } })
      )
      assert.isTrue(yield* shown(ConfigMap, outside))
      // The wait for an object that is new in the selection lasts until its event.
      const entering = yield* client.create(ConfigMap, draft("c", { app: "web" }))
      assert.isTrue(yield* shown(ConfigMap, entering))
      assert.deepStrictEqual(names(yield* cache.list(ConfigMap, { selection })), ["c"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("only the selected part of a kind is cached, in one informer for equal selections", () =>
    Effect.gen(function* () {
      const cache = yield* Cache
      const client = yield* KubeClient
      const part = () => Resource.selected(Secret, "type=example.com/key")
      const secret = (name: string, type: string) =>
        client.create(Secret, { metadata: { namespace: "default", name }, type, stringData: { name } })
      const before = yield* secret("plain", "Opaque")
      yield* secret("key", "example.com/key")
      yield* cache.subscribe(part())
      yield* cache.subscribe(part())
      assert.deepStrictEqual(names(yield* cache.list(part())), ["key"])
      assert.deepStrictEqual(names(yield* cache.list(part(), { namespace: "default" })), ["key"])
      assert.deepStrictEqual(
        (yield* cache.status).map(({ objects, selection, subscribers }) => [objects, selection, subscribers]),
        [[1, { fieldSelector: "type=example.com/key" }, 2]]
      )
      // The informer of the whole kind is another one, without a subscription.
      assert.strictEqual(
        (yield* Effect.flip(cache.get(Secret, "default/key"))).message,
        "secrets are not cached: declare read(Secret) in the controller's access"
      )
      // Waits only for informers that receive an event.
      const target = { namespace: "default", name: "plain" }
      const after = yield* client.patch(Secret, target, Patch.merge({ data: { more: "bW9yZQ==" } }))
      assert.notStrictEqual(after.metadata.resourceVersion, before.metadata.resourceVersion)
      assert.isTrue(yield* shown(Secret, after))
      assert.isTrue(yield* shown(Secret, yield* secret("second", "example.com/key")))
      assert.deepStrictEqual(names(yield* cache.list(part())), ["key", "second"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("an object whose field changes leaves its part, and the wait for the write ends before the limit", () =>
    Effect.gen(function* () {
      const cache = yield* Cache
      const client = yield* KubeClient
      const running = Resource.selected(Pod, "status.phase=Running")
      const create = (name: string) =>
        client.create(Pod, {
          metadata: { namespace: "default", name },
          spec: { serviceAccountName: "default", containers: [{ name: "a", image: "a:1" }] }
        })
      const phase = (name: string, value: string) =>
        client.patch(
          Pod,
          { namespace: "default", name, subresource: "status" },
          Patch.merge({ status: { phase: value } })
        )
      const seen: Array<string> = []
      const informer = yield* cache.subscribe(running)
      yield* informer.onDeltas((deltas) => {
        for (const delta of deltas) seen.push(`${delta._tag} ${delta.object.metadata.name}`)
      })
      yield* informer.synced
      // The pod is pending, so no listener is called.
      assert.isTrue(yield* shown(Pod, yield* create("a")))
      assert.isTrue(yield* shown(Pod, yield* phase("a", "Running")))
      assert.isTrue(yield* shown(Pod, yield* phase("a", "Succeeded")))
      assert.deepStrictEqual(seen, ["Created a", "Deleted a"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("after an outage and a compaction the missed changes arrive, including deletions", () =>
    Effect.gen(function* () {
      const cache = yield* Cache
      const client = yield* KubeClient
      const server = yield* ApiServer
      const metadata = Resource.metadataOnly(ConfigMap)
      for (const name of ["a", "b"]) yield* client.create(ConfigMap, draft(name))
      const seen: Array<string> = []
      const informer = yield* cache.subscribe(metadata)
      yield* informer.onDeltas((deltas) => {
        for (const delta of deltas) seen.push(`${delta._tag} ${delta.object.metadata.name}`)
      })
      yield* informer.synced
      const object = yield* cache.get(metadata, "default/a")
      assert.isTrue(object !== undefined && !("data" in object))
      assert.deepStrictEqual(seen, ["Created a", "Created b"])
      yield* server.setUnavailable(true)
      yield* TestClock.adjust("1 minute")
      assert.isAbove((yield* informer.status)[0]?.attempts ?? 0, 0)
      assert.strictEqual(yield* server.watchers, 0)
      yield* server.setUnavailable(false)
      yield* client.delete(ConfigMap, { namespace: "default", name: "a" })
      const created = yield* client.create(ConfigMap, draft("c"))
      yield* server.compact()
      yield* TestClock.adjust("1 minute")
      assert.isTrue(yield* shown(ConfigMap, created))
      assert.deepStrictEqual(names(yield* cache.list(metadata)), ["b", "c"])
      assert.sameMembers(seen, ["Created a", "Created b", "Deleted a", "Created c"])
      assert.deepInclude((yield* informer.status)[0], { attempts: 0, objects: 2, defects: 0 })
      assert.strictEqual(yield* server.watchers, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an informer does not run under the name of the controller that asked first", () => {
    const { lines, logger } = logged()
    return Effect.gen(function* () {
      const cache = yield* Cache
      const informer = yield* cache.subscribe(ConfigMap).pipe(Effect.annotateLogs("controller", "first"))
      yield* informer.synced
      yield* (yield* ApiServer).setUnavailable(true)
      yield* TestClock.adjust("1 minute")
      assert.match(lines(/trying again/)[0] ?? "", /^list configmaps|^watch configmaps/)
    }).pipe(Effect.provide(Layer.provideMerge(layer, logger)))
  })
})
