import { describe } from "@effect/vitest"
/** The indexes find the same Services and pods as a scan of all objects, after any sequence of changes. */
import * as Arbitrary from "effect/Arbitrary"
import * as Selection from "../../../../src/controllers/shared/services/selection.ts"
import * as Key from "../../../../src/kube/Key.ts"
import type { Service } from "../../../../src/kube/resources.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"
import { storeOf } from "../../../support/stores.ts"
import { podFacts, podsOf, selected, service, serviceFacts } from "./objects.ts"

/** Services are created, changed and deleted. */
const step = Arbitrary.all({ name: oneOf("a", "b", "c"), service: serviceFacts, goes: oneOf(false, false, true) })
const scene = Arbitrary.all({
  steps: Arbitrary.array(step, { maxLength: 8 }),
  pods: Arbitrary.array(podFacts, { maxLength: 8 })
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const play = ({ pods, steps }: Scene) => {
  const table = Selection.makeTable()
  const services = new Map<string, Service>()
  for (const { goes, name, service: facts } of steps) {
    const one = service(facts, name)
    if (goes) {
      services.delete(name)
      table.delete(Key.of(one))
    } else {
      services.set(name, one)
      table.set(Key.of(one), "ns", Selection.selectorOf(one))
    }
  }
  const all = podsOf(pods)
  return { table, services: [...services.values()], all, pods: storeOf(all, [Selection.byLabel]) }
}

const names = (objects: ReadonlyArray<{ readonly metadata: { readonly name: string } }>): string =>
  objects
    .map(({ metadata }) => metadata.name)
    .sort()
    .join()

const hasSomething = ({ metadata, status }: ReturnType<typeof podsOf>[number]): boolean =>
  status?.podIP !== undefined && status.phase !== "Succeeded" && status.phase !== "Failed" && metadata.name !== ""

describe("Selection", () => {
  checkProperty("a pod finds the Services that select it", scene, (given) => {
    const { all, services, table } = play(given)
    return all.every(
      (pod) =>
        [...table.matching("ns", pod.metadata.labels)].sort().join() ===
        services
          .filter((one) => selected(one, [pod]).length === 1)
          .map(Key.of)
          .sort()
          .join()
    )
  })

  checkProperty("a Service finds the pods that it selects and that have an address", scene, (given) => {
    const { all, pods, services, table } = play(given)
    return services.every(
      (one) => names(Selection.podsOf(pods, table, one)) === names(selected(one, all).filter(hasSomething))
    )
  })

  checkProperty("pods of other namespaces find nothing", scene, (given) => {
    const { all, table } = play(given)
    return all.every((pod) => table.matching("other", pod.metadata.labels).length === 0)
  })

  checkProperty("Services with a common label are found by their distinctive one", int(2, 9), (count) => {
    const table = Selection.makeTable()
    for (let i = 0; i < count; i++) table.set(`ns/${i}`, "ns", { app: "everybody's", n: String(i) })
    const pairs = new Set(Array.from({ length: count }, (_, i) => table.pairOf(`ns/${i}`)))
    return pairs.size === count
  })

  checkProperty("a Service whose selector has only revision labels is found without the index", int(0, 1), () => {
    const table = Selection.makeTable()
    table.set("ns/a", "ns", { "pod-template-hash": "x" })
    table.set("ns/b", "ns", { "pod-template-hash": "long-enough-to-be-chosen", a: "b" })
    return table.pairOf("ns/a") === undefined && table.pairOf("ns/b") === "ns/a=b"
  })

  checkProperty(
    "a Service with a name elsewhere, or with an empty selector, selects nothing",
    oneOf(true, false),
    (empty) => {
      const selector = empty ? {} : { app: "web" }
      const type = empty ? "ClusterIP" : "ExternalName"
      return Selection.selectorOf({ metadata: { name: "a" }, spec: { type, selector } }) === undefined
    }
  )
})
