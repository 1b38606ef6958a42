import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Taints from "../../../src/controllers/nodelifecycle/taints.ts"
import * as Nodes from "../../../src/controllers/shared/nodes/node.ts"
import type { Node } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty, oneOf, type ValueOf } from "../../support/property.ts"
const prefix = "node.kubernetes.io/"

const status = oneOf("absent", "True", "False", "Unknown")

const taint = Arbitrary.all({
  key: oneOf(
    `${prefix}not-ready`,
    `${prefix}unreachable`,
    `${prefix}memory-pressure`,
    `${prefix}unschedulable`,
    `${prefix}network-unavailable`,
    "example.com/mine"
  ),
  effect: oneOf("NoSchedule", "NoExecute", "PreferNoSchedule")
})

const nodes = Arbitrary.all({
  ready: status,
  memory: status,
  disk: status,
  pids: status,
  network: status,
  unschedulable: oneOf(true, false),
  isDisrupted: oneOf(true, false),
  taints: Arbitrary.array(taint, { maxLength: 5 }),
  os: oneOf("", "linux", "windows"),
  oldOs: oneOf("", "linux"),
  arch: oneOf("", "arm64"),
  oldArch: oneOf("", "amd64")
})

type Facts = ValueOf<typeof nodes>

const nodeOf = (facts: Facts): Node => ({
  metadata: {
    name: "n",
    labels: Object.fromEntries(
      [
        ["kubernetes.io/os", facts.os],
        ["beta.kubernetes.io/os", facts.oldOs],
        ["kubernetes.io/arch", facts.arch],
        ["beta.kubernetes.io/arch", facts.oldArch]
      ].filter(([, value]) => value !== "")
    ) as Record<string, string>
  },
  spec: {
    ...(facts.unschedulable ? { unschedulable: true } : {}),
    taints: facts.taints.filter(
      (one, i) => facts.taints.findIndex(({ effect, key }) => key === one.key && effect === one.effect) === i
    )
  },
  status: {
    conditions: [
      { type: "MemoryPressure", status: facts.memory },
      { type: "DiskPressure", status: facts.disk },
      { type: "PIDPressure", status: facts.pids },
      { type: "NetworkUnavailable", status: facts.network },
      { type: "Ready", status: facts.ready }
    ].filter((one) => one.status !== "absent")
  }
})

const withTaints = (node: Node, taints: NonNullable<Node["spec"]>["taints"]): Node => ({
  ...node,
  spec: { ...node.spec, ...(taints === undefined ? {} : { taints }) }
})

const named = (node: Node): ReadonlyArray<string> =>
  (node.spec?.taints ?? []).map(({ effect, key }) => `${key}:${effect}`)

const sorted = (texts: ReadonlyArray<string>): string => [...texts].sort().join()

const wanted = (facts: Facts): ReadonlyArray<string> =>
  [
    facts.ready === "False" ? "not-ready" : facts.ready === "Unknown" ? "unreachable" : "",
    facts.memory === "True" ? "memory-pressure" : "",
    facts.disk === "True" ? "disk-pressure" : "",
    facts.pids === "True" ? "pid-pressure" : "",
    facts.network === "True" ? "network-unavailable" : "",
    facts.unschedulable ? "unschedulable" : ""
  ].flatMap((key) => (key === "" ? [] : [`${prefix}${key}:NoSchedule`]))
const driving = [`${prefix}not-ready:NoExecute`, `${prefix}unreachable:NoExecute`]
describe("Taints", () => {
  checkProperty(
    "NoSchedule taints follow from the node and have timeAdded; others stay, and nothing is written twice",
    nodes,
    (facts) => {
      const node = nodeOf(facts)
      const taints = Taints.scheduling(node, 7_000)
      const after = taints === undefined ? node : withTaints(node, [...taints])
      const others = named(node).filter((one) => !one.startsWith(prefix) || !one.endsWith(":NoSchedule"))
      return (
        sorted(named(after)) === sorted([...others, ...wanted(facts)]) &&
        Taints.scheduling(after, 9_000) === undefined &&
        (taints === undefined) === (sorted(named(node)) === sorted(named(after))) &&
        (taints ?? []).every(
          (taint) => taint.timeAdded === (Nodes.hasTaint(node, taint) ? undefined : Time.format(7_000))
        )
      )
    }
  )

  checkProperty(
    "a ready node, or one of a fully disrupted cluster, loses our NoExecute taints; any other has the right one or is enqueued",
    nodes,
    (facts) => {
      const node = nodeOf(facts)
      const action = Taints.taintActionOf(node, facts.isDisrupted)
      const has = driving.filter((one) => named(node).includes(one))
      const isIll = facts.ready === "False" || facts.ready === "Unknown"
      if (facts.ready === "True" || facts.isDisrupted) {
        if (has.length > 0) {
          if (action !== "Remove") return false
          const after = withTaints(node, [...(Taints.withoutNoExecuteTaint(node) ?? [])])
          const kept = named(node).filter((one) => !driving.includes(one))
          return sorted(named(after)) === sorted(kept) && Taints.taintActionOf(after, facts.isDisrupted) !== "Remove"
        }
        return Taints.withoutNoExecuteTaint(node) === undefined && action === (isIll ? "Enqueue" : "Keep")
      }
      if (!isIll) return action === "Keep"
      const right = facts.ready === "False" ? driving[0] : driving[1]
      if (has.length === 0) return action === "Enqueue"
      return action === (has.length === 1 && has[0] === right ? "Keep" : "Swap")
    }
  )

  checkProperty(
    "a node that is not ready gets the one NoExecute taint for its status, with timeAdded; nothing is written twice",
    nodes,
    (facts) => {
      const node = nodeOf(facts)
      const taints = Taints.withNoExecuteTaint(node, 7_000)
      if (facts.ready !== "False" && facts.ready !== "Unknown") return taints === undefined
      const right = facts.ready === "False" ? "not-ready" : "unreachable"
      const after = taints === undefined ? node : withTaints(node, [...taints])
      const others = named(node).filter((one) => !driving.includes(one))
      const before = named(node).includes(`${prefix}${right}:NoExecute`)
      const added = after.spec?.taints?.find(({ effect, key }) => key === prefix + right && effect === "NoExecute")
      return (
        sorted(named(after)) === sorted([...others, `${prefix}${right}:NoExecute`]) &&
        added?.timeAdded === (before ? undefined : Time.format(7_000)) &&
        Taints.withNoExecuteTaint(after, 9_000) === undefined
      )
    }
  )

  checkProperty("deprecated labels have the values of the new ones", nodes, (facts) => {
    const node = nodeOf(facts)
    const set = Taints.labels(node)
    const after = { ...node.metadata.labels, ...set }
    return (
      (facts.os === "" || after["beta.kubernetes.io/os"] === facts.os) &&
      (facts.arch === "" || after["beta.kubernetes.io/arch"] === facts.arch) &&
      (facts.os !== "" || after["beta.kubernetes.io/os"] === (facts.oldOs === "" ? undefined : facts.oldOs)) &&
      Taints.labels({ ...node, metadata: { ...node.metadata, labels: after } }) === undefined
    )
  })
})
