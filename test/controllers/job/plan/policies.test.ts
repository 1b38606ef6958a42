/** Pod failure policies and success policies against exhaustive models. Source: pkg/controller/job: matchPodFailurePolicy, matchSuccessPolicy. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Policies from "../../../../src/controllers/job/plan/policies.ts"
import * as Indexes from "../../../../src/controllers/job/plan/indexes.ts"
import type { Job, Pod } from "../../../../src/kube/resources.ts"
import { checkProperty } from "../../../support/property.ts"

const completions = 5

const SuccessFacts = Schema.Struct({
  succeeded: Schema.Array(Schema.Literals([0, 1, 2, 3, 4])),
  rules: Schema.Array(
    Schema.Struct({
      /** Including indexes outside the Job, and texts that cannot be parsed. */
      indexes: Schema.UndefinedOr(Schema.Literals(["0", "0,2", "1-3", "4", "3-7", "7", "", "x"])),
      count: Schema.UndefinedOr(Schema.Literals([0, 1, 2, 3, 6]))
    })
  ).check(Schema.isMaxLength(3))
})

const members: Readonly<Record<string, ReadonlyArray<number>>> = {
  "0": [0],
  "0,2": [0, 2],
  "1-3": [1, 2, 3],
  "4": [4],
  "3-7": [3, 4],
  "7": [],
  "": [],
  x: []
}

const successes = Arbitrary.schema(SuccessFacts)

describe("SuccessPolicy", () => {
  checkProperty(
    "the first rule matches of which all indexes, or succeededCount of them, have succeeded",
    successes,
    (facts) => {
      const done = new Set<number>(facts.succeeded)
      const rules = facts.rules.map(({ count, indexes }) => ({
        ...(indexes === undefined ? {} : { succeededIndexes: indexes }),
        ...(count === undefined ? {} : { succeededCount: count })
      }))
      const isMet = ({ count, indexes }: (typeof facts.rules)[number]): boolean => {
        if (indexes === undefined) return count !== undefined && done.size >= count
        const wanted = members[indexes] ?? []
        const met = wanted.filter((index) => done.has(index)).length
        return wanted.length > 0 && (met === wanted.length || (count !== undefined && met >= count))
      }
      const first = done.size === 0 ? -1 : facts.rules.findIndex(isMet)
      const job = { metadata: { name: "a" }, spec: { completions, template: {}, successPolicy: { rules } } } as Job
      return Policies.matchedSuccess(job, Indexes.of(facts.succeeded)) === (first === -1 ? undefined : first)
    }
  )
})

const Container = Schema.Struct({
  name: Schema.Literals(["main", "side"]),
  /** Undefined if the container runs. */
  code: Schema.UndefinedOr(Schema.Literals([0, 1, 2, 137]))
})

const Rule = Schema.Struct({
  action: Schema.Literals(["FailJob", "Ignore", "Count", "FailIndex", "Unknown"]),
  exit: Schema.Boolean,
  container: Schema.UndefinedOr(Schema.Literal("main")),
  operator: Schema.Literals(["In", "NotIn", "Like"]),
  values: Schema.Array(Schema.Literals([1, 2, 137])).check(Schema.isMaxLength(2)),
  type: Schema.Literals(["DisruptionTarget", "Ready"]),
  status: Schema.UndefinedOr(Schema.Literals(["True", "False"]))
})

const FailureFacts = Schema.Struct({
  rules: Schema.Array(Rule).check(Schema.isMaxLength(3)),
  containers: Schema.Array(Container).check(Schema.isMaxLength(2)),
  inits: Schema.Array(Container).check(Schema.isMaxLength(1)),
  disrupted: Schema.UndefinedOr(Schema.Literals(["True", "False"])),
  phase: Schema.Literals(["Failed", "Failed", "Running"]),
  isTerminating: Schema.Boolean
})

type FailureFacts = typeof FailureFacts.Type

const failures = Arbitrary.schema(FailureFacts)

const statusOf = ({ code, name }: typeof Container.Type) => ({
  name,
  image: "",
  imageID: "",
  ready: false,
  restartCount: 0,
  state: code === undefined ? { running: {} } : { terminated: { exitCode: code } }
})

const podOf = ({ containers, disrupted, inits, isTerminating, phase }: FailureFacts): Pod => ({
  metadata: { namespace: "ns", name: "p", ...(isTerminating ? { deletionTimestamp: "2000-01-01T00:00:00Z" } : {}) },
  status: {
    phase,
    containerStatuses: containers.map(statusOf),
    initContainerStatuses: inits.map(statusOf),
    conditions: disrupted === undefined ? [] : [{ type: "DisruptionTarget", status: disrupted }]
  }
})

const jobOf = ({ rules }: FailureFacts): Job => ({
  metadata: { name: "a" },
  spec: {
    template: {},
    podFailurePolicy: {
      rules: rules.map(({ action, container, exit, operator, status, type, values }) => ({
        action,
        ...(exit
          ? { onExitCodes: { operator, values, ...(container === undefined ? {} : { containerName: container }) } }
          : { onPodConditions: [{ type, ...(status === undefined ? {} : { status }) }] })
      }))
    }
  }
})

/** The beginning of the message of a rule that matches the pod; undefined if it does not match. */
const cause = ({ containers, disrupted, inits }: FailureFacts, rule: typeof Rule.Type): string | undefined => {
  if (!rule.exit)
    return rule.type === "DisruptionTarget" && disrupted === (rule.status ?? "True")
      ? "Pod ns/p has condition DisruptionTarget"
      : undefined
  const found = [...containers, ...inits].find(
    ({ code, name }) =>
      code !== undefined &&
      code !== 0 &&
      (rule.container === undefined || name === rule.container) &&
      (rule.operator === "In" ? rule.values.includes(code) : rule.operator === "NotIn" && !rule.values.includes(code))
  )
  return found && `Container ${found.name} for pod ns/p failed with exit code ${found.code}`
}

/** The position of the first matching rule; unknown actions are ignored. */
const deciding = (facts: FailureFacts): number =>
  facts.rules.findIndex((rule) => rule.action !== "Unknown" && cause(facts, rule) !== undefined)

describe("FailurePolicy", () => {
  checkProperty("the first matching rule decides; without a match the failure counts", failures, (facts) => {
    const { action, counts } = Policies.match(jobOf(facts), podOf(facts))
    const expected = facts.rules[deciding(facts)]?.action
    return action === expected && counts === (expected !== "Ignore")
  })

  checkProperty("the message of FailJob names the pod and the rule", failures, (facts) => {
    const position = deciding(facts)
    const rule = facts.rules[position]
    const isFailed = facts.phase === "Failed"
    const expected =
      rule?.action === "FailJob" && isFailed
        ? `${cause(facts, rule)} matching FailJob rule at index ${position}`
        : undefined
    return (
      Policies.failJobMessage(jobOf(facts), [podOf({ ...facts, phase: "Running", rules: [] }), podOf(facts)]) ===
      expected
    )
  })

  checkProperty("without a policy every failure counts", failures, (facts) => {
    const job: Job = { metadata: { name: "a" }, spec: { template: {} } }
    const { action, counts, message } = Policies.match(job, podOf(facts))
    return (
      action === undefined &&
      counts &&
      message === undefined &&
      Policies.failJobMessage(job, [podOf(facts)]) === undefined
    )
  })
})

describe("a rule of a success policy", () => {
  it("without valid indexes is not met, and does not require indexes outside the completions", () => {
    const job = (succeededIndexes: string): Job =>
      ({ spec: { completions: 2, successPolicy: { rules: [{ succeededIndexes }] } } }) as never
    assert.isUndefined(Policies.matchedSuccess(job("3"), Indexes.of([0])))
    assert.strictEqual(Policies.matchedSuccess(job("0-3"), Indexes.of([0, 1])), 0)
  })
})

describe("a rule of a failure policy", () => {
  const failing = (rule: object, status: NonNullable<Pod["status"]>): string | undefined => {
    const job = {
      spec: { template: {}, podFailurePolicy: { rules: [{ action: "FailJob", ...rule }] } }
    } as never as Job
    return Policies.match(job, { metadata: { namespace: "ns", name: "p" }, status })?.message
  }
  const onPodConditions = [
    { type: "A", status: "True" },
    { type: "B", status: "True" }
  ]

  it("matches a pod with one of several conditions", () => {
    const conditions = [{ type: "B", status: "True" }]
    const message = "Pod ns/p has condition B matching FailJob rule at index 0"
    assert.strictEqual(failing({ onPodConditions }, { phase: "Failed", conditions }), message)
  })

  it("does not match a pod without conditions or container statuses", () => {
    const onExitCodes = { operator: "NotIn", values: [0] }
    const container = { name: "main", image: "", imageID: "", ready: false, restartCount: 0 }
    for (const rule of [{ onPodConditions }, { onExitCodes }]) {
      assert.isUndefined(failing(rule, { phase: "Failed" }))
      assert.isUndefined(failing(rule, { phase: "Failed", containerStatuses: [container] }))
    }
  })
})
