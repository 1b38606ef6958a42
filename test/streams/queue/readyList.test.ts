import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as DueHeap from "../../../src/streams/queue/dueHeap.ts"
import * as ReadyList from "../../../src/streams/queue/readyList.ts"
import { runs } from "../../support/runs.ts"

interface Item extends ReadyList.Item<Item> {
  readonly id: number
}

const item = (id: number, priority: number): Item => ({
  id,
  priority,
  sequence: 0,
  since: 0,
  previous: undefined,
  next: undefined
})

const Step = Schema.Union([
  Schema.Struct({ do: Schema.Literal("push"), priority: Schema.Literals([0, -100, 10, -100, 0, -30, 20]) }),
  Schema.Struct({
    do: Schema.Literals(["shift", "remove"]),
    at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
  }),
  Schema.Struct({
    do: Schema.Literal("wait"),
    millis: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60_000 }))
  })
])
type Step = typeof Step.Type

const program = Arbitrary.array(Arbitrary.schema(Step), { maxLength: 200 })

/** Compares the list with an array that is searched for the next item each time. */
const ordered = (steps: ReadonlyArray<Step>): boolean => {
  let now = 0
  const list = new ReadyList.ReadyList<Item>({ levels: 20, interval: 30_000 }, () => now)
  let plain: Array<{ item: Item; since: number }> = []
  const rank = (entry: (typeof plain)[number]): number =>
    entry.item.priority >= 0
      ? entry.item.priority
      : Math.min(0, entry.item.priority + 20 * Math.floor((now - entry.since) / 30_000))
  const drop = (gone: Item | undefined): void => void (plain = plain.filter((entry) => entry.item !== gone))
  steps.forEach((step, id) => {
    if (step.do === "wait") now += step.millis
    else if (step.do === "push") {
      const pushed = item(id, step.priority)
      plain.push({ item: pushed, since: now })
      list.push(pushed)
    } else if (step.do === "remove") {
      const gone = plain[step.at]?.item
      if (gone !== undefined) list.remove(gone)
      drop(gone)
    } else {
      const best = plain.toSorted((a, b) => rank(b) - rank(a) || a.item.id - b.item.id)[0]?.item
      assert.strictEqual(list.shift()?.id, best?.id)
      drop(best)
    }
    assert.strictEqual(list.size, plain.length)
  })
  return true
}

const holds = <A>(arbitrary: Arbitrary.Arbitrary<A>, property: (value: A) => boolean) =>
  Arbitrary.checkEffect(
    arbitrary,
    (value) =>
      Effect.try({
        try: () => property(value),
        catch: (error) => (error instanceof Error ? error.message : String(error))
      }),
    { size: 200, runs: runs(300) }
  )

const Move = Schema.Struct({
  do: Schema.Literals(["insert", "insert", "remove", "shift"]),
  id: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 })),
  due: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))
})

const first = (moves: ReadonlyArray<typeof Move.Type>): boolean => {
  const heap = new DueHeap.DueHeap<DueHeap.Item>()
  const items = Array.from({ length: 31 }, () => ({ due: 0, slot: -1, rank: 0 }))
  let plain: Array<{ id: number; due: number; order: number }> = []
  const drop = (id: number | undefined): void => void (plain = plain.filter((entry) => entry.id !== id))
  moves.forEach((move, order) => {
    const best = plain.toSorted((a, b) => a.due - b.due || a.order - b.order)[0]
    assert.strictEqual(heap.peek(), best === undefined ? undefined : items[best.id])
    const id = move.do === "shift" ? best?.id : move.id
    drop(id)
    if (move.do === "insert") {
      plain.push({ id: move.id, due: move.due, order })
      heap.insert(items[move.id]!, move.due)
    } else if (id !== undefined) heap.remove(items[id]!)
    assert.strictEqual(heap.size, plain.length)
  })
  return true
}

describe("the ready list", () => {
  it.effect("orders items by priority, ageing and arrival", () =>
    Effect.gen(function* () {
      const result = yield* holds(program, ordered)
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    })
  )

  it("reads no clock while all items have one priority", () => {
    let readings = 0
    const list = new ReadyList.ReadyList<Item>({ levels: 20, interval: 30_000 }, () => readings++)
    list.push(item(1, 0))
    list.push(item(2, 0))
    assert.deepStrictEqual([list.shift()?.id, list.shift()?.id, list.shift()], [1, 2, undefined])
    assert.strictEqual(readings, 0)
  })

  it("without ageing a low item waits while there is a normal one", () => {
    let now = 0
    const order = (aging: ReadyList.Aging | undefined): number | undefined => {
      now = 0
      const list = new ReadyList.ReadyList<Item>(aging, () => now)
      list.push(item(1, -100))
      now = 150_000
      list.push(item(2, 0))
      return list.shift()?.id
    }
    assert.deepStrictEqual([order(undefined), order({ levels: 20, interval: 30_000 })], [2, 1])
  })
})

describe("the due heap", () => {
  const moves = Arbitrary.array(Arbitrary.schema(Move), { maxLength: 200 })

  it.effect("returns the item that is due first, equals in the order of arrival", () =>
    Effect.gen(function* () {
      const result = yield* holds(moves, first)
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    })
  )
})
