/** The garbage collector under failing lists, broken watches, resources that are added and removed, and restarts. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { ConfigMap, Pod, Secret } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import * as Faults from "../../../src/apiserver/faults.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { ClusterTest, type Provides } from "../../../src/testing/ClusterTest.ts"
import { Discovery, type Listing, NotServed } from "../../../src/layers/Discovery.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import { leaderLost } from "../../support/cluster.ts"
import { all, blocking, collector, make, remove, to } from "./harness.ts"

const faults = (...rules: ReadonlyArray<Faults.Rule>) => Effect.flatMap(ApiServer, (server) => server.setFaults(rules))

const ghost = { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "no-such-uid" }

/** `garbagecollector_controller_resources_sync_error_total` of the test's own metric registry. */
const syncErrors = Effect.map(Metric.snapshot, (all) => {
  const found = all.find(({ id }) => id === "garbagecollector_controller_resources_sync_error_total")
  return found !== undefined && "count" in found.state ? Number(found.state.count) : 0
})

describe("resources_sync_error_total", () => {
  const model = <E>(test: Effect.Effect<void, E, Provides | Scope.Scope>) =>
    test.pipe(
      Effect.provide(ClusterTest.layer()),
      Effect.provideService(Metric.MetricRegistry, new Map()),
      Effect.scoped
    )

  it.effect("counts a refresh with a resource that cannot be synced in time, once", () =>
    model(
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        yield* faults({ match: { resource: "secrets" }, fault: { _tag: "Status", code: 403 } })
        yield* cluster.run(collector)
        yield* cluster.advance("29 seconds")
        assert.strictEqual(yield* syncErrors, 0)
        yield* cluster.advance("1 second")
        assert.strictEqual(yield* syncErrors, 1)
        yield* cluster.advance("5 minutes")
        assert.strictEqual(yield* syncErrors, 1)
      })
    )
  )

  it.effect("counts a refresh whose discovery fails", () =>
    model(
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        yield* cluster.run(collector)
        yield* cluster.settle
        assert.strictEqual(yield* syncErrors, 0)
        yield* (yield* Discovery).reset
        yield* faults({ match: (request) => request.path === "/apis", fault: { _tag: "Status", code: 503 } })
        yield* cluster.advance("5 minutes")
        assert.isAtLeast(yield* syncErrors, 2)
        yield* faults()
        yield* cluster.advance("1 minute")
        const count = yield* syncErrors
        yield* cluster.advance("5 minutes")
        assert.strictEqual(yield* syncErrors, count)
      })
    )
  )
})

describe("before the first sync", () => {
  it.effect("nothing is deleted, and a resource that cannot be listed is awaited for half a minute", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* make("a", { owners: [ghost] })
      yield* faults({ match: { resource: "secrets" }, fault: { _tag: "Status", code: 403 } })
      yield* cluster.run(collector)
      yield* cluster.advance("29 seconds")
      assert.deepStrictEqual(yield* all, ["a < ghost"])
      yield* cluster.advance("1 second")
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("nothing is deleted while discovery fails", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const discovery = yield* Discovery
      yield* make("a", { owners: [ghost] })
      yield* discovery.reset
      yield* faults({ match: (request) => request.path === "/apis", fault: { _tag: "Status", code: 503 } })
      yield* cluster.run(collector)
      yield* cluster.advance("10 minutes")
      assert.deepStrictEqual(yield* all, ["a < ghost"])
      yield* faults()
      yield* cluster.advance("35 seconds")
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("an owner that is observed after its dependents is not requested", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const a = yield* make("a", { kind: "Secret" })
      for (let i = 0; i < 20; i++) yield* make(`b${i}`, { owners: [to(a)] })
      const requested: Array<string> = []
      yield* faults({
        match: ({ context, path }) => {
          if (context.verb === "get") requested.push(path)
          return false
        },
        fault: { _tag: "Drop" }
      })
      yield* cluster.run(collector)
      assert.deepStrictEqual(requested, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )
})

/** Runs the collector with a discovery that hides kinds, and fails for groups, as the returned state says. */
const runWithDiscovery = Effect.fnUntraced(function* (...hidden: ReadonlyArray<string>) {
  const inner = yield* Discovery
  const state = { hidden: new Set(hidden), failed: [] as Listing["failed"] }
  const discovery = Discovery.of({
    ...inner,
    resourceFor: (kind) => (state.hidden.has(kind.kind) ? Effect.fail(new NotServed(kind)) : inner.resourceFor(kind)),
    resources: Effect.map(inner.resources, ({ resources }) => ({
      resources: resources.filter((one) => !state.hidden.has(one.kind)),
      failed: state.failed
    }))
  })
  yield* Effect.provideService((yield* ClusterTest).run(collector), Discovery, discovery)
  return state
})

const watched = Effect.gen(function* () {
  const informers = yield* (yield* Cache).status
  return informers.filter(({ subscribers }) => subscribers > 0).map(({ id }) => id)
})

describe("resources", () => {
  it.effect(
    "that are added later are watched within half a minute, and dependents of their objects are kept until then",
    () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const state = yield* runWithDiscovery("Secret")
        const secret = yield* make("secret", { kind: "Secret" })
        yield* make("good", { owners: [to(secret)] })
        yield* make("bad", { owners: [{ ...ghost, kind: "Secret" }] })
        yield* cluster.advance("10 minutes")
        assert.deepStrictEqual(yield* all, ["bad < ghost", "good < secret", "secret"])
        assert.notInclude(yield* watched, "metadata:v1/secrets")
        state.hidden.clear()
        yield* cluster.advance("31 seconds")
        assert.include(yield* watched, "metadata:v1/secrets")
        yield* cluster.advance("15 minutes")
        assert.deepStrictEqual(yield* all, ["good < secret", "secret"])
        yield* (yield* KubeClient).delete(Secret, { name: "secret", namespace: "default" })
        yield* cluster.settle
        assert.deepStrictEqual(yield* all, [])
      }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect(
    "that are removed are not watched, dependents of their objects are kept, and owners that waited for their objects are deleted",
    () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const state = yield* runWithDiscovery()
        const secret = yield* make("secret", { kind: "Secret" })
        yield* make("owned", { owners: [to(secret)] })
        const owner = yield* make("owner")
        yield* make("blocker", { kind: "Secret", owners: [blocking(owner)], finalizers: ["example.com/hold"] })
        yield* cluster.settle
        yield* remove("owner", "Foreground")
        yield* cluster.advance("1 second")
        state.hidden.add("Secret")
        yield* cluster.advance("31 seconds")
        assert.notInclude(yield* watched, "metadata:v1/secrets")
        yield* cluster.advance("10 minutes")
        assert.deepStrictEqual(yield* all, ["owned < secret", "blocker! < owner", "secret"])
      }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("of a group that cannot be discovered stay watched", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const state = yield* runWithDiscovery()
      const before = yield* watched
      state.hidden.add("Secret").add("ConfigMap")
      const error = yield* Effect.flip((yield* KubeClient).get(ConfigMap, { name: "nothing", namespace: "default" }))
      state.failed = [{ group: "", version: "v1", error }]
      yield* cluster.advance("2 minutes")
      assert.deepStrictEqual(yield* watched, before)
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("whose full objects another controller watches are not watched twice", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const cache = yield* Cache
      yield* cache.subscribe(Pod)
      yield* cache.subscribe(ConfigMap, { selection: { namespace: "kube-system" } })
      yield* cluster.run(collector)
      const ids = yield* watched
      assert.include(ids, "v1/pods")
      assert.notInclude(ids, "metadata:v1/pods")
      assert.include(ids, "metadata:v1/configmaps")
      assert.notInclude(ids, "metadata:v1/events")
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )
})

/** A watch that begins with the current objects. */
const isStreamingList = (request: Request) => Faults.isWatch(request) && request.query?.["sendInitialEvents"] === true

const watchFaults: ReadonlyArray<readonly [what: string, ...rules: ReadonlyArray<Faults.Fault>]> = [
  ["are reset", { _tag: "CutWatch", after: 2, how: "reset" }],
  ["end", { _tag: "CutWatch", after: 0, how: "end" }],
  ["stall", { _tag: "CutWatch", after: 1, how: "silence" }],
  ["end with 410 Gone", { _tag: "Gone", after: 1 }],
  ["end with 410 Gone and lists are stale", { _tag: "Gone", after: 0 }, { _tag: "StaleList", revisions: 6 }],
  ["deliver each event twice", { _tag: "DuplicateEvents" }]
]

describe("watches", () => {
  for (const [what, ...found] of watchFaults) {
    it.effect(`that ${what} delay deletions, but never delete an object with an owner`, () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const a = yield* make("a")
        const b = yield* make("b", { owners: [blocking(a)] })
        yield* make("c", { owners: [to(b)] })
        yield* faults(
          // Streaming lists are refused, because only a plain list can be stale.
          ...(found.some(({ _tag }) => _tag === "StaleList")
            ? [{ match: isStreamingList, fault: { _tag: "Status", code: 400 } } as const]
            : []),
          ...found.map((fault) => ({
            match: {
              verb: fault._tag === "StaleList" ? ("list" as const) : ("watch" as const),
              resource: "configmaps"
            },
            fault,
            // Enough for minutes of backoff, but not without end: a streaming list that is always cut never completes.
            times: 8
          }))
        )
        yield* cluster.run(collector)
        for (const [name, owner] of [
          ["d", a],
          ["e", b]
        ] as const) {
          yield* make(name, { owners: [to(owner)] })
          yield* cluster.advance("10 seconds")
        }
        const f = yield* make("f")
        yield* make("g", { owners: [to(f), to(b)] })
        yield* cluster.advance("10 seconds")
        assert.deepStrictEqual(yield* all, ["a", "b < a", "c < b", "d < a", "e < b", "f", "g < f < b"])
        yield* remove("a", "Foreground")
        yield* cluster.advance("15 minutes")
        assert.deepStrictEqual(yield* all, ["f", "g < f"])
      }).pipe(Effect.provide(ClusterTest.layer()))
    )
  }
})

describe("restarts", () => {
  it.effect("resume deletions that were in progress", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const a = yield* make("a")
      const b = yield* make("b", { owners: [blocking(a)] })
      yield* make("c", { owners: [blocking(b)] })
      const d = yield* make("d")
      yield* make("e", { owners: [to(d)] })
      const f = yield* make("f")
      yield* make("g", { owners: [to(f)] })
      const first = yield* cluster.run(collector)
      yield* faults(
        { match: { verb: "delete", path: "/api/v1/namespaces/default/configmaps/c" }, fault: { _tag: "Drop" } },
        { match: { verb: "patch" }, fault: { _tag: "Drop" } }
      )
      yield* remove("a", "Foreground")
      yield* remove("f", "Orphan")
      yield* cluster.advance("1 second")
      assert.deepStrictEqual(yield* all, ["a!", "b! < a", "c < b", "d", "e < d", "f!", "g < f"])
      yield* first.stop(leaderLost)
      yield* remove("d")
      yield* faults()
      yield* cluster.run(collector)
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* all, ["g"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )
})

/** A graph of owners: each object may be owned by earlier ones. */
const ownership = Arbitrary.all({
  owners: Arbitrary.array(
    Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 }))), {
      minLength: 0,
      maxLength: 3
    }),
    { minLength: 2, maxLength: 14 }
  ),
  removed: Arbitrary.array(
    Arbitrary.schema(
      Schema.Struct({
        which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 })),
        foreground: Schema.Boolean
      })
    ),
    { minLength: 1, maxLength: 5 }
  ),
  rules: Arbitrary.array(Arbitrary.schema(Faults.DataRule), { minLength: 0, maxLength: 6 }),
  restart: Arbitrary.schema(Schema.Boolean)
})

describe("under random faults", () => {
  it.effect.prop(
    "objects with an existing owner are kept, and those without are deleted",
    { plan: ownership },
    ({ plan }) =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const objects: Array<KubeObject> = []
        const ownersOf = plan.owners.map((owners, i) => [...new Set(owners.filter((one) => one < i))])
        for (const [i, owners] of ownersOf.entries()) {
          const references = owners.flatMap((one) => {
            const owner = objects[one]
            return owner === undefined ? [] : [one % 2 === 0 ? blocking(owner) : to(owner)]
          })
          objects.push(yield* make(`o${String(i).padStart(2, "0")}`, { owners: references }))
        }
        const first = yield* cluster.run(collector)
        // Each rule affects some calls only, so that the faults end.
        yield* faults(...plan.rules.map((rule) => ({ times: 3, ...rule })))
        const deleted = new Set<number>()
        for (const { foreground, which } of plan.removed) {
          const name = objects[which % objects.length]?.metadata.name ?? ""
          deleted.add(which % objects.length)
          // The faults affect the user's requests too, which must not stop the clock.
          yield* Effect.forkChild(Effect.ignore(remove(name, foreground ? "Foreground" : "Background")))
        }
        if (plan.restart) {
          yield* first.stop(leaderLost)
          yield* cluster.run(collector)
        }
        yield* cluster.advance("1 minute")
        yield* faults()
        for (const which of deleted) yield* Effect.ignore(remove(objects[which]?.metadata.name ?? ""))
        yield* cluster.advance("20 minutes")
        for (const [i, owners] of ownersOf.entries()) {
          if (owners.length > 0 && owners.every((one) => deleted.has(one))) deleted.add(i)
        }
        const expected = objects.flatMap(({ metadata }, i) => (deleted.has(i) ? [] : [[metadata.name, metadata.uid]]))
        const left = yield* cluster.snapshot(ConfigMap)
        assert.deepStrictEqual(
          left.map(({ metadata }) => [metadata.name, metadata.uid]),
          expected
        )
        for (const { metadata } of left) {
          for (const { name, uid } of metadata.ownerReferences ?? []) {
            assert.isTrue(
              left.some((one) => one.metadata.uid === uid),
              `${metadata.name} still refers to ${name}`
            )
          }
        }
      }).pipe(Effect.provide(ClusterTest.layer())),
    { arbitrary: { runs: 25 } }
  )
})
