/** Sampling of repeated messages. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Module from "../../../src/manager/logs/Logs.ts"
import { checkProperty } from "../../support/property.ts"

const int = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

const within = Arbitrary.schema(
  Schema.Struct({
    second: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })),
    count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
    spread: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999 }))
  })
)

/** Logs the message so many times, and counts the lines that pass. */
const passing = (sampler: Module.Sampler, message: string, count: number, millis: number): number => {
  let passed = 0
  for (let i = 0; i < count; i++) if (sampler.admits("Info", message, millis)) passed++
  return passed
}

/** How many of n equal lines within a second pass. */
const expected = (n: number): number => Math.min(n, 100) + Math.floor(Math.max(0, n - 100) / 100)

describe("Module", () => {
  checkProperty(
    "of lines that are alike, a hundred a second pass, and every hundredth of the rest",
    within,
    ({ count, second, spread }) => {
      const sampler = new Module.Sampler()
      const early = passing(sampler, "a", Math.floor(count / 2), second * 1000)
      const late = passing(sampler, "a", count - Math.floor(count / 2), second * 1000 + spread)
      return early + late === expected(count)
    }
  )

  checkProperty("a new second begins anew", int(1, 500), (count) => {
    const sampler = new Module.Sampler()
    passing(sampler, "a", count, 1999)
    return passing(sampler, "a", 100, 2000) === 100
  })

  checkProperty("other messages and levels are counted apart", int(100, 500), (count) => {
    const sampler = new Module.Sampler()
    passing(sampler, "a", count, 0)
    return sampler.admits("Info", "b", 0) && sampler.admits("Warn", "a", 0)
  })

  checkProperty("messages without end are not remembered without end", int(2000, 4000), (count) => {
    const sampler = new Module.Sampler()
    for (let i = 0; i < count; i++) sampler.admits("Info", `message ${i}`, 0)
    return [...(Reflect.get(sampler, "counts") as Map<string, number>).keys()].length <= 1025
  })
})
