/** For any sequence of role changes, the index returns the same roles as a scan of all. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Selection from "../../../src/controllers/clusterroleaggregation/selection.ts"
import * as Key from "../../../src/kube/Key.ts"
import type { ClusterRole } from "../../../src/kube/resources.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import { checkProperty } from "../../support/property.ts"
const Label = Schema.Literals(["a", "b"])

const State = Schema.Struct({
  name: Schema.Literals(["r1", "r2", "r3"]),
  isThere: Schema.Boolean,
  labels: Schema.Array(Label),
  /** By a label value, or by its presence; undefined for a role that does not aggregate. */
  takes: Schema.Literals(["nothing", "a", "b", "a or b", "any a"]),
  rules: Schema.Literals([0, 1])
})

type State = typeof State.Type

const byLabel = (label: string) => ({ matchLabels: { [label]: "yes" } })

const selectors = {
  a: [byLabel("a")],
  b: [byLabel("b")],
  "a or b": [byLabel("a"), byLabel("b")],
  "any a": [{ matchExpressions: [{ key: "a", operator: "Exists" }] }]
}

const roleOf = ({ labels, name, rules, takes }: State): ClusterRole => ({
  metadata: { name, labels: Object.fromEntries(labels.map((label) => [label, "yes"])) },
  ...(takes === "nothing" ? {} : { aggregationRule: { clusterRoleSelectors: selectors[takes] } }),
  rules: rules === 0 ? [] : [{ verbs: ["get"] }]
})

const isTaken = (taker: State, { labels }: State): boolean =>
  taker.takes === "any a"
    ? labels.includes("a")
    : taker.takes !== "nothing" && labels.some((label) => taker.takes.includes(label))

const sorted = (keys: Iterable<string>): string => JSON.stringify([...new Set(keys)].toSorted())

/** A scan of all roles for each change: at least those are enqueued; `none` is what an unchanged object enqueues. */
const expected = (before: State | undefined, after: State, all: ReadonlyMap<string, State>): string => {
  const own = after.isThere && after.takes !== "nothing" ? [after.name] : []
  const offers = (one: State) => JSON.stringify([[...new Set(one.labels)].toSorted(), one.rules])
  if (before !== undefined && after.isThere && offers(before) === offers(after)) return sorted(own)
  const takers = [...all.values()].filter(
    (one) =>
      one.name !== after.name &&
      (isTaken(one, after) || (before !== undefined && after.isThere && isTaken(one, before)))
  )
  return sorted([...own, ...takers.map(({ name }) => name)])
}

const created = (object: ClusterRole): Delta<ClusterRole> => ({ _tag: "Created", object, initial: false })

const deltaOf = (before: State | undefined, after: State): Delta<ClusterRole> | undefined => {
  if (!after.isThere)
    return before === undefined ? undefined : { _tag: "Deleted", object: roleOf(before), stateUnknown: false }
  const object = roleOf(after)
  return before === undefined ? created(object) : { _tag: "Updated", object, previous: roleOf(before) }
}

const agrees = (states: ReadonlyArray<State>): boolean => {
  const selection = Selection.make()
  const all = new Map<string, State>()
  return states.every((state) => {
    const before = all.get(state.name)
    const delta = deltaOf(before, state)
    if (delta === undefined) return true
    const after = state.isThere || before === undefined ? state : { ...before, isThere: false }
    if (state.isThere) all.set(state.name, state)
    else all.delete(state.name)
    return sorted(selection.concerned(delta)) === expected(before, after, all)
  })
}

const histories = Arbitrary.schema(Schema.Array(State))

describe("Selection", () => {
  checkProperty("the enqueued roles are those that a scan finds", histories, agrees)
})

describe("the enqueued roles", () => {
  it("occur once, even if several selectors match", () => {
    const selection = Selection.make()
    const state = { name: "r1", isThere: true, labels: [], takes: "a or b", rules: 0 } as const
    selection.concerned(created(roleOf(state)))
    const object = roleOf({ ...state, name: "r2", takes: "nothing", labels: ["a", "b"] })
    assert.deepStrictEqual(selection.concerned(created(object)), [Key.make(undefined, "r1")])
  })
})
