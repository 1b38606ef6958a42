/** The pods of a selector, and the autoscalers that share one, against a look at everything there is. */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Selectors from "../../../src/controllers/horizontalpodautoscaler/selectors.ts"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Selector from "../../../src/kube/Selector.ts"
import * as Store from "../../../src/streams/Store.ts"
import { int, law, oneOf, prove, type ValueOf } from "../../support/laws.ts"

const labels = Arbitrary.all({
  app: oneOf("a", "b"),
  tier: oneOf("none", "x", "y"),
  "pod-template-hash": oneOf("1", "2")
})
const selector = oneOf(
  "app=a",
  "app=b",
  "app=a,tier=x",
  "tier=x",
  "tier in (x,y)",
  "app!=a",
  "tier",
  "pod-template-hash=1",
  "app=a,pod-template-hash=2",
  "!tier"
)
const world = Arbitrary.all({
  pods: Arbitrary.array(Arbitrary.all({ labels, namespace: oneOf("n", "m") }), { maxLength: 6 }),
  autoscalers: Arbitrary.array(
    Arbitrary.all({ selector, later: selector, namespace: oneOf("n", "m"), isGone: oneOf(false, false, true) }),
    { maxLength: 5 }
  ),
  which: int(0, 4)
})
type World = ValueOf<typeof world>

const podsOf = ({ pods }: World): ReadonlyArray<Pod> =>
  pods.map(({ labels: { tier, ...rest }, namespace }, i) => ({
    metadata: { name: `p-${i}`, namespace, labels: tier === "none" ? rest : { ...rest, tier } }
  }))

const parsed = (text: string): Selector.LabelSelector => Result.getOrThrow(Selector.parseLabels(text))

const storeOf = (module: typeof Selectors, pods: ReadonlyArray<Pod>) => {
  const store = Store.make<Pod>()
  store.addIndex(module.byLabel.name, module.byLabel.of)
  store.apply({ _tag: "Restarted" })
  store.apply({ _tag: "Listed", objects: pods })
  store.apply({ _tag: "Synced", resourceVersion: "1" })
  return store
}

const matching = (pods: ReadonlyArray<Pod>, namespace: string, text: string): ReadonlyArray<Pod> =>
  pods.filter(
    ({ metadata }) => metadata.namespace === namespace && Selector.matchesLabels(parsed(text), metadata.labels)
  )

const names = (pods: ReadonlyArray<Pod>): string =>
  pods
    .map(({ metadata }) => metadata.name)
    .sort()
    .join()

prove({
  path: "controllers/horizontalpodautoscaler/selectors.ts",
  module: Selectors,
  laws: [
    law(
      "all pods of the namespace are found that the selector selects, and no others",
      world,
      (module: typeof Selectors, one) => {
        const pods = podsOf(one)
        const store = storeOf(module, pods)
        return one.autoscalers.every(
          ({ namespace, selector }) =>
            names(module.podsOf(store, namespace, parsed(selector))) === names(matching(pods, namespace, selector))
        )
      }
    ),
    law(
      "all autoscalers are found that select one of the pods, as they select now",
      world,
      (module: typeof Selectors, one) => {
        const pods = podsOf(one)
        const table = module.makeTable()
        for (const [i, { isGone, later, namespace, selector }] of one.autoscalers.entries()) {
          table.set(`${namespace}/${i}`, namespace, parsed(selector))
          table.set(`${namespace}/${i}`, namespace, parsed(later))
          if (isGone) table.delete(`${namespace}/${i}`)
        }
        return ["n", "m"].every((namespace) => {
          const own = pods.filter(({ metadata }) => metadata.namespace === namespace).slice(0, one.which)
          const expected = one.autoscalers.flatMap((each, i) =>
            !each.isGone && each.namespace === namespace && matching(own, namespace, each.later).length > 0
              ? [`${namespace}/${i}`]
              : []
          )
          return table.selecting(namespace, own).join() === expected.join()
        })
      }
    )
  ],
  mutants: [
    {
      title: "a label that passes is looked up",
      find: 'operator === "In" && values.length === 1 && !passing.has(key)',
      replace: 'operator === "In" && values.length === 1'
    },
    { title: "one of several values is taken for the only one", find: " && values.length === 1", replace: "" },
    {
      title: "what is found by one label is selected",
      find: "(candidates ?? pods.byIndex(Store.namespaceIndex, namespace)).filter(({ metadata }) =>\n    Selector.matchesLabels(selector, metadata.labels)\n  )",
      replace: "(candidates ?? pods.byIndex(Store.namespaceIndex, namespace))"
    },
    {
      title: "selectors without a value are not looked at",
      find: "      collect(namespace, pod, found)\n",
      replace: ""
    },
    { title: "one that is gone is found", find: "    delete: remove,", replace: "    delete: () => {}," },
    {
      title: "a change of a selector is not seen",
      find: "if (known !== undefined && Selector.formatLabels(known) === Selector.formatLabels(selector)) return",
      replace: "if (known !== undefined) return"
    },
    { title: "namespaces are one", find: '`${namespace ?? ""}/${key}=${value}`', replace: "`${key}=${value}`" }
  ]
})
