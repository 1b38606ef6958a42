/**
 * The Services that request topology-aware hints and the results: which events to record, and which Services a node
 * change affects. Plain synchronous state of one leadership term. Source: endpointslice/topologycache: TopologyCache.
 */
import type { Key } from "../../kube/Key.ts"
import type { Family } from "../shared/services/pods.ts"
import * as Allocation from "./plan/allocation.ts"
import type * as Hints from "./plan/hints.ts"

/** The result of a sync for one address family. */
export interface FamilyOutcome {
  readonly family: Family
  readonly outcome: Hints.Outcome
}

/** An event to record for the Service. */
export interface TopologyEvent {
  readonly type: "Normal" | "Warning"
  readonly reason: "TopologyAwareHintsEnabled" | "TopologyAwareHintsDisabled"
  readonly message: string
}

export interface TopologyCache {
  /** Stores the results of a sync, none for a Service without the request; returns the events to record. */
  readonly note: (service: Key, outcomes: ReadonlyArray<FamilyOutcome>) => ReadonlyArray<TopologyEvent>
  readonly forget: (service: Key) => void
  /** The Services whose hints would change with these shares. */
  readonly concerned: (shares: Allocation.Shares | undefined) => ReadonlyArray<Key>
}

export const make = (): TopologyCache => {
  const known = new Map<Key, ReadonlyArray<FamilyOutcome>>()
  return {
    note: (service, outcomes) => {
      const before = known.get(service) ?? nothing
      if (outcomes.length === 0) known.delete(service)
      else known.set(service, outcomes)
      return eventsFor(before, outcomes)
    },
    forget: (service) => {
      known.delete(service)
    },
    concerned: (shares) => {
      const found: Array<Key> = []
      for (const [service, outcomes] of known)
        if (outcomes.some(({ outcome }) => !holds(outcome, shares))) found.push(service)
      return found
    }
  }
}

const nothing: ReadonlyArray<FamilyOutcome> = []

/** A refusal is recorded each time; hints only when they are enabled or disabled. */
export const eventsFor = (
  before: ReadonlyArray<FamilyOutcome>,
  now: ReadonlyArray<FamilyOutcome>
): ReadonlyArray<TopologyEvent> => {
  const had = before.find(({ outcome }) => outcome._tag === "Given")
  const events: Array<TopologyEvent> = now.flatMap(({ family, outcome }) =>
    outcome._tag === "Refused" ? [disabled(outcome.reason, family)] : []
  )
  const has = now.find(({ outcome }) => outcome._tag === "Given")
  if (had === undefined && has !== undefined) {
    const message = `Topology Aware Hints has been enabled, addressType: ${has.family}`
    events.push({ type: "Normal", reason: "TopologyAwareHintsEnabled", message })
  }
  if (had !== undefined && now.length === 0) events.push(disabled("Topology Aware Hints has been disabled", had.family))
  return events
}

const disabled = (why: string, family: Family): TopologyEvent => ({
  type: "Warning",
  reason: "TopologyAwareHintsDisabled",
  message: `${why}, addressType: ${family}`
})

/** Whether a sync of the same endpoints with these shares would change nothing. */
export const holds = (outcome: Hints.Outcome, shares: Allocation.Shares | undefined): boolean => {
  if (outcome._tag === "Refused") {
    const { isOfNodes, ready } = outcome
    return !isOfNodes || Allocation.of(shares, ready)._tag === "Impossible"
  }
  const { counts } = outcome
  let ready = 0
  for (const count of counts.values()) ready += count
  const allocation = Allocation.of(shares, ready)
  if (allocation._tag === "Impossible") return false
  return (
    Allocation.used(allocation.due, counts) <= allocation.slack &&
    [...counts].every(([zone, count]) => count === 0 || allocation.due.has(zone))
  )
}
