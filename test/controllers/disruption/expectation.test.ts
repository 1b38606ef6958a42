import { describe } from "@effect/vitest"
/** The expected and desired pods of a budget, compared with a table of the rules. */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Expectation from "../../../src/controllers/disruption/expectation.ts"
import { checkProperty, int, oneOf } from "../../support/property.ts"

const amount = oneOf(0, 1, 2, 3, 7, "0%", "1%", "33%", "50%", "100%", "some", "")
const cases = Arbitrary.all({ value: amount, pods: int(0, 9), scale: int(0, 9) })
const read = (spec: object, counts: { readonly pods: number; readonly scale: number }) => {
  const found = Expectation.of(spec, counts)
  return Result.isSuccess(found) ? [found.success.expected, found.success.desired] : found.failure
}

const percent = (value: string | number): number | undefined =>
  typeof value === "string" && value.endsWith("%") ? Number(value.slice(0, -1)) : undefined

/** Rounded up, computed with integers only. */
const upward = (share: number, of: number): number => Math.trunc((share * of + 99) / 100)

const noShare = "invalid value for IntOrString: invalid type: string is not a percentage"

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

describe("Expectation", () => {
  checkProperty("maxUnavailable counts against the sizes of the controllers", cases, ({ value, ...counts }) => {
    const share = percent(value)
    const found = read({ maxUnavailable: value }, counts)
    if (typeof value === "string" && share === undefined) return found === noShare
    const some = typeof value === "number" ? value : upward(share ?? 0, counts.scale)
    return isEqual(found, [counts.scale, Math.max(0, counts.scale - some)])
  })

  checkProperty("minAvailable is a number of the pods, or a percentage of the sizes", cases, ({ value, ...counts }) => {
    const share = percent(value)
    const found = read({ minAvailable: value }, counts)
    if (typeof value === "number") return isEqual(found, [counts.pods, value])
    return share === undefined ? found === noShare : isEqual(found, [counts.scale, upward(share, counts.scale)])
  })

  checkProperty("neither field expects nothing", cases, ({ pods, scale }) => isEqual(read({}, { pods, scale }), [0, 0]))

  checkProperty("sizes are read only if they count", cases, ({ value }) =>
    [
      Expectation.needsScale({ maxUnavailable: value }),
      Expectation.needsScale({ minAvailable: value }) === (typeof value === "string"),
      !Expectation.needsScale({}),
      !Expectation.needsScale(undefined)
    ].every(Boolean)
  )
})
