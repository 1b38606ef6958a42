/** A ring of values with a limit on their size, compared with a list of all values. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { Ring } from "../../../src/layers/timeline/Ring.ts"
import { checkProperty } from "../../support/property.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

// The sizes are pushed again and again, so that the ring also removes many dropped values at once; single values may exceed the limit.
const pushes = Arbitrary.schema(
  Schema.Struct({
    limit: between(1, 3000),
    sizes: Schema.Array(between(1, 60)).check(Schema.isMinLength(1), Schema.isMaxLength(20)),
    count: between(1, 5000)
  })
)

/** The id of the first value that is kept: the latest values that fit into the limit are. */
const firstKept = (sizes: ReadonlyArray<number>, limit: number): number => {
  let total = 0
  for (let id = sizes.length - 1; id >= 0; id--) {
    total += sizes[id] ?? 0
    if (total > limit) return id + 1
  }
  return 0
}

describe("Ring", () => {
  checkProperty(
    "keeps the latest values that fit into its limit, in their order and by their ids",
    pushes,
    ({ count, limit, sizes }) => {
      const ring = new Ring<number>(limit)
      const all: Array<number> = []
      while (all.length < count) {
        const size = sizes[all.length % sizes.length] ?? 1
        ring.push(all.length, size)
        all.push(size)
      }
      const first = firstKept(all, limit)
      return (
        ring.next === count &&
        ring.first === first &&
        ring.size === all.slice(first).reduce((sum, size) => sum + size, 0) &&
        all.every((_, id) => ring.get(id) === (id < first ? undefined : id)) &&
        ring.get(count) === undefined
      )
    }
  )
})
