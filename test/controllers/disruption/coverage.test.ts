/** Finding by table is finding by looking at everything, in whatever order budgets and pods come, change and go. */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Coverage from "../../../src/controllers/disruption/coverage.ts"
import * as Key from "../../../src/kube/Key.ts"
import type { Pod, PodDisruptionBudget } from "../../../src/kube/resources.ts"
import * as Selector from "../../../src/kube/Selector.ts"
import { int, law, oneOf, prove, type ValueOf } from "../../support/laws.ts"

type Module = typeof Coverage

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

/** What the table is told, and what there is. */
const play = (module: Module, history: ReadonlyArray<Step>) => {
  const coverage = module.make()
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

prove<Module>({
  path: "controllers/disruption/coverage.ts",
  module: Coverage,
  laws: [
    law("a pod finds the budgets that select it, by name", histories, (module, history) => {
      const { budgets, coverage, pods } = play(module, history)
      return pods.every((pod) => coverage.of(pod).join() === keys(budgets.filter((one) => selects(one, pod))))
    }),
    law("a budget has the pods that it selects", histories, (module, history) => {
      const { budgets, coverage, pods } = play(module, history)
      return budgets.every(
        (budget) =>
          [...coverage.podsOf(Key.of(budget))].sort().join() === keys(pods.filter((pod) => selects(budget, pod)))
      )
    }),
    law("a later budget sees the pods that came and changed since the first", apps, (module, { after, before }) => {
      const facts = { namespace: "ns", tier: "none", selector: { form: "labels", app: "a", expressions: [] } } as const
      const pods = after.flatMap((app, i) => {
        const known = before[i]
        const pod = { ...facts, what: "pod", name: `p${i}` } as const
        return [...(known === undefined ? [] : [{ ...pod, app: known }]), { ...pod, app }]
      })
      const budget = { ...facts, what: "budget", app: "none" } as const
      const history = [{ ...budget, name: "x" }, ...pods, { ...budget, name: "y" }] as unknown as ReadonlyArray<Step>
      const { coverage } = play(module, history)
      return (
        [...coverage.podsOf("ns/y")].sort().join() ===
        after.flatMap((app, i) => (app === "a" ? [`ns/p${i}`] : [])).join()
      )
    }),
    law("of many budgets with a label in common a pod looks at few", int(3, 9), ({ make }, count) => {
      const coverage = make()
      let looks = 0
      // Each value that is compared was looked at.
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
  ],
  mutants: [
    {
      title: "one of its labels is enough",
      find: "if (entry !== undefined && Selector.matchesLabels(entry.selector, labels)) found.push(key)",
      replace: "if (entry !== undefined) found.push(key)"
    },
    {
      title: "namespaces are one",
      find: "const anything = (namespace: string): string => `${namespace}/`",
      replace: "const anything = (_: string): string => `/`"
    },
    { title: "an empty selector selects nobody", find: "    ask(anything(namespace))\n", replace: "" },
    {
      title: "no selector selects everybody",
      find: "? undefined : Selector.fromSpec(spec.selector)",
      replace: "? Selector.fromSpec({}) : Selector.fromSpec(spec.selector)"
    },
    { title: "that a label is there is not asked", find: "      ask(having(namespace, key))\n", replace: "" },
    {
      title: "a selector that changes stays what it was",
      find: "if (known !== undefined && isSame(known.selector, selector.success)) return",
      replace: "if (known !== undefined) return"
    },
    {
      title: "what becomes unreadable stays",
      find: "if (selector === undefined || Result.isFailure(selector)) return forget(key)",
      replace: "if (selector === undefined || Result.isFailure(selector)) return"
    },
    {
      title: "pods that were there before are not seen",
      find: "pods: new Set(selected.map(Key.of))",
      replace: "pods: new Set()"
    },
    {
      title: "pods of a budget that changes stay",
      find: "candidates.filter(({ metadata }) => Selector.matchesLabels(selector.success, metadata.labels))",
      replace: "candidates.filter(() => true)"
    },
    {
      title: "pods that go stay",
      find: "entries.get(budget)?.pods.delete(Key.of(pod))",
      replace: "entries.get(budget)"
    },
    {
      title: "new pods are not seen",
      find: "entries.get(budget)?.pods.add(Key.of(pod))",
      replace: "entries.get(budget)"
    },
    { title: "a budget that goes is found", find: "    delete: forget,", replace: "    delete: () => {}," },
    { title: "budgets come in any order", find: "return found.sort()", replace: "return found.sort().reverse()" },
    {
      title: "the most common label is chosen",
      find: "crowd(bucket) < crowd(best)",
      replace: "crowd(bucket) > crowd(best)"
    },
    {
      title: "what need not be there is looked up",
      find: 'return operator === "Exists" ? having(namespace, key) : undefined',
      replace: "return having(namespace, key)"
    },
    {
      title: "one of several values is looked up",
      find: "values.length === 1 && value !== undefined",
      replace: "value !== undefined"
    },
    {
      title: "the first budget that goes takes the namespace along",
      find: "--shelf.budgets === 0",
      replace: "--shelf.budgets >= 0"
    },
    { title: "later budgets do not see later pods", find: "      shelve(shelf, pod)\n      for", replace: "      for" }
  ]
})
