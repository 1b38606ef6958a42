import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as StartPlan from "../../../src/manager/runnables/startPlan.ts"
import { checkProperty } from "../../support/property.ts"

/** Controllers by their position; the missing kinds change over time. */
const history = Arbitrary.schema(
  Schema.Struct({
    firsts: Schema.Array(Schema.Boolean).check(Schema.isMinLength(1), Schema.isMaxLength(5)),
    waits: Schema.Boolean,
    /** For each period, the controllers with missing kinds, and whether stopping controllers stop within it. */
    stretches: Schema.Array(Schema.Struct({ lacking: Schema.Array(Schema.Boolean), drains: Schema.Boolean })).check(
      Schema.isMaxLength(6)
    )
  })
)

type History = typeof history extends Arbitrary.Arbitrary<infer A> ? A : never
interface Member extends StartPlan.Member {
  readonly index: number
}

/** The result of a run, which the properties check. */
interface Run {
  readonly members: ReadonlyArray<Member>
  readonly steps: ReadonlyArray<{
    readonly tag: "Start" | "Stop"
    readonly member: Member
    readonly running: ReadonlyArray<string>
    readonly closing: ReadonlySet<string>
    readonly lacks: (member: Member) => boolean
  }>
  /** After each stretch. */
  readonly rests: ReadonlyArray<{
    readonly running: ReadonlyArray<string>
    readonly closing: ReadonlySet<string>
    readonly lacks: (member: Member) => boolean
  }>
  readonly endless: boolean
}

const run = ({ firsts, stretches, waits }: History): Run => {
  const members = firsts.map((startFirst, index) => ({ name: `c${index}`, index, startFirst }))
  const steps: Array<Run["steps"][number]> = []
  const rests: Array<Run["rests"][number]> = []
  let running: Array<string> = []
  // The kinds of a skipped controller stay missing.
  const closing = new Set<string>()
  for (const { drains, lacking } of waits ? stretches : stretches.slice(0, 1)) {
    const lacks = ({ index }: Member) => lacking[index] === true
    for (let limit = 0; ; limit++) {
      if (limit > 2 * members.length) return { members, steps, rests, endless: true }
      const step = StartPlan.next({ members, running, closing, isMissing: lacks, waits })
      if (step._tag === "Rest") {
        if (closing.size === 0 || !drains) break
        closing.clear()
        continue
      }
      const { _tag: tag, member } = step
      steps.push({ tag, member, running, closing: new Set(closing), lacks })
      if (tag === "Stop") closing.add(member.name)
      running = tag === "Start" ? [...running, member.name] : running.filter((name) => name !== member.name)
    }
    rests.push({ running, closing: new Set(closing), lacks })
  }
  return { members, steps, rests, endless: false }
}

const checkRun = (title: string, holds: (run: Run, history: History) => boolean): void =>
  checkProperty(title, history, (value) => holds(run(value), value))

describe("StartPlan.next", () => {
  checkRun("comes to rest", ({ endless }) => !endless)

  checkRun("starts nobody twice, and nobody who is still stopping", ({ steps }) =>
    steps.every(
      ({ closing, member, running, tag }) =>
        tag === "Stop" || (!running.includes(member.name) && !closing.has(member.name))
    )
  )

  checkRun("starts nobody who lacks a kind, and stops nobody who does not", ({ steps }) =>
    steps.every(({ lacks, member, tag }) => lacks(member) === (tag === "Stop"))
  )

  checkRun(
    "at rest exactly those run who lack nothing and whom no first one holds up",
    ({ members, rests }, { waits }) =>
      rests.every(({ closing, lacks, running }) => {
        const isHeld = members.some(
          (one) => one.startFirst === true && (closing.has(one.name) || (lacks(one) && waits))
        )
        return members.every((one) => {
          if (lacks(one) || closing.has(one.name)) return !running.includes(one.name)
          return running.includes(one.name) || (isHeld && one.startFirst !== true)
        })
      })
  )

  checkRun("nobody starts while one that is to be first could", ({ members, steps }) =>
    steps.every(
      ({ closing, lacks, member, running, tag }) =>
        tag === "Stop" ||
        member.startFirst === true ||
        members.every(
          (one) => one.startFirst !== true || running.includes(one.name) || (lacks(one) && !closing.has(one.name))
        )
    )
  )

  checkRun("those that start in one stretch do so in their order, the first ones before", ({ steps }) =>
    steps.every(({ member, tag }, at) => {
      const before = steps[at - 1]
      if (tag === "Stop" || before === undefined || before.tag === "Stop" || before.lacks !== steps[at]?.lacks)
        return true
      const rank = ({ index, startFirst }: Member) => (startFirst === true ? 0 : 1000) + index
      return rank(before.member) < rank(member) || before.closing.size > 0
    })
  )

  checkRun("of those that have to stop, the last started goes first", ({ steps }) =>
    steps.every(
      ({ lacks, member, running, tag }) =>
        tag === "Start" ||
        running.slice(running.indexOf(member.name) + 1).every((name) => !lacks({ name, index: Number(name.slice(1)) }))
    )
  )
})
