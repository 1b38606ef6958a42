import { describe } from "@effect/vitest"
/** The index returns the same as a scan, for any sequence of budget and pod changes. */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Coverage from "../../../src/controllers/disruption/coverage.ts"
import * as Key from "../../../src/kube/Key.ts"
import type { Pod, PodDisruptionBudget } from "../../../src/kube/resources.ts"
import * as Selector from "../../../src/kube/Selector.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"
const expression = Arbitrary.all({
  key: oneOf("app", "tier"),
  operator: oneOf("In", "In", "In", "NotIn", "Exists", "DoesNotExist"),
  values: oneOf("a", "b", "a,b", "a,b", "a,b")
})

const selector = Arbitrary.all({
  form: oneOf(
    "none",
    "empty",
    "labels",
    "labels",
    "labels",
    "expressions",
    "expressions",
    "expressions",
    "both",
    "wrong"
  ),
  app: oneOf("a", "b", ""),
  expressions: Arbitrary.array(expression, { minLength: 1, maxLength: 2 })
})

const step = Arbitrary.all({
  what: oneOf("budget", "budget", "pod", "pod", "pod", "no budget", "no pod"),
  name: oneOf("x", "y", "z"),
  namespace: oneOf("ns", "ns", "other"),
  selector,
  app: oneOf("a", "b", "none"),
  tier: oneOf("a", "none")
})

const histories = Arbitrary.array(step, { minLength: 2, maxLength: 18 })

const app = oneOf("a", "b", "none")
const apps = Arbitrary.all({
  before: Arbitrary.array(app, { maxLength: 4 }),
  after: Arbitrary.array(app, { maxLength: 4 })
})

type Step = ValueOf<typeof step>

const specOf = ({ app, expressions, form }: Step["selector"]): Selector.LabelSelectorSpec | undefined => {
  const matchLabels = { app }
  const matchExpressions = expressions.map(({ key, operator, values }) => ({
    key,
    operator,
    ...(operator.startsWith("Ex") || operator.startsWith("Do") ? {} : { values: values.split(",") })
  }))
  switch (form) {
    case "none":
      return undefined
    case "empty":
      return {}
    case "labels":
      return { matchLabels }
    case "expressions":
      return { matchExpressions }
    case "both":
      return { matchLabels, matchExpressions }
    case "wrong":
      return { matchExpressions: [{ key: "app", operator: "Near" }] }
  }
}

const budgetOf = ({ name, namespace, selector: facts }: Step): PodDisruptionBudget => {
  const found = specOf(facts)
  return { metadata: { name, namespace }, spec: found === undefined ? {} : { selector: found as never } }
}

const podOf = ({ app, name, namespace, tier }: Step): Pod => ({
  metadata: {
    name,
    namespace,
    ...(app === "none" && tier === "none"
      ? {}
      : { labels: { ...(app === "none" ? {} : { app }), ...(tier === "none" ? {} : { tier }) } })
  }
})

/** The index, and the objects that were added to it. */
const run = (history: ReadonlyArray<Step>) => {
  const coverage = Coverage.make()
  const budgets = new Map<Key.Key, PodDisruptionBudget>()
  const pods = new Map<Key.Key, Pod>()
  const byIndex = (_: string, namespace: string) =>
    [...pods.values()].filter(({ metadata }) => metadata.namespace === namespace)
  for (const one of history) {
    const key = Key.make(one.namespace, one.name)
    const known = pods.get(key)
    switch (one.what) {
      case "budget":
        budgets.set(key, budgetOf(one))
        coverage.set(budgetOf(one), { byIndex, get: (at) => pods.get(at) })
        break
      case "no budget":
        budgets.delete(key)
        coverage.delete(key)
        break
      case "pod":
        pods.set(key, podOf(one))
        if (known !== undefined) coverage.remove(known)
        coverage.add(podOf(one))
        break
      case "no pod":
        pods.delete(key)
        if (known !== undefined) coverage.remove(known)
    }
  }
  return { coverage, budgets: [...budgets.values()], pods: [...pods.values()] }
}

const selects = ({ metadata, spec }: PodDisruptionBudget, pod: Pod): boolean => {
  if (spec?.selector === undefined || metadata.namespace !== pod.metadata.namespace) return false
  const found = Selector.fromSpec(spec.selector)
  return Result.isSuccess(found) && Selector.matchesLabels(found.success, pod.metadata.labels)
}

const keys = (objects: ReadonlyArray<Pod | PodDisruptionBudget>): string => objects.map(Key.of).sort().join()

describe("Coverage", () => {
  checkProperty("a pod has the budgets that select it, sorted", histories, (history) => {
    const { budgets, coverage, pods } = run(history)
    return pods.every((pod) => coverage.of(pod).join() === keys(budgets.filter((one) => selects(one, pod))))
  })

  checkProperty("a budget has the pods that it selects", histories, (history) => {
    const { budgets, coverage, pods } = run(history)
    return budgets.every(
      (budget) =>
        [...coverage.podsOf(Key.of(budget))].sort().join() === keys(pods.filter((pod) => selects(budget, pod)))
    )
  })

  checkProperty(
    "a later budget has the pods that were created and changed since the first",
    apps,
    ({ after, before }) => {
      const facts = { namespace: "ns", tier: "none", selector: { form: "labels", app: "a", expressions: [] } } as const
      const pods = after.flatMap((app, i) => {
        const known = before[i]
        const pod = { ...facts, what: "pod", name: `p${i}` } as const
        return [...(known === undefined ? [] : [{ ...pod, app: known }]), { ...pod, app }]
      })
      const budget = { ...facts, what: "budget", app: "none" } as const
      const history = [{ ...budget, name: "x" }, ...pods, { ...budget, name: "y" }] as unknown as ReadonlyArray<Step>
      const { coverage } = run(history)
      return (
        [...coverage.podsOf("ns/y")].sort().join() ===
        after.flatMap((app, i) => (app === "a" ? [`ns/p${i}`] : [])).join()
      )
    }
  )

  checkProperty("of many budgets with a common label only few are compared with a pod", int(3, 9), (count) => {
    const coverage = Coverage.make()
    let looks = 0
    // Counts the comparisons.
    const watched = (value: string) => ({
      key: "n",
      operator: "In",
      values: Object.assign([value], { includes: (one: string) => (looks++, one === value) })
    })
    const byIndex = () => []
    for (let i = 0; i < count; i++) {
      const name = `b-${i}`
      const matchExpressions = [{ key: "app", operator: "In", values: ["x"] }, watched(String(i))]
      coverage.set(
        { metadata: { name, namespace: "ns" }, spec: { selector: { matchExpressions } } },
        { byIndex, get: () => undefined }
      )
    }
    const found = coverage.of({ metadata: { name: "p", namespace: "ns", labels: { app: "x", n: "1" } } })
    return found.length === 1 && looks <= 2
  })
})
