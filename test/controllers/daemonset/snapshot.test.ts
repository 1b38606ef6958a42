import { describe } from "@effect/vitest"
/** The snapshot of a sync: every node once, and every pod once, on its target node. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Snapshot from "../../../src/controllers/daemonset/snapshot.ts"
import type { Node } from "../../../src/kube/resources.ts"
import { checkProperty } from "../../support/property.ts"
import { hash, now, PodFacts, podOf, SetFacts, setOf } from "./plan/objects.ts"
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
    // Some pods name no node.
    return on === "nowhere" ? { ...pod, spec: { containers: [] } } : pod
  })

const take = (given: Facts) =>
  Snapshot.take({ set: setOf(given.set), hash, nodes: nodesOf(given), pods: podsOf(given), now: now * 1000 })

/** Names of the pods of that node, the preferred one first. */
const expected = ({ pods }: Facts, node: string): string =>
  pods
    .map(({ facts, on }, i) => ({ ...facts, on, name: `p${i}` }))
    .filter(({ isGoing, on, phase }) => on === node && !(isGoing && (phase === "Failed" || phase === "Succeeded")))
    .toSorted((a, b) => Number(b.isBound) - Number(a.isBound) || a.born - b.born || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name)
    .join()

describe("Snapshot", () => {
  checkProperty("contains every node once, in order, and then the targets that are not nodes", facts, (given) => {
    const { places } = take(given)
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
  })

  checkProperty(
    "contains each pod on its target, the preferred one first, without terminating terminal pods",
    facts,
    (given) =>
      take(given).places.every(
        ({ name, pods }) => pods.map(({ metadata }) => metadata.name).join() === expected(given, name)
      )
  )

  checkProperty("counts the nodes that should have a pod as desired", facts, (given) => {
    const { desired, places } = take(given)
    const open = given.nodes.filter((effect) => effect === "none").length
    return desired === open && places.filter(({ shouldRun }) => shouldRun).length === open
  })

  checkProperty("marks a target that is not a node as unwanted", facts, (given) =>
    take(given).places.every(({ exists, mayStay, shouldRun }) => exists || (!mayStay && !shouldRun))
  )

  checkProperty("takes a pod as available after minReadySeconds", facts, (given) => {
    const snapshot = take(given)
    return given.pods.every(({ facts: { ready }, on }, i) => {
      const pod = podsOf(given)[i]
      const works = ready !== undefined && ready >= given.set.minReady
      return on === "nowhere" || pod === undefined || Snapshot.isAvailable(snapshot, pod) === works
    })
  })

  checkProperty("takes a pod as updated by its hash", facts, (given) => {
    const snapshot = take(given)
    return given.pods.every(({ facts: { isGoing, revision } }, i) => {
      const pod = podsOf(given)[i]
      return (
        pod === undefined ||
        (Snapshot.isUpdated(snapshot, pod) === (revision === hash) && Snapshot.isTerminating(pod) === isGoing)
      )
    })
  })
})
