/** How many pods a budget expects and wants, against a table in the words of the contract. */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Expectation from "../../../src/controllers/disruption/expectation.ts"
import { int, law, oneOf, prove } from "../../support/laws.ts"

const amount = oneOf(0, 1, 2, 3, 7, "0%", "1%", "33%", "50%", "100%", "some", "")
const worlds = Arbitrary.all({ value: amount, pods: int(0, 9), scale: int(0, 9) })

type Module = typeof Expectation

const read = (module: Module, spec: object, counts: { readonly pods: number; readonly scale: number }) => {
  const found = module.of(spec, counts)
  return Result.isSuccess(found) ? [found.success.expected, found.success.desired] : found.failure
}

const percent = (value: string | number): number | undefined =>
  typeof value === "string" && value.endsWith("%") ? Number(value.slice(0, -1)) : undefined

/** Whole pods, rounded up: with integers alone. */
const upward = (share: number, of: number): number => Math.trunc((share * of + 99) / 100)

const noShare = "invalid value for IntOrString: invalid type: string is not a percentage"

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

prove<Module>({
  path: "controllers/disruption/expectation.ts",
  module: Expectation,
  laws: [
    law("so many may be missing: of the sizes of the controllers", worlds, (module, { value, ...counts }) => {
      const share = percent(value)
      const found = read(module, { maxUnavailable: value }, counts)
      if (typeof value === "string" && share === undefined) return found === noShare
      const some = typeof value === "number" ? value : upward(share ?? 0, counts.scale)
      return isEqual(found, [counts.scale, Math.max(0, counts.scale - some)])
    }),
    law(
      "so many have to be there: a number of the pods, a share of the sizes",
      worlds,
      (module, { value, ...counts }) => {
        const share = percent(value)
        const found = read(module, { minAvailable: value }, counts)
        if (typeof value === "number") return isEqual(found, [counts.pods, value])
        return share === undefined ? found === noShare : isEqual(found, [counts.scale, upward(share, counts.scale)])
      }
    ),
    law("neither of the two expects nothing", worlds, (module, { pods, scale }) =>
      isEqual(read(module, {}, { pods, scale }), [0, 0])
    ),
    law("sizes are asked for when they count, and only then", worlds, ({ needsScale }, { value }) =>
      [
        needsScale({ maxUnavailable: value }),
        needsScale({ minAvailable: value }) === (typeof value === "string"),
        !needsScale({}),
        !needsScale(undefined)
      ].every(Boolean)
    )
  ],
  mutants: [
    { title: "shares are rounded down", find: 'of, "up")', replace: 'of, "down")' },
    { title: "more may be missing than there are", find: "Math.max(0, scale - some)", replace: "scale - some" },
    {
      title: "a number is of the sizes",
      find: "expected: pods, desired: minAvailable",
      replace: "expected: scale, desired: minAvailable"
    },
    {
      title: "a share is of the pods",
      find: "Result.map(share(minAvailable, scale), (some) => ({ expected: scale,",
      replace: "Result.map(share(minAvailable, pods), (some) => ({ expected: pods,"
    },
    {
      title: "no word is all",
      find: "Result.succeed({ expected: 0, desired: 0 })",
      replace: "Result.succeed({ expected: pods, desired: 0 })"
    },
    {
      title: "sizes are not asked for shares",
      find: '|| typeof spec?.minAvailable === "string"',
      replace: '|| typeof spec?.minAvailable === "bigint"'
    },
    {
      title: "sizes are asked for numbers",
      find: 'typeof spec?.minAvailable === "string"',
      replace: "spec?.minAvailable !== undefined"
    },
    {
      title: "any text is a share",
      find: 'some === undefined\n    ? Result.fail("invalid value for IntOrString: invalid type: string is not a percentage")\n    : Result.succeed(some)',
      replace: "Result.succeed(some ?? 0)"
    }
  ]
})
