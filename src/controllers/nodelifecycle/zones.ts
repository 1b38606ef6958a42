/**
 * The state of each zone and its eviction rate. Total functions. When no zone has a ready node, this process is more likely partitioned than all
 * machines gone: then no node is tainted. Source: pkg/controller/nodelifecycle: ComputeZoneState, handleDisruption.
 */
import type { Node } from "../../kube/resources.ts"

/** `Initial`: seen for the first time. */
export type State = "Initial" | "Normal" | "Partial" | "Full"

/** Nodes of a zone. */
export interface Count {
  readonly ready: number
  readonly notReady: number
}

export interface Rates {
  /** Nodes per second in a healthy zone, or in a fully disrupted one while others are not. `--node-eviction-rate`. */
  readonly normal: number
  /** In a large, partially disrupted zone. `--secondary-node-eviction-rate`. */
  readonly secondary: number
  /** A zone of more nodes is large. `--large-cluster-size-threshold`. */
  readonly large: number
  /** The share of nodes not ready, between 0 and 1, that makes a zone partially disrupted. `--unhealthy-zone-threshold`. */
  readonly unhealthy: number
}

export type States = ReadonlyMap<string, State>

/** The result of a pass over all zones. */
export interface Transition {
  readonly states: States
  /** Nodes per second, by zone. */
  readonly rates: ReadonlyMap<string, number>
  /** `Entered`: no node is ready, evictions stop. `Left`: a node is ready again, and all heartbeat times start again. */
  readonly mode: "Same" | "Entered" | "Left"
}

/** Separates region and zone, whose names may contain a colon. Source: k8s.io/component-helpers: GetZoneKey. */
const separator = ":\0:"

/** Region and zone of a node, as in metrics; empty if it has neither label. */
export const zoneOf = ({ metadata: { labels = {} } }: Node): string => {
  const region = labels["topology.kubernetes.io/region"] ?? labels["failure-domain.beta.kubernetes.io/region"] ?? ""
  const zone = labels["topology.kubernetes.io/zone"] ?? labels["failure-domain.beta.kubernetes.io/zone"] ?? ""
  return region === "" && zone === "" ? "" : `${region}${separator}${zone}`
}

/** For logs. */
export const shown = (zone: string): string => zone.replace(separator, ":")

/** Some nodes do not count for the state of their zone. */
export const counts = ({ metadata: { labels = {} } }: Node): boolean =>
  !Object.hasOwn(labels, "node.kubernetes.io/exclude-disruption")

export const stateOf = ({ notReady, ready }: Count, unhealthy: number): State => {
  if (ready === 0 && notReady > 0) return "Full"
  return notReady > 2 && notReady / (notReady + ready) >= unhealthy ? "Partial" : "Normal"
}

/** Whether there are zones and all of them are fully disrupted. */
export const isDisrupted = (states: States): boolean =>
  states.size > 0 && [...states.values()].every((state) => state === "Full")

export const transition = (before: States, zones: ReadonlyMap<string, Count>, rates: Rates): Transition => {
  const states = new Map([...zones].map(([zone, count]) => [zone, stateOf(count, rates.unhealthy)] as const))
  const known = new Map([...zones.keys()].map((zone) => [zone, before.get(zone) ?? "Initial"] as const))
  const was = isDisrupted(known)
  const is = isDisrupted(states)
  const rateOf = (zone: string, { notReady, ready }: Count): number => {
    if (is) return 0
    if (states.get(zone) !== "Partial") return rates.normal
    return ready + notReady > rates.large ? rates.secondary : 0
  }
  return {
    states,
    rates: new Map([...zones].map(([zone, count]) => [zone, rateOf(zone, count)])),
    mode: is === was ? "Same" : is ? "Entered" : "Left"
  }
}
