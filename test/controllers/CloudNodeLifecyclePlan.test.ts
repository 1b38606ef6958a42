import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Plan from "../../src/controllers/CloudNodeLifecycle.ts"
import type { Node } from "../../src/kube/resources.ts"
import { checkProperty, oneOf, type ValueOf } from "../support/property.ts"

const off = "node.cloudprovider.kubernetes.io/shutdown"
const fresh = "node.cloudprovider.kubernetes.io/uninitialized"

const cases = Arbitrary.all({
  ready: oneOf("absent", "True", "False", "Unknown"),
  isOff: oneOf(true, false),
  isFresh: oneOf(true, false),
  isMine: oneOf(true, false),
  word: oneOf("off", "there")
})

type Case = ValueOf<typeof cases>

const nodeOf = ({ isFresh, isMine, isOff, ready }: Case): Node => ({
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
    cases,
    (given) => Plan.isInDoubt(nodeOf(given)) === (given.ready !== "True")
  )

  checkProperty(
    "a node whose machine is shut down has the taint until it is ready; other taints stay, and a correct node is not written",
    cases,
    (given) => {
      const node = nodeOf(given)
      const changed = Plan.taints(node, given.word)
      const after: Node = changed === undefined ? node : { ...node, spec: { taints: [...changed] } }
      const keys = (after.spec?.taints ?? []).map(({ key }) => key)
      const isOff = given.word === "off" || (given.isOff && given.ready !== "True")
      return (
        keys.filter((key) => key === off).length === (isOff ? 1 : 0) &&
        keys.includes(fresh) === given.isFresh &&
        keys.includes("example.com/mine") === given.isMine &&
        (changed === undefined) === (given.isOff === isOff) &&
        Plan.taints(after, given.word) === undefined
      )
    }
  )
})
