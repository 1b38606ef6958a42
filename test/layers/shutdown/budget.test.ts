/** How the time of a stop is divided: laws, and copies of the module that break them. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Budget from "../../../src/layers/shutdown/budget.ts"
import { law, prove } from "../../support/laws.ts"

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

const about = (title: string, holds: (limits: typeof Budget.limits, options: Budget.Options) => boolean) =>
  law<typeof Budget, typeof Situation.Type>(title, Arbitrary.schema(Situation), ({ limits }, { mode, timeout }) =>
    holds(limits, { mode, timeout: timeout < 0 ? Infinity : timeout })
  )

prove({
  path: "layers/shutdown/budget.ts",
  module: Budget,
  laws: [
    about("no stage is over before the one before it, or later than the end", (limits, situation) => {
      const all = stages.map((stage) => limits(situation)[stage])
      return all.every((limit, index) => limit >= 0 && limit >= (all[index - 1] ?? 0))
    }),
    about("all of it is over when the timeout is, and without one never", (limits, situation) =>
      situation.timeout > 0 ? limits(situation).end === situation.timeout : limits(situation).end === Budget.reserve
    ),
    about(
      "work gets no time exactly if it is to be interrupted or there is none",
      (limits, situation) =>
        (limits(situation).drain === 0) === (situation.mode === "interrupt" || situation.timeout === 0)
    ),
    about("after the work there is time for each stage, however long the work took", (limits, situation) => {
      const { drain, end, flush, release } = limits(situation)
      return end === Infinity || (drain < release && release < flush && flush < end)
    }),
    about("the reserve takes a quarter of the time at most, and never more than two seconds", (limits, situation) => {
      const { drain, end } = limits(situation)
      if (situation.mode === "interrupt" || situation.timeout === 0 || end === Infinity) return true
      return end - drain <= 2000 && drain >= 0.75 * end
    })
  ],
  mutants: [
    { title: "all for the work", find: "end - kept,", replace: "end," },
    { title: "nothing after the release", find: "end - kept / 2", replace: "end" },
    { title: "nothing after the flush", find: "end - (3 * kept) / 8", replace: "end" },
    { title: "released before the work has ended", find: "end - kept / 2", replace: "end - 2 * kept" },
    { title: "a reserve beyond the end", find: "timeout > 0 ? timeout : reserve\n", replace: "timeout + reserve\n" },
    { title: "a reserve that eats short times", find: "timeout / 4", replace: "timeout" },
    { title: "a reserve that grows", find: "Math.min(reserve, timeout", replace: "Math.max(reserve, timeout" },
    { title: "interrupted work gets time", find: 'mode === "interrupt" ? 0 : ', replace: "" },
    { title: "no limit is none", find: "end === Infinity ? 0 : ", replace: "end === Infinity ? Infinity : " }
  ]
})
