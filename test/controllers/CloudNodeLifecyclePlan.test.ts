import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Plan from "../../src/controllers/CloudNodeLifecycle.ts"
import type { Node } from "../../src/kube/resources.ts"
import { checkProperty, oneOf, type ValueOf } from "../support/property.ts"

const off = "node.cloudprovider.kubernetes.io/shutdown"
const fresh = "node.cloudprovider.kubernetes.io/uninitialized"

const worlds = Arbitrary.all({
  ready: oneOf("absent", "True", "False", "Unknown"),
  isOff: oneOf(true, false),
  isFresh: oneOf(true, false),
  isMine: oneOf(true, false),
  word: oneOf("off", "there")
})

type World = ValueOf<typeof worlds>

const nodeOf = ({ isFresh, isMine, isOff, ready }: World): Node => ({
  metadata: { name: "n" },
  spec: {
    taints: [
      ...(isOff ? [{ key: off, effect: "NoSchedule" }] : []),
      ...(isFresh ? [{ key: fresh, effect: "NoSchedule" }] : []),
      ...(isMine ? [{ key: "example.com/mine", effect: "NoExecute" }] : [])
    ]
  },
  status: ready === "absent" ? {} : { conditions: [{ type: "Ready", status: ready }] }
})
describe("Plan", () => {
  checkProperty(
    "the cloud provider is asked about nodes that are not ready, and about no others",
    worlds,
    (harness) => Plan.isInDoubt(nodeOf(harness)) === (harness.ready !== "True")
  )

  checkProperty(
    "a node whose machine is shut down has the taint until it is ready; other taints stay, and a correct node is not written",
    worlds,
    (harness) => {
      const node = nodeOf(harness)
      const changed = Plan.taints(node, harness.word)
      const after: Node = changed === undefined ? node : { ...node, spec: { taints: [...changed] } }
      const keys = (after.spec?.taints ?? []).map(({ key }) => key)
      const isOff = harness.word === "off" || (harness.isOff && harness.ready !== "True")
      return (
        keys.filter((key) => key === off).length === (isOff ? 1 : 0) &&
        keys.includes(fresh) === harness.isFresh &&
        keys.includes("example.com/mine") === harness.isMine &&
        (changed === undefined) === (harness.isOff === isOff) &&
        Plan.taints(after, harness.word) === undefined
      )
    }
  )
})
