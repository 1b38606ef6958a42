/** How the time of a stop is divided. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Budget from "../../../src/layers/shutdown/budget.ts"
import { checkProperty } from "../../support/property.ts"

/** A timeout of -1 stands for none. */
const Situation = Schema.Struct({
  mode: Schema.Literals(["drain", "interrupt"]),
  timeout: Schema.Union([
    Schema.Literals([0, -1]),
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20_000 })),
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 600_000 }))
  ])
})

const stages = ["drain", "release", "flush", "end"] as const

const checkLimits = (title: string, holds: (options: Budget.Options) => boolean): void =>
  checkProperty(title, Arbitrary.schema(Situation), ({ mode, timeout }) =>
    holds({ mode, timeout: timeout < 0 ? Infinity : timeout })
  )

describe("Budget.limits", () => {
  checkLimits("no stage is over before the one before it, or later than the end", (situation) => {
    const all = stages.map((stage) => Budget.limits(situation)[stage])
    return all.every((limit, index) => limit >= 0 && limit >= (all[index - 1] ?? 0))
  })

  checkLimits("all of it is over when the timeout is, and without one never", (situation) =>
    situation.timeout > 0
      ? Budget.limits(situation).end === situation.timeout
      : Budget.limits(situation).end === Budget.reserve
  )

  checkLimits(
    "work gets no time exactly if it is to be interrupted or there is none",
    (situation) =>
      (Budget.limits(situation).drain === 0) === (situation.mode === "interrupt" || situation.timeout === 0)
  )

  checkLimits("after the work there is time for each stage, however long the work took", (situation) => {
    const { drain, end, flush, release } = Budget.limits(situation)
    return end === Infinity || (drain < release && release < flush && flush < end)
  })

  checkLimits("the reserve takes a quarter of the time at most, and never more than two seconds", (situation) => {
    const { drain, end } = Budget.limits(situation)
    if (situation.mode === "interrupt" || situation.timeout === 0 || end === Infinity) return true
    return end - drain <= 2000 && drain >= 0.75 * end
  })
})
