import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Conditions from "../../../src/controllers/deployment/conditions.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty, oneOf } from "../../support/property.ts"

const step = Arbitrary.all({
  type: oneOf("Available", "Progressing", "ReplicaFailure"),
  status: oneOf("True", "False", "Unknown"),
  reason: oneOf("A", "B"),
  how: oneOf("set", "set", "refresh", "remove")
})

const history = Arbitrary.array(step, { minLength: 1, maxLength: 8 })

type Step = typeof step extends Arbitrary.Arbitrary<infer A> ? A : never

const conditionAt = ({ reason, status, type }: Step, seconds: number) =>
  Conditions.make(type, status, reason, `message ${seconds}`, seconds * 1000)

const apply = (before: Conditions.Conditions, step: Step, seconds: number) =>
  step.how === "remove"
    ? Conditions.remove(before, step.type)
    : (step.how === "set" ? Conditions.set : Conditions.refresh)(before, conditionAt(step, seconds))

/** All lists of conditions of a sequence, the empty one first; each step takes a second. */
const lists = (steps: ReadonlyArray<Step>) => {
  const out: Array<Conditions.Conditions> = [[]]
  for (const [i, one] of steps.entries()) out.push(apply(out[i] ?? [], one, i + 1))
  return out
}

type Holds = (facts: {
  readonly step: Step
  readonly before: Conditions.Conditions
  readonly after: Conditions.Conditions
  readonly at: string
}) => boolean

/** What holds for every step of a sequence. */
const always =
  (holds: Holds) =>
  (steps: ReadonlyArray<Step>): boolean => {
    const all = lists(steps)
    return steps.every((step, i) =>
      holds({ step, before: all[i] ?? [], after: all[i + 1] ?? [], at: Time.format((i + 1) * 1000) })
    )
  }

const typesOf = (conditions: Conditions.Conditions): ReadonlyArray<string> => conditions.map(({ type }) => type)

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

describe("Conditions", () => {
  checkProperty(
    "an equal status and reason returns the same list",
    history,
    always(({ after, before, step }) => {
      const old = Conditions.get(before, step.type)
      const isSame = old?.status === step.status && old.reason === step.reason
      return step.how !== "set" || isSame === (after === before)
    })
  )

  checkProperty(
    "a changed condition moves to the end; the others keep their order",
    history,
    always(({ after, before, step }) => {
      const others = typesOf(before).filter((type) => type !== step.type)
      if (step.how === "remove") return same(typesOf(after), others)
      return after === before || same(typesOf(after), [...others, step.type])
    })
  )

  checkProperty(
    "the transition time changes with the status, and the update time with any change",
    history,
    always(({ after, at, before, step }) => {
      if (step.how === "remove" || after === before) return true
      const [old, now] = [Conditions.get(before, step.type), Conditions.get(after, step.type)]
      const transition = old?.status === step.status ? old.lastTransitionTime : at
      return (
        now?.status === step.status &&
        now.reason === step.reason &&
        now.lastUpdateTime === at &&
        now.lastTransitionTime === transition
      )
    })
  )

  checkProperty(
    "a refresh always returns a new list",
    history,
    always(({ after, before, step }) => step.how !== "refresh" || after !== before)
  )
})
