import * as Arbitrary from "effect/Arbitrary"
import * as Conditions from "../../../src/controllers/deployment/conditions.ts"
import * as Time from "../../../src/kube/time.ts"
import { law, oneOf, prove } from "../../support/laws.ts"

const step = Arbitrary.all({
  type: oneOf("Available", "Progressing", "ReplicaFailure"),
  status: oneOf("True", "False", "Unknown"),
  reason: oneOf("A", "B"),
  how: oneOf("set", "set", "refresh", "remove")
})

const history = Arbitrary.array(step, { minLength: 1, maxLength: 8 })

type Step = typeof step extends Arbitrary.Arbitrary<infer A> ? A : never

const conditionAt = (module: typeof Conditions, { reason, status, type }: Step, seconds: number) =>
  module.make(type, status, reason, `message ${seconds}`, seconds * 1000)

const apply = (module: typeof Conditions, before: Conditions.Conditions, step: Step, seconds: number) =>
  step.how === "remove"
    ? module.remove(before, step.type)
    : module[step.how](before, conditionAt(module, step, seconds))

/** All lists of conditions on the way, the empty one first; each step takes a second. */
const lists = (module: typeof Conditions, steps: ReadonlyArray<Step>) => {
  const out: Array<Conditions.Conditions> = [[]]
  for (const [i, one] of steps.entries()) out.push(apply(module, out[i] ?? [], one, i + 1))
  return out
}

type Holds = (facts: {
  readonly step: Step
  readonly before: Conditions.Conditions
  readonly after: Conditions.Conditions
  readonly at: string
}) => boolean

/** What holds for every step of a history. */
const always =
  (holds: Holds) =>
  (module: typeof Conditions, steps: ReadonlyArray<Step>): boolean => {
    const all = lists(module, steps)
    return steps.every((step, i) =>
      holds({ step, before: all[i] ?? [], after: all[i + 1] ?? [], at: Time.format((i + 1) * 1000) })
    )
  }

const typesOf = (conditions: Conditions.Conditions): ReadonlyArray<string> => conditions.map(({ type }) => type)

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

prove<typeof Conditions>({
  path: "controllers/deployment/conditions.ts",
  module: Conditions,
  laws: [
    law(
      "exactly what says the same for the same reason leaves the very same list",
      history,
      always(({ after, before, step }) => {
        const old = Conditions.get(before, step.type)
        const isSame = old?.status === step.status && old.reason === step.reason
        return step.how !== "set" || isSame === (after === before)
      })
    ),
    law(
      "what is news goes to the end; the others keep their order",
      history,
      always(({ after, before, step }) => {
        const others = typesOf(before).filter((type) => type !== step.type)
        if (step.how === "remove") return same(typesOf(after), others)
        return after === before || same(typesOf(after), [...others, step.type])
      })
    ),
    law(
      "a transition is a change of the status, and an update a change of anything",
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
    ),
    law(
      "a refresh is always news",
      history,
      always(({ after, before, step }) => step.how !== "refresh" || after !== before)
    )
  ],
  mutants: [
    {
      title: "rewritten every time",
      find: "return conditions\n  return [...remove",
      replace: "void 0\n  return [...remove"
    },
    { title: "kept when only the reason changes", find: " && before.reason === condition.reason", replace: "" },
    {
      title: "kept when only the status changes",
      find: "before?.status === condition.status && before.reason",
      replace: "before?.reason"
    },
    {
      title: "in its old place",
      find: "return [...remove(conditions, condition.type), inherit(before, condition)]",
      replace:
        "return before ? conditions.map((one) => (one === before ? inherit(before, condition) : one)) : [...conditions, condition]"
    },
    {
      title: "at the beginning",
      find: "return [...remove(conditions, condition.type), inherit(before, condition)]",
      replace: "return [inherit(before, condition), ...remove(conditions, condition.type)]"
    },
    {
      title: "every change is a transition",
      find: "before === undefined || before.status !== condition.status",
      replace: "condition"
    },
    {
      title: "no change is a transition",
      find: "before === undefined || before.status !== condition.status",
      replace: "before === undefined"
    },
    {
      title: "twice",
      find: "return [...remove(conditions, condition.type), inherit(before, condition)]",
      replace: "return [...conditions, inherit(before, condition)]"
    },
    {
      title: "removed from nobody",
      find: "condition.type !== type)",
      replace: "condition.type !== type || conditions.length > 1)"
    }
  ]
})
