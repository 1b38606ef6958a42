/**
 * Whether a node is alive: what counts is when this process last saw its heartbeat or its lease change, on a clock of this process, never what
 * a clock elsewhere says. Total functions of what was seen, the node, its lease and the time; nothing here writes. Source: spec G.4.1.
 */
import type { Lease, Node } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Nodes from "../shared/nodes/node.ts"

/** What was seen of a node. Both texts are only compared for being the same. */
export interface Heartbeat {
  readonly uid: string | undefined
  /** Of the condition Ready; undefined while nobody has posted one. */
  readonly heartbeat: string | undefined
  readonly renewal: string | undefined
  /** When something of it was last new, in milliseconds of observed time. */
  readonly at: number
}

/** Milliseconds. */
export interface GracePeriods {
  /** For a node that has reported. `--node-monitor-grace-period`. */
  readonly grace: number
  /** For one that never has. `--node-startup-grace-period`. */
  readonly startupGrace: number
}

/** What a look at the node and its lease adds to what was seen. */
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

/** True once nothing new was seen for longer than the node is given. */
export const isOverdue = (node: Node, heartbeat: Heartbeat, grace: GracePeriods, now: number): boolean =>
  now - heartbeat.at > (Nodes.readyCondition(node) === undefined ? grace.startupGrace : grace.grace)

/** What a kubelet reports of itself, Ready first. */
const reported = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] as const

/**
 * The conditions of a node that nobody hears of; undefined if that changes nothing of Ready, which is the one that counts. `wallclock`:
 * milliseconds since 1970, for people.
 */
export const unknownConditions = (node: Node, wallclock: number): ReadonlyArray<Nodes.Condition> | undefined => {
  const ready = Nodes.readyCondition(node)
  if (ready?.status === "Unknown") return undefined
  const before = node.status?.conditions ?? []
  const now = Time.format(wallclock)
  const unknown = before.map((one) => (isReported(one) && one.status !== "Unknown" ? silenced(one, now) : one))
  const missing = reported.filter((type) => !before.some((one) => one.type === type))
  return [...unknown, ...missing.map((type) => neverTold(type, node, now))]
}

const isReported = ({ type }: Nodes.Condition): boolean => reported.some((one) => one === type)

const silenced = (condition: Nodes.Condition, now: string): Nodes.Condition => ({
  ...condition,
  status: "Unknown",
  reason: "NodeStatusUnknown",
  message: "Kubelet stopped posting node status.",
  lastTransitionTime: now
})

const neverTold = (type: string, node: Node, now: string): Nodes.Condition => ({
  type,
  status: "Unknown",
  reason: "NodeStatusNeverUpdated",
  message: "Kubelet never posted node status.",
  lastHeartbeatTime: node.metadata.creationTimestamp ?? now,
  lastTransitionTime: now
})

/**
 * A clock that stands still while this process does: between two looks no more passes than a look may be late. Who did not look - the
 * machine slept, the event loop was busy - has not seen anybody be silent. Milliseconds.
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
