/**
 * How much of each zone is ill, and how fast its nodes may be given up for that. Total functions. When no zone has a node that is ready, it is
 * likelier that this process is cut off than that all machines are gone: then nobody is given up at all. Source: spec G.4.2.
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
  /** Nodes a second in a zone that is well, or wholly ill while others are not. `--node-eviction-rate`. */
  readonly normal: number
  /** In a large zone that is partly ill. `--secondary-node-eviction-rate`. */
  readonly secondary: number
  /** A zone of more nodes is large. `--large-cluster-size-threshold`. */
  readonly large: number
  /** So much of a zone, between 0 and 1, makes it partly ill. `--unhealthy-zone-threshold`. */
  readonly unhealthy: number
}

export type States = ReadonlyMap<string, State>

/** What follows from a look at all zones. */
export interface Transition {
  readonly states: States
  /** Nodes a second, of each zone that there is. */
  readonly rates: ReadonlyMap<string, number>
  /** `Entered`: nobody is to be given up any more. `Left`: somebody is ready again, and what was seen until now proves nothing. */
  readonly mode: "Same" | "Entered" | "Left"
}

/** Between region and zone, as a name may have a colon. Source: k8s.io/component-helpers GetZoneKey. */
const separator = ":\0:"

/** Region and zone of a node, as metrics name it; empty where it names neither. */
export const zoneOf = ({ metadata: { labels = {} } }: Node): string => {
  const region = labels["topology.kubernetes.io/region"] ?? labels["failure-domain.beta.kubernetes.io/region"] ?? ""
  const zone = labels["topology.kubernetes.io/zone"] ?? labels["failure-domain.beta.kubernetes.io/zone"] ?? ""
  return region === "" && zone === "" ? "" : `${region}${separator}${zone}`
}

/** For people. */
export const shown = (zone: string): string => zone.replace(separator, ":")

/** Some nodes do not count for the state of their zone. */
export const counts = ({ metadata: { labels = {} } }: Node): boolean =>
  !Object.hasOwn(labels, "node.kubernetes.io/exclude-disruption")

export const stateOf = ({ notReady, ready }: Count, unhealthy: number): State => {
  if (ready === 0 && notReady > 0) return "Full"
  return notReady > 2 && notReady / (notReady + ready) >= unhealthy ? "Partial" : "Normal"
}

/** Whether there are zones and all of them are wholly ill. */
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
