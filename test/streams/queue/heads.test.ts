/** Reading the next items without removing them returns those that would be removed next, after any history. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as DueHeap from "../../../src/streams/queue/dueHeap.ts"
import * as ReadyList from "../../../src/streams/queue/readyList.ts"
import { checkProperty } from "../../support/property.ts"

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Times or priorities that are inserted, and how many of them are removed before the read. */
const history = Arbitrary.schema(
  Schema.Struct({ entries: Schema.Array(int(0, 6)), taken: int(0, 4), limit: int(0, 8) })
)

interface Waiting extends DueHeap.Item {
  readonly name: number
}

describe("DueHeap.first", () => {
  checkProperty(
    "the items due first are those that would be taken first, and they stay in the heap",
    history,
    ({ entries, limit, taken }) => {
      const heap = new DueHeap.DueHeap<Waiting>()
      entries.forEach((due, name) => heap.insert({ name, due: 0, slot: -1, rank: 0 }, due))
      const takeOne = (): Waiting | undefined => {
        const item = heap.peek()
        if (item !== undefined) heap.remove(item)
        return item
      }
      for (let n = 0; n < taken; n++) takeOne()
      const size = heap.size
      const first = heap.first(limit)
      if (heap.size !== size || first.length !== Math.min(limit, size)) return false
      return first.every((item) => takeOne() === item)
    }
  )
})

interface Ready extends ReadyList.Item<Ready> {
  readonly name: number
}

describe("ReadyList.first", () => {
  checkProperty(
    "the first items are those that would be taken first, and they stay in the list",
    history,
    ({ entries, limit, taken }) => {
      const list = new ReadyList.ReadyList<Ready>(undefined, () => 0)
      entries.forEach((level, name) => {
        const priority = level - 3
        list.push({ name, priority, sequence: 0, since: 0, previous: undefined, next: undefined })
      })
      for (let n = 0; n < taken; n++) list.shift()
      const { size } = list
      const first = list.first(limit)
      if (list.size !== size || first.length !== Math.min(limit, size)) return false
      return first.every((item) => list.shift() === item)
    }
  )
})
