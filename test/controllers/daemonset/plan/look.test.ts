/** What a sync of a DaemonSet sees: every node once, and every pod once on the node that it is for. Spec E.4, E.5. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Look from "../../../../src/controllers/daemonset/plan/look.ts"
import type { Node } from "../../../../src/kube/resources.ts"
import { law, prove } from "../../../support/laws.ts"
import { hash, now, PodFacts, podOf, SetFacts, setOf } from "./objects.ts"

type Module = typeof Look

const names = ["a", "b", "c"] as const

const Facts = Schema.Struct({
  set: SetFacts,
  nodes: Schema.Array(Schema.Literals(["none", "none", "NoSchedule", "NoExecute"])).check(Schema.isMaxLength(3)),
  pods: Schema.Array(Schema.Struct({ on: Schema.Literals([...names, "nowhere"]), facts: PodFacts })).check(
    Schema.isMaxLength(6)
  )
})

type Facts = typeof Facts.Type

const facts = Arbitrary.schema(Facts)

const nodesOf = ({ nodes }: Facts): ReadonlyArray<Node> =>
  nodes.map((effect, i) => ({
    metadata: { name: names[i] ?? "" },
    spec: effect === "none" ? {} : { taints: [{ key: "own", effect }] }
  }))

const podsOf = ({ pods }: Facts) =>
  pods.map(({ facts, on }, i) => {
    const pod = podOf(facts, `p${i}`, on)
    // Some pods say of no node that they are for it.
    return on === "nowhere" ? { ...pod, spec: { containers: [] } } : pod
  })

const take = ({ take }: Module, given: Facts) =>
  take({ set: setOf(given.set), hash, nodes: nodesOf(given), pods: podsOf(given), now: now * 1000 })

/** Names of the pods for that node, the first one first. */
const expected = ({ pods }: Facts, node: string): string =>
  pods
    .map(({ facts, on }, i) => ({ ...facts, on, name: `p${i}` }))
    .filter(({ isGoing, on, phase }) => on === node && !(isGoing && (phase === "Failed" || phase === "Succeeded")))
    .toSorted((a, b) => Number(b.isBound) - Number(a.isBound) || a.born - b.born || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name)
    .join()

prove<Module>({
  path: "controllers/daemonset/plan/look.ts",
  module: Look,
  laws: [
    law("every node is there once, in order, and beside them those of which only pods tell", facts, (module, given) => {
      const { places } = take(module, given)
      const known = names.slice(0, given.nodes.length)
      const others = names.slice(given.nodes.length).filter((name) => expected(given, name) !== "")
      return (
        places
          .slice(0, known.length)
          .map(({ name }) => name)
          .join() === known.join() &&
        places
          .slice(known.length)
          .map(({ name }) => name)
          .toSorted()
          .join() === others.join() &&
        places.every(({ exists }, i) => exists === i < known.length)
      )
    }),
    law("each pod is where it is for, the first one first; who has ended and goes is gone", facts, (module, given) =>
      take(module, given).places.every(
        ({ name, pods }) => pods.map(({ metadata }) => metadata.name).join() === expected(given, name)
      )
    ),
    law("so many are wanted as there are nodes that should have one", facts, (module, given) => {
      const { desired, places } = take(module, given)
      const open = given.nodes.filter((effect) => effect === "none").length
      return desired === open && places.filter(({ shouldRun }) => shouldRun).length === open
    }),
    law("nothing is wanted, and nothing may stay, where no node is", facts, (module, given) =>
      take(module, given).places.every(({ exists, mayStay, shouldRun }) => exists || (!mayStay && !shouldRun))
    ),
    law("a pod works when it was ready for long enough", facts, (module, given) => {
      const look = take(module, given)
      return given.pods.every(({ facts: { ready }, on }, i) => {
        const pod = podsOf(given)[i]
        const works = ready !== undefined && ready >= given.set.minReady
        return on === "nowhere" || pod === undefined || module.isAvailable(look, pod) === works
      })
    }),
    law("a pod is of the present template by its hash", facts, (module, given) => {
      const look = take(module, given)
      return given.pods.every(({ facts: { isGoing, revision } }, i) => {
        const pod = podsOf(given)[i]
        return (
          pod === undefined || (module.isUpdated(look, pod) === (revision === hash) && module.isGoing(pod) === isGoing)
        )
      })
    })
  ],
  mutants: [
    {
      title: "who has ended and goes keeps its place",
      find: " || (PodFacts.isTerminal(pod) && isGoing(pod))",
      replace: ""
    },
    {
      title: "who has ended is gone",
      find: "PodFacts.isTerminal(pod) && isGoing(pod)",
      replace: "PodFacts.isTerminal(pod)"
    },
    { title: "who goes is gone", find: "PodFacts.isTerminal(pod) && isGoing(pod)", replace: "isGoing(pod)" },
    { title: "the first one is any", find: "there.sort(Pods.first)", replace: "there.reverse()" },
    { title: "nodes are told of twice", find: "byTarget.delete(name)", replace: "" },
    {
      title: "nobody is where no node is",
      find: "for (const [name, there] of byTarget)",
      replace: "for (const [name, there] of new Map<string, Array<Pod>>())"
    },
    {
      title: "pods may stay where no node is",
      find: "shouldRun: false, mayStay: false, name",
      replace: "shouldRun: false, mayStay: true, name"
    },
    { title: "what is gone is there", find: "name, exists: false", replace: "name, exists: true" },
    { title: "wanted is where they may stay", find: "(shouldRun ? sum + 1 : sum)", replace: "sum + 1" },
    {
      title: "being ready is enough",
      find: "PodFacts.isAvailable(pod, Spec.minReadySeconds(set), now)",
      replace: "PodFacts.isReady(pod)"
    },
    {
      title: "everybody goes",
      find: "metadata.deletionTimestamp !== undefined",
      replace: "metadata.deletionTimestamp === undefined"
    },
    {
      title: "everybody is updated",
      find: "Pods.isUpdated(set, hash, pod)",
      replace: "true || Pods.isUpdated(set, hash, pod)"
    }
  ]
})
