/**
 * Controllers that divide their work among replicas, in virtual time: each object has one replica at a time, none is forgotten, and no replica writes without
 * the lock of the shard.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Fleet from "./fleet.ts"
import * as Replicas from "./replicas.ts"

const settings = { shards: 16, expiration: Duration.seconds(15) }

const replicasOf = ({ runs }: Replicas.World, key: string) =>
  new Set(runs.flatMap((run) => (run.key === key ? run.replica : [])))

describe("a controller with shardBy", () => {
  it.effect("reconciles each object on one replica, and all objects of a namespace on the same one", () =>
    Effect.gen(function* () {
      yield* Replicas.populate
      const world = Replicas.world(settings)
      const replicas = yield* Effect.forEach(["one", "two", "three"], (name) => Replicas.start(name, world))
      yield* Replicas.advance(30)
      assert.deepStrictEqual(
        replicas.flatMap(({ held }) => [...held]).toSorted((a, b) => a - b),
        Array.from({ length: settings.shards }, (_, index) => index + 1)
      )
      for (const { held } of replicas) assert.isAbove(held.size, 0)
      for (const { data, metadata } of yield* Replicas.objects) assert.strictEqual(data?.["copy"], "1", metadata.name)

      world.runs.length = 0
      for (const namespace of Replicas.namespaces) {
        yield* Replicas.change(namespace, "a", "2")
        yield* Replicas.change(namespace, "b", "2")
      }
      yield* Replicas.advance(2)
      for (const { data } of yield* Replicas.objects) assert.strictEqual(data?.["copy"], "2")
      for (const namespace of Replicas.namespaces) {
        const of = replicasOf(world, `${namespace}/a`)
        assert.strictEqual(of.size, 1)
        assert.deepStrictEqual(replicasOf(world, `${namespace}/b`), of)
      }
      assert.isAbove(new Set(world.runs.map(({ replica }) => replica)).size, 1)
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("hands its objects over when a replica ends, and forgets no change that was made meanwhile", () =>
    Effect.gen(function* () {
      yield* Replicas.populate
      const world = Replicas.world(settings)
      const [one, two] = [yield* Replicas.start("one", world), yield* Replicas.start("two", world)]
      yield* Replicas.advance(30)
      yield* Effect.forkScoped(one.stop)
      for (const namespace of Replicas.namespaces) yield* Replicas.change(namespace, "a", "2")
      yield* Replicas.advance(3)
      assert.strictEqual(two.held.size, settings.shards)
      for (const { data, metadata } of yield* Replicas.objects) {
        assert.strictEqual(data?.["copy"], metadata.name === "a" ? "2" : "1")
      }
      assert.deepStrictEqual([Replicas.overlaps(world), world.unlocked], [[], []])
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect(
    "takes over from a replica whose connection is cut, which neither runs nor writes after its proof has ended",
    () =>
      Effect.gen(function* () {
        yield* Replicas.populate
        const world = Replicas.world({ ...settings, work: "4 seconds" })
        const [one, two] = [yield* Replicas.start("one", world), yield* Replicas.start("two", world)]
        yield* Replicas.advance(40)
        const before = yield* Replicas.now
        one.gate.isCut = true
        for (const namespace of Replicas.namespaces) yield* Replicas.change(namespace, "a", "2")
        yield* Replicas.advance(60)
        assert.strictEqual(two.held.size, settings.shards)
        assert.strictEqual(one.held.size, 0)
        for (const { data, metadata } of yield* Replicas.objects) {
          assert.strictEqual(data?.["copy"], metadata.name === "a" ? "2" : "1")
        }
        for (const { from, replica } of world.runs) if (replica === "one") assert.isAtMost(from, before + 10_000)
        assert.deepStrictEqual([Replicas.overlaps(world), world.unlocked], [[], []])
      }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("sends no write that was begun before its process was stopped, once the proof has ended", () =>
    Effect.gen(function* () {
      yield* Replicas.populate
      const world = Replicas.world({ ...settings, work: "2 seconds", isStubborn: true })
      const [one, two] = [yield* Replicas.start("one", world), yield* Replicas.start("two", world)]
      yield* Replicas.advance(40)
      for (const namespace of Replicas.namespaces) yield* Replicas.change(namespace, "a", "2")
      yield* Replicas.advance(1)
      one.gate.awake.closeUnsafe()
      assert.isAbove(world.runs.filter(({ replica, to }) => replica === "one" && to === Infinity).length, 0)
      yield* Replicas.advance(60)
      assert.strictEqual(two.held.size, settings.shards)
      one.gate.awake.openUnsafe()
      yield* Replicas.advance(1)
      assert.deepStrictEqual(world.unlocked, [])
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("lets runs in flight finish before a shard moves", () =>
    Effect.gen(function* () {
      yield* Replicas.populate
      const world = Replicas.world({ ...settings, work: "3 seconds" })
      yield* Replicas.start("one", world)
      yield* Replicas.advance(30)
      for (const namespace of Replicas.namespaces) yield* Replicas.change(namespace, "a", "2")
      yield* Replicas.start("two", world)
      for (let value = 3; value < 20; value++) {
        yield* Replicas.advance(1)
        for (const namespace of Replicas.namespaces) yield* Replicas.change(namespace, "a", String(value))
      }
      yield* Replicas.advance(20)
      for (const { data, metadata } of yield* Replicas.objects) {
        assert.strictEqual(data?.["copy"], metadata.name === "a" ? "19" : "1")
      }
      assert.isAbove(world.runs.filter(({ replica }) => replica === "two").length, 0)
      // A run that was not interrupted has taken its full time.
      for (const { from, to } of world.runs) if (to !== Infinity) assert.strictEqual(to - from >= 3000, true)
      assert.deepStrictEqual([Replicas.overlaps(world), world.unlocked], [[], []])
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect(
    "caches only the namespaces of its shards where the cache is divided, also those that are added later",
    () =>
      Effect.gen(function* () {
        yield* Replicas.populate
        const world = Replicas.world({ ...settings, isCacheDivided: true })
        const [one, two] = [yield* Replicas.start("one", world), yield* Replicas.start("two", world)]
        yield* Replicas.advance(30)
        yield* Replicas.add("shop-late")
        yield* Replicas.advance(2)
        const all = [...Replicas.namespaces, "shop-late"].toSorted()
        const has = [yield* one.cached, yield* two.cached]
        assert.deepStrictEqual(has.flat().toSorted(), all)
        for (const of of has) assert.isBelow(of.length, all.length)
        for (const { data } of yield* Replicas.objects) assert.strictEqual(data?.["copy"], "1")

        yield* one.stop
        yield* Replicas.advance(10)
        assert.deepStrictEqual(yield* two.cached, all)
      }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("runs no key of a namespace that it has read only in part", () =>
    Effect.gen(function* () {
      yield* Replicas.populate
      const world = Replicas.world({ ...settings, isCacheDivided: true })
      const one = yield* Replicas.start("one", world)
      yield* Replicas.advance(20)
      const two = yield* Replicas.start("two", world)
      two.gate.latency = "2 seconds"
      for (let time = 0; time < 60; time++) {
        yield* Replicas.touch(String(time))
        yield* Replicas.advance(1)
        if (time === 30) yield* Effect.forkScoped(one.stop)
      }
      assert.isAbove(world.runs.filter(({ replica }) => replica === "two").length, 100)
      assert.deepStrictEqual([world.incomplete, world.runs.filter(({ value }) => value === "")], [[], []])
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("keeps the objects of a run in the cache until the run has ended", () =>
    Effect.gen(function* () {
      yield* Replicas.populate
      const world = Replicas.world({ ...settings, isCacheDivided: true, work: "3 seconds" })
      yield* Replicas.start("one", world)
      yield* Replicas.advance(20)
      yield* Replicas.start("two", world)
      for (let time = 0; time < 30; time++) {
        yield* Replicas.touch(String(time))
        yield* Replicas.advance(1)
      }
      assert.isAbove(world.runs.filter(({ replica }) => replica === "two").length, 10)
      assert.deepStrictEqual(world.incomplete, [])
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("ends a run whose shard moves when the lock is not proven any more, although it may take ten seconds", () =>
    Effect.gen(function* () {
      yield* Replicas.populate
      const world = Replicas.world({ ...settings, shards: 4, work: "700 millis" })
      const [one, two] = [yield* Replicas.start("one", world), yield* Replicas.start("two", world)]
      const stopped = ({ gate }: Replicas.Replica, seconds: number) =>
        Effect.acquireUseRelease(
          Effect.sync(() => gate.awake.closeUnsafe()),
          () => Replicas.advance(seconds),
          () => Effect.sync(() => gate.awake.openUnsafe())
        )
      yield* Replicas.advance(10)
      yield* stopped(one, 15)
      yield* Fleet.settle
      yield* stopped(one, 1)
      yield* Fleet.settle
      // The second replica has all shards now, and has to give some of them back while it gets no responses.
      yield* Replicas.add("shop-late-3")
      yield* Fleet.settle
      yield* stopped(two, 23)
      yield* Replicas.advance(60)
      assert.deepStrictEqual(Replicas.overlaps(world), [])
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )

  it.effect("divides by a text of the object, whose deletion is reconciled where it was", () =>
    Effect.gen(function* () {
      yield* Replicas.populate
      const client = yield* KubeClient
      const world = Replicas.world({ ...settings, shardBy: ({ metadata }: ConfigMap) => metadata.name })
      yield* Effect.forEach(["one", "two", "three"], (name) => Replicas.start(name, world))
      yield* Replicas.advance(30)
      const of = replicasOf(world, "shop-0/a")
      for (const namespace of Replicas.namespaces) assert.deepStrictEqual(replicasOf(world, `${namespace}/a`), of)
      world.runs.length = 0
      yield* client.delete(ConfigMap, { namespace: "shop-0", name: "a" })
      yield* Replicas.advance(1)
      assert.deepStrictEqual(replicasOf(world, "shop-0/a"), of)
    }).pipe(Effect.scoped, Effect.provide(Fleet.server))
  )
})
