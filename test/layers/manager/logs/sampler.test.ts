/** What is thinned out of the logs: the laws, and mutants that break them. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Module from "../../../../src/layers/manager/logs/sampler.ts"
import { law, prove } from "../../../support/laws.ts"

const int = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

const within = Arbitrary.schema(
  Schema.Struct({
    second: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })),
    count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
    spread: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999 }))
  })
)

/** Says it so many times and counts what passes. */
const passing = (sampler: Module.Sampler, message: string, count: number, millis: number): number => {
  let passed = 0
  for (let i = 0; i < count; i++) if (sampler.admits("Info", message, millis)) passed++
  return passed
}

/** Of n lines that are alike, within a second. */
const expected = (n: number): number => Math.min(n, 100) + Math.floor(Math.max(0, n - 100) / 100)

prove({
  path: "layers/manager/logs/sampler.ts",
  module: Module,
  laws: [
    law<typeof Module, typeof within extends Arbitrary.Arbitrary<infer A> ? A : never>(
      "of lines that are alike, a hundred a second pass, and every hundredth of the rest",
      within,
      ({ Sampler }, { count, second, spread }) => {
        const sampler = new Sampler()
        const early = passing(sampler, "a", Math.floor(count / 2), second * 1000)
        const late = passing(sampler, "a", count - Math.floor(count / 2), second * 1000 + spread)
        return early + late === expected(count)
      }
    ),
    law<typeof Module, number>("a new second begins anew", int(1, 500), ({ Sampler }, count) => {
      const sampler = new Sampler()
      passing(sampler, "a", count, 1999)
      return passing(sampler, "a", 100, 2000) === 100
    }),
    law<typeof Module, number>("other messages and levels are counted apart", int(100, 500), ({ Sampler }, count) => {
      const sampler = new Sampler()
      passing(sampler, "a", count, 0)
      return sampler.admits("Info", "b", 0) && sampler.admits("Warn", "a", 0)
    }),
    law<typeof Module, number>(
      "messages without end are not remembered without end",
      int(2000, 4000),
      (module, count) => {
        const sampler = new module.Sampler()
        for (let i = 0; i < count; i++) sampler.admits("Info", `message ${i}`, 0)
        return [...(Reflect.get(sampler, "counts") as Map<string, number>).keys()].length <= 1025
      }
    )
  ],
  mutants: [
    { title: "the limit is one less", find: "const first = 100", replace: "const first = 99" },
    { title: "nothing passes after the first", find: " || (count - first) % thereafter === 0", replace: "" },
    { title: "a second never ends", find: "this.counts.clear()", replace: "" },
    { title: "levels share a count", find: "`${level} ${message}`", replace: "`${message}`" },
    { title: "every message is remembered", find: "|| this.counts.size < most ?", replace: "|| true ?" }
  ]
})
