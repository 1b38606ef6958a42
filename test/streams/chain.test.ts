import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { Chain, type Link } from "../../src/streams/chain.ts"
import { checkProperty } from "../support/property.ts"

const index = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 }))
const steps = Schema.Array(
  Schema.Struct({ does: Schema.Literals(["add", "delete", "moveLast", "shift", "clear"]), index })
)

describe("Chain", () => {
  checkProperty(
    "has what came and has not gone, in the order of arrival, whichever links are removed and how often",
    Arbitrary.schema(steps),
    (all) => {
      const chain = new Chain<number>()
      const links: Array<Link<number>> = []
      let expected: Array<number> = []
      for (const step of all) {
        const link = links[step.index]
        const had = expected.includes(step.index)
        if (step.does === "add") {
          expected.push(links.length)
          links.push(chain.add(links.length))
        } else if (step.does === "shift") {
          if (chain.shift() !== expected.shift()) return false
        } else if (step.does === "clear" && step.index === 0) {
          chain.clear()
          expected = []
        } else if (link !== undefined && step.does === "delete") {
          expected = expected.filter((one) => one !== step.index)
          if (chain.delete(link) !== had) return false
        } else if (link !== undefined && step.does === "moveLast") {
          chain.moveLast(link)
          if (had) expected = [...expected.filter((one) => one !== step.index), step.index]
        }
        if (chain.first?.value !== expected[0]) return false
        if (JSON.stringify(chain.values()) !== JSON.stringify(expected)) return false
      }
      return true
    }
  )

  it("keeps nothing in a removed link: neither its value nor its neighbours", () => {
    const chain = new Chain<string>()
    const [first, second, third] = [chain.add("a"), chain.add("b"), chain.add("c")]
    for (const link of [second, first, third]) chain.delete(link)
    for (const link of [first, second, third])
      assert.deepStrictEqual(Object.values(link), [undefined, undefined, undefined])
  })
})
