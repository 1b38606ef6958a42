/**
 * Random operations on a server whose namespaces begin and cease to match a selector, observed by a cache of those namespaces and by a cache
 * of all. The first must have the objects of the second, filtered; the deltas that its listeners receive must lead to that state; and at no
 * moment may one kind show a namespace that another kind does not.
 */
import { assert } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Key from "../../../src/kube/Key.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Namespace, Node, Pod, Secret } from "../../../src/kube/resources.ts"
import * as CacheModule from "../../../src/layers/Cache.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import * as Fake from "./fakeServer.ts"

const places = ["n0", "n1", "n2"] as const
/** The last of them does not always have a subscription. */
const kinds: ReadonlyArray<Resource.Any> = [Pod, ConfigMap, Secret]

const acts = [
  ...(["put", "put", "remove", "recreate", "enter", "enter", "leave", "reenter", "split"] as const),
  ...(["wait", "cut", "lose", "fail", "heal", "join", "part"] as const)
]

export const scripts = Arbitrary.array(
  Arbitrary.schema(
    Schema.Struct({
      act: Schema.Literals(acts),
      place: Schema.Literals(places),
      name: Schema.Literals(["a", "b"]),
      kind: Schema.Literals([0, 1, 2]),
      /** Whether the previous changes have arrived. */
      turn: Schema.Boolean
    })
  ),
  { minLength: 20, maxLength: 40 }
)

export type Script = typeof scripts extends Arbitrary.Arbitrary<infer A> ? A : never

type Cache = CacheModule.Cache["Service"]

/** An object of each kind in each namespace that is never deleted: it is visible if and only if the namespace is. */
const marker = "marker"

const isShown = (informer: CacheModule.Informer<KubeObject>, place: string): boolean =>
  informer.store.get(Key.make(place, marker)) !== undefined

/** The objects that a listener knows; each delta must be consistent with the deltas before it. */
const listener = (faults: Array<unknown>, everywhere: () => void) => {
  const known = new Map<string, KubeObject>()
  const onDeltas = (deltas: ReadonlyArray<Delta<KubeObject>>): void => {
    try {
      for (const delta of deltas) {
        const key = Key.of(delta.object)
        const before = known.get(key)
        if (delta._tag === "Created") assert.isUndefined(before, `${key} created, but known`)
        else assert.strictEqual(delta.object.metadata.uid, before?.metadata.uid, `${delta._tag} ${key}: another object`)
        if (delta._tag === "Updated") assert.strictEqual(delta.previous, before, "previous is not what was told last")
        if (delta._tag === "Deleted") known.delete(key)
        else known.set(key, delta.object)
      }
      everywhere()
    } catch (fault) {
      faults.push(fault)
    }
  }
  return { known, onDeltas }
}

const build = (server: Fake.FakeServer, options: CacheModule.Options) =>
  Effect.map(
    Layer.build(
      Layer.fresh(
        CacheModule.Cache.layer({ streamingList: "never", idleTimeToLive: 0, ...options }).pipe(
          Layer.provide(server.layer),
          Layer.provide(Layer.succeed(CacheModule.Cache.Frozen, true))
        )
      )
    ),
    (context): Cache => Context.get(context, CacheModule.Cache)
  )

const sorted = (objects: ReadonlyArray<KubeObject>) =>
  new Map(objects.map((object) => [Key.of(object), object] as const).sort(([a], [b]) => (a < b ? -1 : 1)))

export const holds = Effect.fnUntraced(function* (script: Script) {
  const server = new Fake.FakeServer()
  let uid = 0
  const put = (resource: Resource.Any, namespace: string, name: string) => {
    const text = server.kind(resource).objects.get(Key.make(namespace, name))
    const before: KubeObject | undefined = text === undefined ? undefined : JSON.parse(text)
    server.kind(resource).put({ metadata: { namespace, name, uid: before?.metadata.uid ?? `uid-${++uid}` } })
  }
  const isMeant = (place: string) => server.kind(Namespace).objects.has(place)
  const enter = (place: string) => {
    if (!isMeant(place)) server.kind(Namespace).put({ metadata: { name: place, uid: `uid-${++uid}` } })
  }
  const leave = (place: string) => {
    if (isMeant(place)) server.kind(Namespace).remove(place)
  }
  for (const resource of kinds) for (const place of places) put(resource, place, marker)
  server.kind(Node).put({ metadata: { name: "node", uid: "node" } })

  const whole = yield* build(server, {})
  const some = yield* build(server, { namespaces: { labels: [] } })
  const faults: Array<unknown> = []
  const informers: Array<CacheModule.Informer<KubeObject>> = []
  /** Kinds that have synced show the same namespaces at every call of a listener. */
  const together = (): void => {
    const live = informers.filter(({ store }) => store.synced)
    for (const place of places) {
      const shown = live.filter((informer) => isShown(informer, place)).length
      assert.isTrue(shown === 0 || shown === live.length, `${place} is shown by ${shown} of ${live.length} kinds`)
    }
  }
  const known: Array<ReadonlyMap<string, KubeObject>> = []
  const join = Effect.fnUntraced(function* (resource: Resource.Any) {
    const informer = yield* some.subscribe(resource)
    informers.push(informer)
    yield* Effect.addFinalizer(() => Effect.sync(() => informers.splice(informers.indexOf(informer), 1)))
    const one = listener(faults, together)
    yield* informer.onDeltas(one.onDeltas)
    return one.known
  })
  for (const resource of kinds) yield* whole.subscribe(resource)
  if (script.length % 2 === 0) enter("n0")
  for (const resource of kinds.slice(0, 2)) known.push(yield* join(resource))
  yield* some.subscribe(Node)
  // A read waits until the selected namespaces are known.
  if (script.length % 4 === 0) {
    const first = yield* Effect.forkChild(some.list(Pod), { startImmediately: true })
    for (let i = 0; i < 5; i++) yield* TestClock.adjust("1 millis")
    const answer = first.pollUnsafe()
    if (answer === undefined) throw new Error("the first read is not answered")
    assert.strictEqual((yield* answer).length, 1)
  }
  let guest: Scope.Closeable | undefined

  for (const { act, kind, name, place, turn } of script) {
    if (turn) yield* TestClock.adjust("1 millis")
    const resource = kinds[kind] ?? Pod
    const there = server.kind(resource)
    switch (act) {
      case "put":
        put(resource, place, name)
        break
      case "remove":
      case "recreate":
        if (there.objects.has(Key.make(place, name))) there.remove(Key.make(place, name))
        if (act === "recreate") put(resource, place, name)
        break
      case "enter":
        enter(place)
        break
      case "leave":
        leave(place)
        break
      case "reenter":
        leave(place)
        enter(place)
        break
      case "split":
        // The namespace is selected while one kind cannot be read.
        leave(place)
        there.failure = Fake.unreachable(resource)
        there.cut(there.failure)
        enter(place)
        yield* TestClock.adjust("1 millis")
        break
      case "wait":
        yield* TestClock.adjust("40 seconds")
        break
      case "cut":
        there.cut(Fake.unreachable(resource))
        break
      case "lose":
        server.kind(name === "a" ? Namespace : resource).expire()
        break
      case "fail":
        there.failure = Fake.unreachable(resource)
        there.cut(there.failure)
        break
      case "heal":
        there.failure = undefined
        break
      case "join": {
        if (guest !== undefined) break
        guest = yield* Scope.make()
        yield* Scope.provide(join(Secret), guest)
        break
      }
      case "part":
        if (guest !== undefined) yield* Scope.close(guest, Exit.void)
        guest = undefined
        break
    }
  }
  for (const resource of kinds) server.kind(resource).failure = undefined
  if (guest !== undefined) yield* Scope.close(guest, Exit.void)
  for (let i = 0; i < 20; i++) yield* TestClock.adjust("40 seconds")
  if (faults.length > 0) throw faults[0]
  together()
  for (const { store } of informers) assert.isTrue(store.synced)
  for (const [index, resource] of kinds.slice(0, 2).entries()) {
    const expected = (yield* whole.list(resource)).filter(({ metadata }) => isMeant(metadata.namespace ?? ""))
    const found = yield* some.list(resource)
    assert.deepStrictEqual(sorted(found), sorted(expected), resource.plural)
    assert.deepStrictEqual(sorted([...(known[index]?.values() ?? [])]), sorted(expected), "what was told")
    for (const namespace of places) {
      const here = expected.filter(({ metadata }) => metadata.namespace === namespace)
      assert.deepStrictEqual(sorted(yield* some.list(resource, { namespace })), sorted(here), "by namespace")
    }
  }
  assert.deepStrictEqual((yield* some.list(Node)).length, 1)
  assert.strictEqual(yield* some.outstanding, 0)
})
