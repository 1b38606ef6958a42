/** How the time of a shutdown is divided. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Shutdown from "../../../src/layers/Shutdown.ts"
import { checkProperty } from "../../support/property.ts"

/** A timeout of -1 is no limit. */
const Situation = Schema.Struct({
  mode: Schema.Literals(["drain", "interrupt"]),
  timeout: Schema.Union([
    Schema.Literals([0, -1]),
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20_000 })),
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 600_000 }))
  ])
})

/** Milliseconds that are reserved for the stages after `drain`. */
const reserve = 2000

const stages = ["drain", "release", "flush", "end"] as const

const checkLimits = (title: string, holds: (options: typeof Situation.Type) => boolean): void =>
  checkProperty(title, Arbitrary.schema(Situation), ({ mode, timeout }) =>
    holds({ mode, timeout: timeout < 0 ? Infinity : timeout })
  )

describe("Shutdown.limitsOf", () => {
  checkLimits("no stage ends before the previous one, or after the end", (situation) => {
    const all = stages.map((stage) => Shutdown.limitsOf(situation)[stage])
    return all.every((limit, index) => limit >= 0 && limit >= (all[index - 1] ?? 0))
  })

  checkLimits("all of it is over when the timeout is, and without one never", (situation) =>
    situation.timeout > 0
      ? Shutdown.limitsOf(situation).end === situation.timeout
      : Shutdown.limitsOf(situation).end === reserve
  )

  checkLimits(
    "work gets no time exactly if it is to be interrupted or there is none",
    (situation) =>
      (Shutdown.limitsOf(situation).drain === 0) === (situation.mode === "interrupt" || situation.timeout === 0)
  )

  checkLimits("after the work there is time for each stage, however long the work took", (situation) => {
    const { drain, end, flush, release } = Shutdown.limitsOf(situation)
    return end === Infinity || (drain < release && release < flush && flush < end)
  })

  checkLimits("the reserve takes a quarter of the time at most, and never more than two seconds", (situation) => {
    const { drain, end } = Shutdown.limitsOf(situation)
    if (situation.mode === "interrupt" || situation.timeout === 0 || end === Infinity) return true
    return end - drain <= 2000 && drain >= 0.75 * end
  })
})
