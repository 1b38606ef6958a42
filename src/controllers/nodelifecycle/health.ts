/**
 * Whether a node still reports: measured from when this process last observed a new heartbeat or lease renewal, on the clock of this process.
 * Timestamps from other clocks are never compared with it. Pure. Source: pkg/controller/nodelifecycle: tryUpdateNodeHealth.
 */
import type { Lease, Node } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Nodes from "../shared/nodes/node.ts"

/** The last observed heartbeat and lease renewal of a node. Both texts are compared for equality only. */
export interface Heartbeat {
  readonly uid: string | undefined
  /** Of the condition Ready; undefined while it does not exist. */
  readonly heartbeat: string | undefined
  readonly renewal: string | undefined
  /** When either last changed, in milliseconds of observed time. */
  readonly at: number
}

/** Milliseconds. */
export interface GracePeriods {
  /** For a node that has reported. `--node-monitor-grace-period`. */
  readonly grace: number
  /** For a node that has never reported. `--node-startup-grace-period`. */
  readonly startupGrace: number
}

/** The heartbeat after reading the node and its lease. */
export const observe = (
  before: Heartbeat | undefined,
  node: Node,
  lease: Lease | undefined,
  now: number
): Heartbeat => {
  const { uid } = node.metadata
  const ready = Nodes.readyCondition(node)
  const heartbeat = ready === undefined ? undefined : (ready.lastHeartbeatTime ?? "")
  const renewal = lease?.spec?.renewTime ?? undefined
  if (before === undefined || before.uid !== uid) return { uid, heartbeat, renewal, at: now }
  const isBeat = heartbeat !== before.heartbeat
  const isRenewed = renewal !== undefined && renewal !== before.renewal
  if (!isBeat && !isRenewed) return before
  return { uid, heartbeat, renewal: renewal ?? before.renewal, at: now }
}

/** Whether nothing has changed for longer than the grace period. */
export const isOverdue = (node: Node, heartbeat: Heartbeat, grace: GracePeriods, now: number): boolean =>
  now - heartbeat.at > (Nodes.readyCondition(node) === undefined ? grace.startupGrace : grace.grace)

/** The conditions that a kubelet reports, Ready first. */
const reported = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] as const

/**
 * The conditions of a node without heartbeats; undefined if Ready is Unknown already. `wallclock`: milliseconds since 1970, for the transition
 * times.
 */
export const unknownConditions = (node: Node, wallclock: number): ReadonlyArray<Nodes.Condition> | undefined => {
  const ready = Nodes.readyCondition(node)
  if (ready?.status === "Unknown") return undefined
  const before = node.status?.conditions ?? []
  const now = Time.format(wallclock)
  const unknown = before.map((one) => (isReported(one) && one.status !== "Unknown" ? stoppedReporting(one, now) : one))
  const missing = reported.filter((type) => !before.some((one) => one.type === type))
  return [...unknown, ...missing.map((type) => neverReported(type, node, now))]
}

const isReported = ({ type }: Nodes.Condition): boolean => reported.some((one) => one === type)

const stoppedReporting = (condition: Nodes.Condition, now: string): Nodes.Condition => ({
  ...condition,
  status: "Unknown",
  reason: "NodeStatusUnknown",
  message: "Kubelet stopped posting node status.",
  lastTransitionTime: now
})

const neverReported = (type: string, node: Node, now: string): Nodes.Condition => ({
  type,
  status: "Unknown",
  reason: "NodeStatusNeverUpdated",
  message: "Kubelet never posted node status.",
  lastHeartbeatTime: node.metadata.creationTimestamp ?? now,
  lastTransitionTime: now
})

/**
 * A clock that stops while this process does: between two passes it advances by at most `longest`. A process that was suspended has not observed
 * missing heartbeats. Milliseconds.
 */
export const observedTime = (longest: number) => {
  let last: number | undefined
  let observed = 0
  return (now: number): number => {
    if (last !== undefined) observed += Math.min(Math.max(0, now - last), longest)
    last = now
    return observed
  }
}
