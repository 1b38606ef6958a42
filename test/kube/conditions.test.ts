import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Conditions from "../../src/kube/conditions.ts"
import * as Time from "../../src/kube/time.ts"
import { checkProperty } from "../support/property.ts"

const word = Schema.Literals(["A", "B"])

/** Claims that are set one after another, each with the seconds that pass before it. */
const history = Arbitrary.schema(
  Schema.Array(
    Schema.Struct({
      type: Schema.Literals(["Ready", "Available", "Degraded"]),
      status: Schema.Literals(["True", "False", "Unknown"]),
      reason: word,
      message: word,
      observedGeneration: Schema.optionalKey(Schema.Literals([1, 2])),
      seconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))
    })
  ).check(Schema.isMaxLength(8))
)

interface Step {
  readonly claim: Conditions.Claim
  readonly before: Conditions.Conditions
  readonly after: Conditions.Conditions
  readonly now: number
}

const stepsOf = (values: typeof history extends Arbitrary.Arbitrary<infer A> ? A : never) => {
  const steps: Array<Step> = []
  let [list, now]: [Conditions.Conditions, number] = [[], 0]
  for (const { seconds, ...claim } of values) {
    now += seconds * 1000
    const after = Conditions.set(list, claim, now)
    steps.push({ claim, before: list, after, now })
    list = after
  }
  return steps
}

const checkSteps = (title: string, holds: (step: Step) => boolean): void =>
  checkProperty(title, history, (values) => stepsOf(values).every(holds))

const at = (list: Conditions.Conditions, type: string) => list.find((one) => one.type === type)

/** The same text for every order of the fields. */
const text = (value: object): string =>
  Object.entries(value)
    .map((entry) => JSON.stringify(entry))
    .sort((a, b) => (a < b ? -1 : 1))
    .join()

describe("Conditions.set", () => {
  checkSteps("the condition has the fields of the claim", ({ after, claim }) => {
    const { lastTransitionTime: _, ...rest } = at(after, claim.type) ?? { lastTransitionTime: "" }
    return text(rest) === text(claim)
  })

  checkSteps("lastTransitionTime is the time of the last change of the status", ({ after, before, claim, now }) => {
    const [old, fresh] = [at(before, claim.type), at(after, claim.type)]
    return fresh?.lastTransitionTime === (old?.status === claim.status ? old.lastTransitionTime : Time.format(now))
  })

  checkSteps("each condition keeps its place, and other conditions are unchanged", ({ after, before, claim }) =>
    before.every((one, i) => after[i]?.type === one.type && (one.type === claim.type || after[i] === one))
  )

  checkSteps("each type occurs once", ({ after }) => new Set(after.map(({ type }) => type)).size === after.length)

  checkSteps(
    "setting the same claim later returns the same list",
    ({ after, claim, now }) => Conditions.set(after, claim, now + 60_000) === after
  )

  checkSteps(
    "remove drops the condition of that type and no other",
    ({ after, claim }) =>
      Conditions.remove(after, claim.type).length === after.length - 1 && Conditions.remove(after, "Other") === after
  )
})

describe("conditions", () => {
  it("a status may be a boolean, and an absent condition is not true", () => {
    const [condition] = Conditions.set(undefined, { type: "Ready", status: true, reason: "Up" }, 0)
    assert.deepStrictEqual(condition, {
      type: "Ready",
      status: "True",
      lastTransitionTime: "1970-01-01T00:00:00Z",
      reason: "Up",
      message: ""
    })
    assert.isTrue(Conditions.isTrue(condition === undefined ? [] : [condition], "Ready"))
    assert.isFalse(Conditions.isTrue(undefined, "Ready"))
    assert.deepStrictEqual(Conditions.remove(undefined, "Ready"), [])
  })
})
