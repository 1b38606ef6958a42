/** The migration of stored objects, on the embedded API server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../../../src/apiserver/ApiServer.ts"
import { ConfigMap } from "../../../../src/kube/resources.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import * as Checkpoint from "../../../../src/manager/crds/migration/checkpoint.ts"
import * as Migration from "../../../../src/manager/crds/migration/Migration.ts"
import { layer } from "../../../support/cluster.ts"
import * as Cluster from "./cluster.ts"

const names = (count: number) => Array.from({ length: count }, (_, i) => `w${String(i).padStart(2, "0")}`)

const migrate = (options: Partial<Migration.Options> = {}) =>
  Effect.gen(function* () {
    const checkpoints = yield* Checkpoint.make("default")
    const run = Migration.migrate(Cluster.name, { pageSize: 4, checkpoints, onProgress: () => {}, ...options })
    const fiber = yield* Effect.forkChild(run)
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

const prepared = Effect.gen(function* () {
  yield* Cluster.install
  yield* Cluster.put(names(10))
  yield* Cluster.store("v2")
})

/** A migration that ends before its third page. */
const interrupted = Effect.gen(function* () {
  const client = yield* KubeClient
  let lists = 0
  const dying = KubeClient.of({
    ...client,
    listPage: (resource, options) => (++lists === 3 ? Effect.interrupt : client.listPage(resource, options))
  })
  yield* Effect.exit(Effect.provideService(migrate(), KubeClient, dying))
})

describe("a migration", () => {
  it.effect(
    "has all objects stored in the storage version and removes the other versions from status.storedVersions",
    () =>
      Effect.gen(function* () {
        yield* prepared
        assert.deepStrictEqual(yield* Cluster.storedVersions, ["v1", "v2"])
        assert.deepStrictEqual(new Set(Object.values(yield* Cluster.storedIn)), new Set(["v1"]))
        const seen: Array<readonly [number, number]> = []
        const done = yield* migrate({ onProgress: (one, total) => void seen.push([one, total]) })
        assert.deepInclude(done, { outcome: "migrated", objects: 10, rewritten: 10, removed: ["v1"], isResumed: false })
        assert.deepStrictEqual(new Set(Object.values(yield* Cluster.storedIn)), new Set(["v2"]))
        assert.deepStrictEqual(yield* Cluster.storedVersions, ["v2"])
        assert.deepStrictEqual(
          [seen[0], seen.at(-1)],
          [
            [0, 10],
            [10, 10]
          ]
        )
        // Nothing is left of the checkpoints.
        assert.notInclude(
          (yield* (yield* KubeClient).list(ConfigMap, { namespace: "default" })).items.map(
            ({ metadata }) => metadata.name
          ),
          Checkpoint.configMapName
        )
      }).pipe(Effect.provide(layer))
  )

  it.effect("of objects that are stored in the storage version writes none of them", () =>
    Effect.gen(function* () {
      yield* Cluster.install
      yield* Cluster.store("v2")
      yield* Cluster.put(names(3))
      const done = yield* migrate()
      assert.deepInclude(done, { outcome: "migrated", objects: 3, rewritten: 0 })
      assert.deepInclude(yield* migrate(), { outcome: "current", objects: 0 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("removes no version while the server refuses an object, and names the object and the reason", () =>
    Effect.gen(function* () {
      yield* prepared
      const path = "/apis/example.com/v2/namespaces/default/widgets/w05"
      const fault = { _tag: "Status", code: 422, message: "spec.size: Invalid value: 1" } as const
      yield* (yield* ApiServer).setFaults([{ match: { path }, fault }])
      const done = yield* migrate()
      assert.deepInclude(done, { outcome: "refused", objects: 10, rewritten: 9, refusals: 1, removed: [] })
      assert.deepStrictEqual(done.refused, [{ object: "default/w05", reason: "spec.size: Invalid value: 1" }])
      assert.deepStrictEqual(yield* Cluster.storedVersions, ["v1", "v2"])
      // The next run begins with the page that the object is on.
      yield* (yield* ApiServer).setFaults([])
      assert.deepInclude(yield* migrate(), { outcome: "migrated", isResumed: true, objects: 6, rewritten: 6 })
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "removes no version if the definition has changed meanwhile, even if the storage version is the same again",
    () =>
      Effect.gen(function* () {
        yield* prepared
        const context = yield* Effect.context<KubeClient>()
        let isFlipped = false
        const flip = Effect.andThen(Cluster.store("v1"), Cluster.store("v2")).pipe(Effect.provide(context))
        const client = yield* KubeClient
        const flipping = KubeClient.of({
          ...client,
          listPage: (resource, options) =>
            Effect.tap(client.listPage(resource, options), () => {
              if (isFlipped) return Effect.void
              isFlipped = true
              return Effect.orDie(flip)
            })
        })
        const done = yield* Effect.provideService(migrate(), KubeClient, flipping)
        assert.deepInclude(done, { outcome: "changed", removed: [] })
        assert.deepStrictEqual(yield* Cluster.storedVersions, ["v1", "v2"])
        assert.deepInclude(yield* migrate(), { outcome: "migrated" })
      }).pipe(Effect.provide(layer))
  )

  it.effect("removes no version if the storage version changes between the last comparison and the removal", () =>
    Effect.gen(function* () {
      yield* prepared
      const context = yield* Effect.context<KubeClient>()
      const other = Effect.provideContext(Effect.andThen(Cluster.store("v1"), Cluster.put(["late"])), context)
      const client = (yield* KubeClient).through((transport) => ({
        ...transport,
        send: (request) =>
          Effect.andThen(request.path.endsWith("/status") ? Effect.ignore(other) : Effect.void, transport.send(request))
      }))
      assert.deepInclude(yield* Effect.provideService(migrate(), KubeClient, client), {
        outcome: "changed",
        removed: []
      })
      assert.strictEqual((yield* Cluster.storedIn)["late"], "v1")
      assert.deepStrictEqual(yield* Cluster.storedVersions, ["v1", "v2"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("continues after a 410 with the rest of the list", () =>
    Effect.gen(function* () {
      yield* prepared
      const server = yield* ApiServer
      const client = yield* KubeClient
      let pages = 0
      const compacting = KubeClient.of({
        ...client,
        listPage: (resource, options) => {
          pages++
          return Effect.tap(client.listPage(resource, options), () => server.compact())
        }
      })
      const done = yield* Effect.provideService(migrate(), KubeClient, compacting)
      assert.deepInclude(done, { outcome: "migrated", objects: 10, rewritten: 10 })
      // Three pages, and one more request for the token that has expired.
      assert.strictEqual(pages, 4)
    }).pipe(Effect.provide(layer))
  )

  it.effect("that is interrupted is continued by the next run after its last complete page", () =>
    Effect.gen(function* () {
      yield* prepared
      yield* interrupted
      assert.deepStrictEqual(yield* Cluster.storedVersions, ["v1", "v2"])
      const done = yield* migrate()
      assert.deepInclude(done, { outcome: "migrated", isResumed: true, objects: 2, rewritten: 2 })
      assert.deepStrictEqual(new Set(Object.values(yield* Cluster.storedIn)), new Set(["v2"]))
    }).pipe(Effect.provide(layer))
  )

  it.effect("begins with the first object if the definition has changed since the checkpoint", () =>
    Effect.gen(function* () {
      yield* prepared
      yield* interrupted
      yield* Cluster.store("v1")
      yield* Cluster.put(["w00a"])
      yield* Cluster.store("v2")
      assert.deepInclude(yield* migrate(), { outcome: "migrated", isResumed: false, objects: 11, rewritten: 3 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("works without the right to write ConfigMaps", () =>
    Effect.gen(function* () {
      yield* prepared
      yield* (yield* ApiServer).setFaults([{ match: { resource: "configmaps" }, fault: { _tag: "Status", code: 403 } }])
      assert.deepInclude(yield* migrate(), { outcome: "migrated", objects: 10 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("waits for a server that is down for a minute, and ends when it is down for longer", () =>
    Effect.gen(function* () {
      yield* prepared
      const server = yield* ApiServer
      const checkpoints = yield* Checkpoint.make("default")
      const run = () => Migration.migrate(Cluster.name, { pageSize: 4, checkpoints, onProgress: () => {} })
      yield* server.setUnavailable(true)
      const short = yield* Effect.forkChild(run())
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(short.pollUnsafe())
      yield* server.setUnavailable(false)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* Fiber.join(short), { outcome: "migrated" })
      yield* Cluster.store("v1")
      yield* server.setUnavailable(true)
      const long = yield* Effect.forkChild(Effect.flip(run()))
      yield* TestClock.adjust("10 minutes")
      const failure = yield* Fiber.join(long)
      assert.strictEqual(failure._tag, "Unfinished")
      assert.match(failure.message, /run the command again to continue/)
    }).pipe(Effect.provide(layer))
  )

  it.effect("as a dry run changes no object and waits for nothing", () =>
    Effect.gen(function* () {
      yield* prepared
      const client = yield* KubeClient
      const dry = KubeClient.of({
        ...client,
        patch: (resource, target, patch, options) => client.patch(resource, target, patch, { ...options, dryRun: true })
      })
      const done = yield* Migration.migrate(Cluster.name, {
        pageSize: 4,
        checkpoints: undefined,
        onProgress: () => {}
      }).pipe(Effect.provideService(KubeClient, dry))
      assert.deepInclude(done, { outcome: "migrated", objects: 10, removed: ["v1"] })
      assert.deepStrictEqual(new Set(Object.values(yield* Cluster.storedIn)), new Set(["v1"]))
      assert.deepStrictEqual(yield* Cluster.storedVersions, ["v1", "v2"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("of a definition that does not exist has the outcome absent", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* migrate(), { outcome: "absent", storageVersion: undefined })
    }).pipe(Effect.provide(layer))
  )
})
