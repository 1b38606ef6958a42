/** The state of one leadership term, and the settings that it depends on. */
import type { Node } from "../../kube/resources.ts"
import * as Nodes from "../shared/nodes/node.ts"
import type { Deps } from "./deps.ts"
import * as Health from "./health.ts"
import { RateLimitedQueue } from "./rateLimitedQueue.ts"
import type * as Zones from "./zones.ts"

/** All times in milliseconds. */
export interface Settings extends Health.GracePeriods, Zones.Rates {
  /** Between two passes. `--node-monitor-period`. */
  readonly period: number
}

/** The state of one leadership term. A new term starts empty: the grace period of every node starts again, and existing taints stay. */
export interface State {
  /** From monotonic time to observed time, in milliseconds. */
  readonly time: (now: number) => number
  readonly heartbeats: Map<string, Health.Heartbeat>
  /** The nodes after the last pass, by name; newer than the cache if the pass wrote them. */
  readonly checked: Map<string, Node>
  /** Nodes with pods whose Ready condition may still have to be set to False. */
  readonly podsToMark: Set<string>
  readonly noExecuteQueue: RateLimitedQueue
  states: Zones.States
}

export const make = (settings: Settings): State => ({
  time: Health.observedTime(2 * settings.period),
  heartbeats: new Map(),
  checked: new Map(),
  podsToMark: new Set(),
  noExecuteQueue: new RateLimitedQueue(settings.normal),
  states: new Map()
})

/** Whether the last pass found the node not ready or without heartbeats. */
export const isDown = ({ checked }: State, name: string): boolean => {
  const node = checked.get(name)
  const status = node === undefined ? undefined : Nodes.readyCondition(node)?.status
  return status === "False" || status === "Unknown"
}

/** The node in its newest known form. */
export const latest = ({ checked }: State, { nodes }: Pick<Deps, "nodes">, name: string): Node | undefined => {
  const cached = nodes.get(name)
  const known = checked.get(name)
  return cached === undefined || known?.metadata.uid !== cached.metadata.uid ? cached : known
}
