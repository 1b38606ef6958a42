import { describe } from "@effect/vitest"
/** The pods of a selector, and the autoscalers that share one, compared with a scan. */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Selectors from "../../../src/controllers/horizontalpodautoscaler/selectors.ts"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Selector from "../../../src/kube/Selector.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"
import { storeOf } from "../../support/stores.ts"

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
const given = Arbitrary.all({
  pods: Arbitrary.array(Arbitrary.all({ labels, namespace: oneOf("n", "m") }), { maxLength: 6 }),
  autoscalers: Arbitrary.array(
    Arbitrary.all({ selector, later: selector, namespace: oneOf("n", "m"), isGone: oneOf(false, false, true) }),
    { maxLength: 5 }
  ),
  which: int(0, 4)
})
type Case = ValueOf<typeof given>

const podsOf = ({ pods }: Case): ReadonlyArray<Pod> =>
  pods.map(({ labels: { tier, ...rest }, namespace }, i) => ({
    metadata: { name: `p-${i}`, namespace, labels: tier === "none" ? rest : { ...rest, tier } }
  }))

const parsed = (text: string): Selector.LabelSelector => Result.getOrThrow(Selector.parseLabels(text))

const matching = (pods: ReadonlyArray<Pod>, namespace: string, text: string): ReadonlyArray<Pod> =>
  pods.filter(
    ({ metadata }) => metadata.namespace === namespace && Selector.matchesLabels(parsed(text), metadata.labels)
  )

const names = (pods: ReadonlyArray<Pod>): string =>
  pods
    .map(({ metadata }) => metadata.name)
    .sort()
    .join()

describe("Selectors", () => {
  checkProperty("finds exactly the pods of the namespace that the selector selects", given, (one) => {
    const pods = podsOf(one)
    const store = storeOf(pods, [Selectors.byLabel])
    return one.autoscalers.every(
      ({ namespace, selector }) =>
        names(Selectors.podsOf(store, namespace, parsed(selector))) === names(matching(pods, namespace, selector))
    )
  })

  checkProperty("finds exactly the autoscalers that currently select one of the pods", given, (one) => {
    const pods = podsOf(one)
    const table = Selectors.makeTable()
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
  })
})
