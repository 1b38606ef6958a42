/**
 * The taints that follow from what a node says of itself, and those that drive pods away. The first are a function of the node and put on at
 * once; the second wait for the rate of the zone, unless one only takes the place of the other. Total functions. Source: spec G.4.2.
 */
import type { Node } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Nodes from "../shared/nodes/node.ts"

const notReadyKey = "node.kubernetes.io/not-ready"
const unreachableKey = "node.kubernetes.io/unreachable"
const unschedulableKey = "node.kubernetes.io/unschedulable"

/** Which status of which condition is which taint. */
const byCondition: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReadyKey, Unknown: unreachableKey },
  MemoryPressure: { True: "node.kubernetes.io/memory-pressure" },
  DiskPressure: { True: "node.kubernetes.io/disk-pressure" },
  PIDPressure: { True: "node.kubernetes.io/pid-pressure" },
  NetworkUnavailable: { True: "node.kubernetes.io/network-unavailable" }
}

const ours: ReadonlySet<string> = new Set([
  unschedulableKey,
  ...Object.values(byCondition).flatMap((taints) => Object.values(taints))
])

/**
 * The taints of the node when those without effect on running pods are as its conditions have it; undefined if they are. One that is added
 * has the time. pkg/controller/util/node: SwapNodeControllerTaint.
 */
export const scheduling = (node: Node, now: number): ReadonlyArray<Nodes.Taint> | undefined => {
  const keys = (node.status?.conditions ?? []).flatMap(({ status, type }) => byCondition[type]?.[status] ?? [])
  if (node.spec?.unschedulable === true) keys.push(unschedulableKey)
  const remove = Nodes.taintsOf(node).filter(
    ({ effect, key }) => effect === "NoSchedule" && ours.has(key) && !keys.includes(key)
  )
  const add = Array.from(new Set(keys), (key) => ({ key, effect: "NoSchedule", timeAdded: Time.format(now) }))
  return Nodes.changed(node, { add, remove })
}

const notReady = { key: notReadyKey, effect: "NoExecute" } as const
const unreachable = { key: unreachableKey, effect: "NoExecute" } as const

/** Whether the node drives pods away because of us. */
export const hasNoExecuteTaint = (node: Node): boolean =>
  Nodes.hasTaint(node, notReady) || Nodes.hasTaint(node, unreachable)

/** The taints without those that drive pods away; undefined if there are none of ours. */
export const withoutNoExecuteTaint = (node: Node): ReadonlyArray<Nodes.Taint> | undefined =>
  Nodes.changed(node, { remove: [notReady, unreachable] })

/** The taints with the one that drives pods away for what the node is now; undefined if it is ready, or has that one alone. */
export const withNoExecuteTaint = (node: Node, now: number): ReadonlyArray<Nodes.Taint> | undefined => {
  const status = Nodes.readyCondition(node)?.status
  if (status !== "False" && status !== "Unknown") return undefined
  const [right, wrong] = status === "False" ? [notReady, unreachable] : [unreachable, notReady]
  return Nodes.changed(node, { add: [{ ...right, timeAdded: Time.format(now) }], remove: [wrong] })
}

/**
 * What is to become of a node: `Spare`: it keeps none of the taints. `Swap`: it has been given up already, for the other reason. `Wait`: it stands
 * in its zone's line. `Keep`: it is as it should be.
 */
export type TaintAction = "Remove" | "Swap" | "Enqueue" | "Keep"

export const taintActionOf = (node: Node, isDisrupted: boolean): TaintAction => {
  const status = Nodes.readyCondition(node)?.status
  if (hasNoExecuteTaint(node) && (isDisrupted || status === "True")) return "Remove"
  if (status !== "False" && status !== "Unknown") return "Keep"
  if (!hasNoExecuteTaint(node)) return "Enqueue"
  return withNoExecuteTaint(node, 0) === undefined ? "Keep" : "Swap"
}

/** Old names of labels, and the new ones whose values they have. Source: the reference's labelReconcileInfo. */
const mirrored = [
  ["beta.kubernetes.io/os", "kubernetes.io/os"],
  ["beta.kubernetes.io/arch", "kubernetes.io/arch"]
] as const

/** The labels to set; undefined if there are none. */
export const labels = ({ metadata: { labels = {} } }: Node): Readonly<Record<string, string>> | undefined => {
  const wanted: Record<string, string> = {}
  for (const [old, present] of mirrored) {
    const value = labels[present]
    if (value !== undefined && labels[old] !== value) wanted[old] = value
  }
  return Object.keys(wanted).length === 0 ? undefined : wanted
}
