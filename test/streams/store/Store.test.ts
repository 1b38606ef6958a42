import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type { Change } from "../../../src/streams/watch/protocol.ts"
import { reflect } from "../../../src/streams/watch/watch.ts"
import * as Store from "../../../src/streams/store/Store.ts"
import { runs } from "../../support/runs.ts"
import { operations } from "../arbitraries.ts"
import { check } from "./storeModel.ts"
import { words } from "../watch/watchServer.ts"

const pod = (name: string, resourceVersion: string, uid = "u", extra: object = {}): KubeObject => ({
  metadata: { name, namespace: "ns", uid, resourceVersion, ...extra }
})

const listed = (resourceVersion: string, ...objects: ReadonlyArray<KubeObject>): ReadonlyArray<Change<KubeObject>> => [
  { _tag: "Restarted" },
  { _tag: "Listed", objects },
  { _tag: "Synced", resourceVersion }
]

const changed = (type: "ADDED" | "MODIFIED" | "DELETED", object: KubeObject): Change<KubeObject> => ({
  _tag: "Changed",
  events: [{ type, object }],
  resourceVersion: object.metadata.resourceVersion ?? ""
})

const applyAll = (store: Store.Store<KubeObject>, changes: ReadonlyArray<Change<KubeObject>>) =>
  changes.flatMap((change) => store.apply(change))

describe("Store", () => {
  it.prop(
    "equals a reference that recomputes everything, for random changes",
    { operations },
    ({ operations }) => {
      assert.isUndefined(check(operations))
    },
    { arbitrary: { runs: runs(500) } }
  )

  it("is empty and not synced at first, and synced from the first full state on", () => {
    const store = Store.make<KubeObject>()
    assert.deepStrictEqual([store.size, store.synced, store.resourceVersion], [0, false, undefined])
    store.apply({ _tag: "Restarted" })
    store.apply({ _tag: "Listed", objects: [pod("a", "1")] })
    assert.deepStrictEqual([store.size, store.synced], [0, false])
    store.apply({ _tag: "Synced", resourceVersion: "9" })
    assert.deepStrictEqual([store.size, store.synced, store.resourceVersion], [1, true, "9"])
    store.apply({ _tag: "Restarted" })
    assert.deepStrictEqual([store.size, store.synced, store.resourceVersion], [1, true, "9"])
  })

  it("marks the objects of the first list as initial, and no others", () => {
    const store = Store.make<KubeObject>()
    const deltas = applyAll(store, [
      ...listed("2", pod("a", "1")),
      changed("ADDED", pod("b", "3")),
      ...listed("5", pod("a", "1"), pod("b", "3"), pod("c", "4"))
    ])
    assert.deepStrictEqual(
      deltas.map((delta) => delta._tag === "Created" && delta.initial),
      [true, false, false]
    )
    assert.deepStrictEqual(
      store.replay().map(({ initial, object }) => `${object.metadata.name} ${initial}`),
      ["a true", "b true", "c true"]
    )
  })

  it("a relist yields deletions, and keeps unchanged objects without a delta", () => {
    const store = Store.make<KubeObject>()
    applyAll(store, listed("3", pod("a", "1"), pod("b", "2"), pod("c", "3", "old")))
    const a = store.get("ns/a")
    const deltas = applyAll(store, listed("9", pod("a", "1"), pod("c", "8", "new")))
    assert.deepStrictEqual(words(deltas), ["Deleted? ns/b", "Deleted? ns/c", "Created ns/c"])
    assert.strictEqual(store.get("ns/a"), a)
  })

  it("ignores a state that is the stored one or older", () => {
    const store = Store.make<KubeObject>()
    applyAll(store, listed("10", pod("a", "10")))
    const late = [
      changed("MODIFIED", pod("a", "9")),
      changed("ADDED", pod("a", "10")),
      changed("DELETED", pod("a", "9"))
    ]
    assert.deepStrictEqual(applyAll(store, late), [])
    assert.deepStrictEqual(words(applyAll(store, [changed("DELETED", pod("a", "11"))])), ["Deleted ns/a"])
    assert.deepStrictEqual(applyAll(store, [changed("DELETED", pod("a", "11"))]), [])
  })

  it("accepts any other version as newer if versions are not numbers", () => {
    const store = Store.make<KubeObject>()
    applyAll(store, listed("x", pod("a", "etag-b")))
    assert.deepStrictEqual(words(applyAll(store, [changed("MODIFIED", pod("a", "etag-a"))])), ["Updated ns/a"])
  })

  it("an index that is added later has the present objects; a function that throws leaves out only one object", () => {
    const store = Store.make<KubeObject>()
    applyAll(store, listed("3", pod("a", "1"), pod("b", "2")))
    store.addIndex("initial", (object) => {
      if (object.metadata.name === "b") throw new Error("no")
      return ["x", "x"]
    })
    store.addIndex("initial", () => ["another function"])
    assert.deepStrictEqual(store.keysByIndex("initial", "x"), ["ns/a"])
    assert.deepStrictEqual([store.byIndex("nope", "x"), store.byIndex("initial", "nope")], [[], []])
    applyAll(store, [changed("DELETED", pod("a", "5"))])
    assert.deepStrictEqual(store.keysByIndex("initial", "x"), [])
    assert.deepStrictEqual([store.hasIndex("initial"), store.hasIndex("nope")], [true, false])
  })

  it("freezes objects deeply, on arrival or when they are read", () => {
    for (const freeze of [true, "onRead"] as const) {
      const store = Store.make<KubeObject>({ freeze })
      applyAll(store, listed("3", pod("a", "1", "u", { finalizers: ["f"] })))
      applyAll(store, [changed("ADDED", pod("b", "4", "u", { labels: { x: "y" } }))])
      const a = store.get("ns/a")
      assert.isTrue(Object.isFrozen(a) && Object.isFrozen(a?.metadata) && Object.isFrozen(a?.metadata.finalizers))
      assert.isTrue(store.list().every((object) => Object.isFrozen(object.metadata)))
      assert.isTrue(Object.isFrozen(store.byIndex("namespace", "ns")[1]?.metadata.labels))
    }
  })
})

describe("reflect", () => {
  it.effect("updates the store before it emits the deltas, with one array for a chunk of changes", () =>
    Effect.gen(function* () {
      const store = Store.make<KubeObject>()
      const sizes: Array<ReadonlyArray<number>> = []
      const changes = Stream.concat(
        Stream.rechunk(Stream.fromArray(listed("3", pod("a", "1"), pod("b", "2"))), 1),
        Stream.fromArray([changed("ADDED", pod("c", "4")), changed("DELETED", pod("a", "5"))])
      )
      yield* Stream.runForEachArray(reflect(changes, store), (deltas) =>
        Effect.sync(() => sizes.push([deltas.length, store.size]))
      )
      assert.deepStrictEqual(sizes, [
        [2, 2],
        [2, 2]
      ])
    })
  )
})
