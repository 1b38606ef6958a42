/**
 * The NoSchedule taints for the conditions of a node, and the NoExecute taints that evict its pods. NoSchedule taints are set at once; NoExecute
 * taints wait for the rate of the zone, except when one replaces the other. Pure. Source: pkg/controller/nodelifecycle:
 * doNoScheduleTaintingPass, processTaintBaseEviction.
 */
import type { Node } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Nodes from "../shared/nodes/node.ts"

const notReadyKey = "node.kubernetes.io/not-ready"
const unreachableKey = "node.kubernetes.io/unreachable"
const unschedulableKey = "node.kubernetes.io/unschedulable"

/** The taint key for each condition and status. */
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
 * The taints of the node with the NoSchedule taints for its conditions; undefined if they are set already. An added taint gets the time `now`.
 * Source: pkg/controller/util/node: SwapNodeControllerTaint.
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

/** Whether the node has a NoExecute taint of this controller. */
export const hasNoExecuteTaint = (node: Node): boolean =>
  Nodes.hasTaint(node, notReady) || Nodes.hasTaint(node, unreachable)

/** The taints without the NoExecute taints of this controller; undefined if it has none. */
export const withoutNoExecuteTaint = (node: Node): ReadonlyArray<Nodes.Taint> | undefined =>
  Nodes.changed(node, { remove: [notReady, unreachable] })

/** The taints with the NoExecute taint for its present status; undefined if it is ready, or has exactly that one. */
export const withNoExecuteTaint = (node: Node, now: number): ReadonlyArray<Nodes.Taint> | undefined => {
  const status = Nodes.readyCondition(node)?.status
  if (status !== "False" && status !== "Unknown") return undefined
  const [expected, other] = status === "False" ? [notReady, unreachable] : [unreachable, notReady]
  return Nodes.changed(node, { add: [{ ...expected, timeAdded: Time.format(now) }], remove: [other] })
}

/** `Remove`: remove its NoExecute taints. `Swap`: replace one by the other. `Enqueue`: taint it at the rate of its zone. `Keep`: nothing to do. */
export type TaintAction = "Remove" | "Swap" | "Enqueue" | "Keep"

export const taintActionOf = (node: Node, isDisrupted: boolean): TaintAction => {
  const status = Nodes.readyCondition(node)?.status
  if (hasNoExecuteTaint(node) && (isDisrupted || status === "True")) return "Remove"
  if (status !== "False" && status !== "Unknown") return "Keep"
  if (!hasNoExecuteTaint(node)) return "Enqueue"
  return withNoExecuteTaint(node, 0) === undefined ? "Keep" : "Swap"
}

/** Deprecated labels, and the labels whose values they copy. Source: pkg/controller/nodelifecycle: labelReconcileInfo. */
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
