/**
 * The Services that ask for hints by zone, and what became of it: from this it is known what is news to their users, and whom a change of
 * the nodes concerns. Plain synchronous state, for one term of leadership. Source: spec F.3, endpointslice/topologycache.
 */
import type { Key } from "../../kube/Key.ts"
import type { Family } from "../shared/services/pods.ts"
import * as Allocation from "./allocation.ts"
import type * as Hints from "./hints.ts"

/** What a sync decided for one family. */
export interface Answer {
  readonly family: Family
  readonly outcome: Hints.Outcome
}

/** What the Service's users are told. */
export interface News {
  readonly type: "Normal" | "Warning"
  readonly reason: "TopologyAwareHintsEnabled" | "TopologyAwareHintsDisabled"
  readonly message: string
}

export interface Wishes {
  /** What a sync has decided, nothing for a Service that does not ask; answers with what is to be told. */
  readonly note: (service: Key, answers: ReadonlyArray<Answer>) => ReadonlyArray<News>
  readonly forget: (service: Key) => void
  /** Those that would not get with these shares what they have got. */
  readonly concerned: (shares: Allocation.Shares | undefined) => ReadonlyArray<Key>
}

export const make = (): Wishes => {
  const known = new Map<Key, ReadonlyArray<Answer>>()
  return {
    note: (service, answers) => {
      const before = known.get(service) ?? nothing
      if (answers.length === 0) known.delete(service)
      else known.set(service, answers)
      return newsOf(before, answers)
    },
    forget: (service) => {
      known.delete(service)
    },
    concerned: (shares) => {
      const found: Array<Key> = []
      for (const [service, answers] of known)
        if (answers.some(({ outcome }) => !holds(outcome, shares))) found.push(service)
      return found
    }
  }
}

const nothing: ReadonlyArray<Answer> = []

/** A refusal is told each time, hints when they come and when nobody asks for them any more. */
export const newsOf = (before: ReadonlyArray<Answer>, now: ReadonlyArray<Answer>): ReadonlyArray<News> => {
  const had = before.find(({ outcome }) => outcome._tag === "Given")
  const news: Array<News> = now.flatMap(({ family, outcome }) =>
    outcome._tag === "Refused" ? [disabled(outcome.reason, family)] : []
  )
  const has = now.find(({ outcome }) => outcome._tag === "Given")
  if (had === undefined && has !== undefined) {
    const message = `Topology Aware Hints has been enabled, addressType: ${has.family}`
    news.push({ type: "Normal", reason: "TopologyAwareHintsEnabled", message })
  }
  if (had !== undefined && now.length === 0) news.push(disabled("Topology Aware Hints has been disabled", had.family))
  return news
}

const disabled = (why: string, family: Family): News => ({
  type: "Warning",
  reason: "TopologyAwareHintsDisabled",
  message: `${why}, addressType: ${family}`
})

/** Whether a sync with these shares, of the same endpoints, would leave the slices as they are. */
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
