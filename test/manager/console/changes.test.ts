/** Change sets: whoever applies them has the state of the store, whatever happens between two messages. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Changes from "../../../src/manager/console/changes.ts"
import type * as Protocol from "../../../src/manager/console/protocol.ts"
import { checkProperty } from "../../support/property.ts"

interface Shown {
  readonly key: string
  readonly value: number
}

/** What a page does with a change set. */
const apply = (state: Map<string, number>, { changed, removed, reset }: Protocol.Changes<Shown>): void => {
  if (reset) state.clear()
  for (const { key, value } of changed) state.set(key, value)
  for (const key of removed) state.delete(key)
}

const standing = (most: number) => {
  const store = new Map<string, number>()
  const source = {
    keys: () => [...store.keys()],
    get: (key: string) => (store.has(key) ? { key, value: store.get(key) ?? 0 } : undefined)
  }
  return { store, pending: new Changes.Pending<Shown, Shown>(source, (one) => one, most) }
}

/** Sets a key, deletes it, or takes a message of a few changes. */
const Step = Schema.Struct({
  what: Schema.Literals(["set", "delete", "take"]),
  key: Schema.Literals(["a", "b", "c", "d", "e"]),
  value: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))
})

describe("change sets of a store", () => {
  for (const most of [1, 3, 100]) {
    checkProperty(
      `applied in their order give the state of the store, with at most ${most} remembered keys`,
      Arbitrary.schema(Schema.Array(Step)),
      (steps) => {
        const { pending, store } = standing(most)
        const page = new Map<string, number>()
        for (const { key, value, what } of steps) {
          if (what === "take") {
            apply(page, pending.take(value))
            continue
          }
          if (what === "set") store.set(key, value)
          else store.delete(key)
          pending.mark(key)
        }
        while (pending.hasChanged) apply(page, pending.take(2))
        return page.size === store.size && [...store].every(([key, value]) => page.get(key) === value)
      }
    )
  }

  it("a key that changes often is sent once, with its last state", () => {
    const { pending, store } = standing(100)
    pending.take(10)
    for (let value = 0; value < 1000; value++) {
      store.set("a", value)
      pending.mark("a")
    }
    assert.deepStrictEqual(pending.take(10), { reset: false, changed: [{ key: "a", value: 999 }], removed: [] })
    assert.isFalse(pending.hasChanged)
  })

  it("beyond the limit of remembered keys the whole is sent again, in parts", () => {
    const { pending, store } = standing(2)
    pending.take(10)
    for (const key of ["a", "b", "c"]) {
      store.set(key, 1)
      pending.mark(key)
    }
    assert.deepStrictEqual(pending.take(2), {
      reset: true,
      changed: [
        { key: "a", value: 1 },
        { key: "b", value: 1 }
      ],
      removed: []
    })
    assert.deepStrictEqual(pending.take(2), {
      reset: false,
      rest: true,
      changed: [{ key: "c", value: 1 }],
      removed: []
    })
    pending.mark("a")
    assert.deepStrictEqual(pending.take(2), { reset: false, changed: [{ key: "a", value: 1 }], removed: [] })
  })
})
