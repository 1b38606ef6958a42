/**
 * An aggregated role has the rules of the selected roles, in order and without duplicates, and a second sync writes
 * nothing.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Plan from "../../../src/controllers/clusterroleaggregation/plan.ts"
import type { ClusterRole } from "../../../src/kube/resources.ts"
import * as Selector from "../../../src/kube/Selector.ts"
import { checkProperty } from "../../support/property.ts"
const Label = Schema.Literals(["a", "b", "c"])

/** Rules differ by their one verb; an empty resource list is written in two ways. */
const Rule = Schema.Struct({ verb: Schema.Literals(["get", "list", "watch", ""]), isWide: Schema.Boolean })

const Role = Schema.Struct({
  name: Schema.Literals(["r1", "r2", "r3", "taker", "zz"]),
  labels: Schema.Array(Label),
  rules: Schema.Array(Rule)
})

const Facts = Schema.Struct({
  roles: Schema.Array(Role),
  /** One selector for each. */
  wanted: Schema.Array(Label),
  has: Schema.Array(Rule)
})

type Facts = typeof Facts.Type

const ruleOf = ({ isWide, verb }: typeof Rule.Type) => ({
  apiGroups: [""],
  verbs: [verb],
  ...(isWide ? { resources: ["pods", "nodes"] } : {})
})

const roleOf = ({ labels, name, rules }: typeof Role.Type): ClusterRole => ({
  metadata: { name, labels: Object.fromEntries(labels.map((label) => [label, "yes"])) },
  rules: rules.map(ruleOf)
})

/** Roles of different names, one of which aggregates. */
const rolesOf = ({ roles }: Facts): ReadonlyArray<ClusterRole> => [
  ...new Map(roles.map((one) => [one.name, roleOf(one)])).values()
]

const takerOf = ({ has, wanted }: Facts): ClusterRole => ({
  metadata: { name: "taker" },
  aggregationRule: { clusterRoleSelectors: wanted.map((label) => ({ matchLabels: { [label]: "yes" } })) },
  rules: has.map(ruleOf)
})

const selecting = (roles: ReadonlyArray<ClusterRole>) => (selector: Selector.LabelSelector) =>
  roles.filter(({ metadata }) => Selector.matchesLabels(selector, metadata.labels))

/** The expected rules, by a simple scan. */
const model = (facts: Facts): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const label of facts.wanted) {
    for (const name of ["r1", "r2", "r3", "zz"]) {
      const role = rolesOf(facts).find(({ metadata }) => metadata.name === name)
      if (role?.metadata.labels?.[label] === undefined) continue
      for (const rule of role.rules ?? []) if (!found.includes(JSON.stringify(rule))) found.push(JSON.stringify(rule))
    }
  }
  return found
}

const facts = Arbitrary.schema(Facts)

const after = (plan: Plan.Plan, taker: ClusterRole): ClusterRole =>
  plan._tag === "Write" ? { ...taker, rules: [...plan.rules] } : taker

describe("Plan", () => {
  checkProperty("it has exactly the rules of the selected roles, in order and without duplicates", facts, (one) => {
    const taker = takerOf(one)
    const { rules = [] } = after(Plan.plan(taker, selecting(rolesOf(one))), taker)
    return JSON.stringify(rules.map((rule) => JSON.stringify(rule))) === JSON.stringify(model(one))
  })

  checkProperty("a second sync writes nothing", facts, (one) => {
    const taker = takerOf(one)
    const select = selecting(rolesOf(one))
    return Plan.plan(after(Plan.plan(taker, select), taker), select)._tag === "Done"
  })

  checkProperty("the order of the selected roles does not matter", facts, (one) => {
    const all = rolesOf(one)
    const [forward, reversed] = [all, all.toReversed()].map((roles) => Plan.plan(takerOf(one), selecting(roles)))
    return JSON.stringify(forward) === JSON.stringify(reversed)
  })

  checkProperty("a role without an aggregation rule is not written", facts, (one) => {
    const { aggregationRule: _, ...plain } = takerOf(one)
    return Plan.plan(plain, selecting(rolesOf(one)))._tag === "Done"
  })
})

describe("the plan", () => {
  const select = selecting([])

  it("keeps the rules and warns when a selector is invalid", () => {
    const matchExpressions = [{ key: "a", operator: "Near", values: ["b"] }]
    const taker = { ...takerOf({ roles: [], wanted: [], has: [] }), rules: [{ verbs: ["get"] }] }
    const invalid = { ...taker, aggregationRule: { clusterRoleSelectors: [{ matchExpressions }] } }
    assert.deepStrictEqual(Plan.plan(invalid, select), {
      _tag: "Unusable",
      message:
        'ClusterRole taker keeps the rules that it has: a selector of its aggregationRule cannot be used: "Near" is not a valid label selector operator'
    })
  })

  it("treats no rules, null and an empty list as equal", () => {
    const { rules: _, ...bare } = takerOf({ roles: [], wanted: ["a"], has: [] })
    assert.strictEqual(Plan.plan(bare, select)._tag, "Done")
  })
})
