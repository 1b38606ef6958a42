/** Finding by index is finding by looking at everything, whatever came and went before. */
import * as Arbitrary from "effect/Arbitrary"
import * as Selection from "../../../src/controllers/services/selection.ts"
import * as Key from "../../../src/kube/Key.ts"
import type { Service } from "../../../src/kube/resources.ts"
import { int, law, oneOf, prove } from "../../support/laws.ts"
import { podFacts, podsOf, selected, service, serviceFacts, storeOf } from "./objects.ts"

/** Services come, change and go. */
const step = Arbitrary.all({ name: oneOf("a", "b", "c"), service: serviceFacts, goes: oneOf(false, false, true) })
const scene = Arbitrary.all({
  steps: Arbitrary.array(step, { maxLength: 8 }),
  pods: Arbitrary.array(podFacts, { maxLength: 8 })
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const play = (module: typeof Selection, { pods, steps }: Scene) => {
  const table = module.makeTable()
  const services = new Map<string, Service>()
  for (const { goes, name, service: facts } of steps) {
    const one = service(facts, name)
    if (goes) {
      services.delete(name)
      table.delete(Key.of(one))
    } else {
      services.set(name, one)
      table.set(Key.of(one), "ns", module.selectorOf(one))
    }
  }
  const all = podsOf(pods)
  return { table, services: [...services.values()], all, pods: storeOf(all, [module.byLabel]) }
}

const names = (objects: ReadonlyArray<{ readonly metadata: { readonly name: string } }>): string =>
  objects
    .map(({ metadata }) => metadata.name)
    .sort()
    .join()

const hasSomething = ({ metadata, status }: ReturnType<typeof podsOf>[number]): boolean =>
  status?.podIP !== undefined && status.phase !== "Succeeded" && status.phase !== "Failed" && metadata.name !== ""

prove<typeof Selection>({
  path: "controllers/services/selection.ts",
  module: Selection,
  laws: [
    law("a pod finds the Services that select it", scene, (module, given) => {
      const { all, services, table } = play(module, given)
      return all.every(
        (pod) =>
          [...table.matching("ns", pod.metadata.labels)].sort().join() ===
          services
            .filter((one) => selected(one, [pod]).length === 1)
            .map(Key.of)
            .sort()
            .join()
      )
    }),
    law("a Service finds the pods that it selects and that have something to offer", scene, (module, given) => {
      const { all, pods, services, table } = play(module, given)
      return services.every(
        (one) => names(module.podsOf(pods, table, one)) === names(selected(one, all).filter(hasSomething))
      )
    }),
    law("pods of other namespaces find nothing", scene, (module, given) => {
      const { all, table } = play(module, given)
      return all.every((pod) => table.matching("other", pod.metadata.labels).length === 0)
    }),
    law("of many Services with a label in common each is found by its own", int(2, 9), ({ makeTable }, count) => {
      const table = makeTable()
      for (let i = 0; i < count; i++) table.set(`ns/${i}`, "ns", { app: "everybody's", n: String(i) })
      const pairs = new Set(Array.from({ length: count }, (_, i) => table.pairOf(`ns/${i}`)))
      return pairs.size === count
    }),
    law("a Service of labels in passing is not found by an index", int(0, 1), ({ makeTable }) => {
      const table = makeTable()
      table.set("ns/a", "ns", { "pod-template-hash": "x" })
      table.set("ns/b", "ns", { "pod-template-hash": "long-enough-to-be-chosen", a: "b" })
      return table.pairOf("ns/a") === undefined && table.pairOf("ns/b") === "ns/a=b"
    }),
    law(
      "a Service with a name elsewhere, or with an empty selector, selects nothing",
      oneOf(true, false),
      ({ selectorOf }, empty) => {
        const selector = empty ? {} : { app: "web" }
        const type = empty ? "ClusterIP" : "ExternalName"
        return selectorOf({ metadata: { name: "a" }, spec: { type, selector } }) === undefined
      }
    )
  ],
  mutants: [
    {
      title: "one label is enough",
      find: "if (entry !== undefined && matches(entry.selector, labels)) found.push(service)",
      replace: "if (entry !== undefined) found.push(service)"
    },
    {
      title: "a selector that changes stays where it was",
      find: "      remove(service)\n      if (selector === undefined) return",
      replace: "      if (selector === undefined || known !== undefined) return"
    },
    {
      title: "a Service that goes is found all the same",
      find: "    delete: remove,",
      replace: "    delete: () => {},"
    },
    {
      title: "what has a name elsewhere is served here",
      find: 'selector === undefined || spec?.type === "ExternalName"',
      replace: "selector === undefined"
    },
    {
      title: "pods that have ended are offered",
      find: "return candidates.filter(\n    (pod) => matches(selector, pod.metadata.labels) && Pods.contributes(pod, { includeTerminating: true })\n  )",
      replace: "return pods.list().filter((pod) => matches(selector, pod.metadata.labels))"
    },
    {
      title: "namespaces are one",
      find: '`${namespace ?? ""}/${key}=${value}`',
      replace: '`${namespace === undefined ? "" : "ns"}/${key}=${value}`'
    },
    {
      title: "labels in passing are as good as others",
      find: "(isPassing ? 1e9 : 0) +",
      replace: "(isPassing ? -1 : 0) +"
    },
    {
      title: "the most common label is chosen",
      find: "crowd(b) - crowd(a) ||",
      replace: "crowd(a) - crowd(b) ||"
    },
    {
      title: "a label in passing is looked up in the index",
      find: "entry === undefined || entry.isPassing ? undefined : entry.pair",
      replace: "entry === undefined ? undefined : entry.pair"
    },
    {
      title: "a value that is not there matches",
      find: "!Object.hasOwn(labels, key) || labels[key] !== selector[key]",
      replace: "Object.hasOwn(labels, key) && labels[key] !== selector[key]"
    }
  ]
})
