/** Which changes enqueue a pod for taint eviction. Source: pkg/controller/tainteviction. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Plan from "../../../src/controllers/tainteviction/plan.ts"
import * as Triggers from "../../../src/controllers/tainteviction/triggers.ts"
import type { Node, Pod } from "../../../src/kube/resources.ts"
import type { Readable } from "../../../src/streams/store/Store.ts"
import { checkProperty } from "../../support/property.ts"
import { deltaKinds, deltaOf } from "../../support/stores.ts"

const Taints = Schema.Array(
  Schema.Struct({ key: Schema.Literals(["a", "b"]), effect: Schema.Literals(["NoExecute", "NoExecute", "NoSchedule"]) })
).check(Schema.isMaxLength(2))

type Taints = typeof Taints.Type

const nodeOf = (taints: Taints, name = "n"): Node => ({ metadata: { name }, spec: { taints } })

const driving = (taints: Taints): Taints => taints.filter(({ effect }) => effect === "NoExecute")

const PodFacts = Schema.Struct({
  node: Schema.Literals(["", "n", "n", "m"]),
  seconds: Schema.UndefinedOr(Schema.Literals([10, 20])),
  uid: Schema.Literals(["x", "x", "y"]),
  label: Schema.Literals(["a", "b"])
})

const podOf = ({ label, node, seconds, uid }: typeof PodFacts.Type): Pod => ({
  metadata: { namespace: "ns", name: "p", uid, labels: { label } },
  spec: {
    containers: [],
    ...(node === "" ? {} : { nodeName: node }),
    ...(seconds === undefined ? {} : { tolerations: [{ key: "a", operator: "Exists", tolerationSeconds: seconds }] })
  }
})

/** Scheduled evictions of these pods. */
const evictionsOf = (keys: ReadonlyArray<string>): Plan.Evictions =>
  new Map(
    keys.map((key) => [
      key,
      Plan.entryOf({ metadata: { namespace: "ns", name: "p" } }, { since: 0, due: 1, isDone: false })
    ])
  )

const nodeDeltas = Arbitrary.schema(
  Schema.Struct({
    kind: deltaKinds,
    before: Taints,
    after: Taints,
    there: Schema.Array(Schema.Literals(["ns/p", "ns/q", "ns/r"])),
    held: Schema.Array(Schema.Literals(["ns/p", "ns/q", "ns/elsewhere"]))
  })
)

const podDeltas = Arbitrary.schema(
  Schema.Struct({ kind: deltaKinds, before: PodFacts, after: PodFacts, taints: Taints, isHeld: Schema.Boolean })
)

const text = JSON.stringify

describe("Triggers", () => {
  checkProperty(
    "a node with NoExecute taints enqueues all its pods, one without those with a scheduled eviction",
    nodeDeltas,
    (one) => {
      const there = [...new Set(one.there)]
      const pods = {
        keysByIndex: (_: string, name: string) => (name === "n" ? there : [])
      } as unknown as Readable<Pod>
      const enqueued = Triggers.node(
        pods,
        evictionsOf(one.held)
      )(deltaOf(one.kind, nodeOf(one.after), nodeOf(one.before)))
      const isSame = one.kind === "Updated" && text(driving(one.before)) === text(driving(one.after))
      const held = there.filter((key) => one.held.some((other) => other === key))
      const expected = one.kind === "Deleted" || isSame ? [] : driving(one.after).length > 0 ? there : held
      return enqueued.join() === expected.join()
    }
  )

  checkProperty("a pod is enqueued when its node, tolerations or deletion change", podDeltas, (one) => {
    const nodes = {
      get: (name: string) => (name === "n" ? nodeOf(one.taints) : undefined)
    } as unknown as Readable<Node>
    const enqueued = Triggers.pod(
      nodes,
      evictionsOf(one.isHeld ? ["ns/p"] : [])
    )(deltaOf(one.kind, podOf(one.after), podOf(one.before)))
    const isDriven = one.kind !== "Deleted" && one.after.node === "n" && driving(one.taints).length > 0
    const { before, after } = one
    const isSame = before.node === after.node && before.seconds === after.seconds && before.uid === after.uid
    const expected = (one.isHeld || isDriven) && !(one.kind === "Updated" && isSame)
    return enqueued.join() === (expected ? "ns/p" : "")
  })
})
