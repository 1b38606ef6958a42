import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Delta } from "../../../src/streams/store/Store.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Buffer from "../../../src/layers/cache/Buffer.ts"
import * as Outstanding from "../../../src/layers/cache/Buffer.ts"
import { runs } from "../../support/runs.ts"

interface Thing extends KubeObject {
  readonly n: number
}

const thing = (name: string, uid: number, n: number): Thing => ({ metadata: { name, uid: String(uid) }, n })

type Step = { readonly key: string; readonly act: "put" | "delete" | "recreate" | "take" }

const steps = Arbitrary.schema(
  Schema.Array(
    Schema.Struct({
      key: Schema.Literals(["a", "b"]),
      act: Schema.Literals(["put", "put", "delete", "recreate", "take"])
    })
  )
)

/** The objects that a subscriber knows; each delta must be consistent with the deltas before it. */
const subscriber = () => {
  const known = new Map<string, Thing>()
  return {
    known,
    apply: (delta: Delta<Thing>): void => {
      const key = delta.object.metadata.name
      const before = known.get(key)
      if (delta._tag === "Created") assert.isUndefined(before, "created, but known")
      else assert.isDefined(before, `${delta._tag.toLowerCase()}, but unknown`)
      if (delta._tag === "Updated") {
        assert.strictEqual(delta.previous, before, "previous is not what was told last")
        assert.strictEqual(delta.object.metadata.uid, before?.metadata.uid, "another object under an update")
      }
      if (delta._tag === "Deleted") assert.strictEqual(delta.object.metadata.uid, before?.metadata.uid)
      if (delta._tag === "Deleted") known.delete(key)
      else known.set(key, delta.object)
    }
  }
}

/** Applying merged deltas leads to the same objects as applying all of them. */
const agrees = (script: ReadonlyArray<Step>): void => {
  const all = subscriber()
  const some = subscriber()
  const pending = new Map<string, Buffer.Pending<Thing>>()
  let uid = 0
  const take = () => {
    for (const { deleted, present } of pending.values()) {
      if (deleted !== undefined) some.apply(deleted)
      if (present !== undefined) some.apply(present)
    }
    pending.clear()
  }
  const emit = (delta: Delta<Thing>) => {
    all.apply(delta)
    const key = delta.object.metadata.name
    const merged = Buffer.merge(pending.get(key), delta)
    if (merged === undefined) pending.delete(key)
    else pending.set(key, merged)
  }
  script.forEach(({ act, key }, n) => {
    const present = all.known.get(key)
    if (act === "take") return take()
    if (present === undefined) {
      if (act === "put") emit({ _tag: "Created", object: thing(key, ++uid, n), initial: false })
    } else if (act === "put") {
      emit({ _tag: "Updated", object: { ...present, n }, previous: present })
    } else {
      emit({ _tag: "Deleted", object: { ...present, n }, stateUnknown: false })
      if (act === "recreate") emit({ _tag: "Created", object: thing(key, ++uid, n), initial: false })
    }
  })
  const told = new Set(some.known.values())
  for (const { deleted, present } of pending.values()) {
    assert.isDefined(deleted ?? present, "an empty entry is kept")
    if (deleted !== undefined) continue
    if (present?._tag === "Updated") assert.isTrue(told.has(present.previous), "an update of something never told")
  }
  take()
  assert.deepStrictEqual(some.known, all.known)
}

describe("coalescing", () => {
  it.prop(
    "merged deltas lead to the same state, and each is consistent with the deltas before it",
    { script: steps },
    ({ script }) => agrees(script),
    { arbitrary: { runs: runs(1000) } }
  )
})

describe("Buffer", () => {
  const created = (name: string, n = 0): Delta<Thing> => ({
    _tag: "Created",
    object: thing(name, 1, n),
    initial: false
  })
  const deleted = (name: string): Delta<Thing> => ({ _tag: "Deleted", object: thing(name, 1, 9), stateUnknown: false })

  it("holds at most one object for each key, and is empty after ten thousand creations and deletions", () => {
    const outstanding = Outstanding.makeOutstanding()
    const buffer = Buffer.make<Thing>(outstanding)
    for (let i = 0; i < 10_000; i++) {
      buffer.offerUnsafe([created("a", i)])
      assert.strictEqual(outstanding.count(), 1)
      buffer.offerUnsafe([deleted("a")])
      assert.strictEqual(outstanding.count(), 0)
    }
    assert.deepStrictEqual(buffer.takeAllUnsafe(), [])
  })

  it.effect("counts the deltas that were taken until the subscriber takes the next", () =>
    Effect.gen(function* () {
      const outstanding = Outstanding.makeOutstanding()
      const buffer = Buffer.make<Thing>(outstanding)
      buffer.offerUnsafe([created("a"), created("b")])
      const chunk = yield* Effect.orDie(buffer.pull)
      assert.deepStrictEqual(
        chunk.map((delta) => delta.object.metadata.name),
        ["a", "b"]
      )
      assert.strictEqual(outstanding.count(), 2)
      assert.deepStrictEqual(buffer.takeAllUnsafe(), [])
      assert.strictEqual(outstanding.count(), 0)
      yield* outstanding.settled
    })
  )

  it("has nothing outstanding after its subscription has ended", () => {
    const outstanding = Outstanding.makeOutstanding()
    const buffer = Buffer.make<Thing>(outstanding)
    buffer.offerUnsafe([created("a"), created("b")])
    buffer.takeAllUnsafe()
    buffer.offerUnsafe([created("c"), deleted("a")])
    buffer.closeUnsafe()
    assert.strictEqual(outstanding.count(), 0)
  })
})
