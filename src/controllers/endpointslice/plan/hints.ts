/**
 * The zone hints of a Service's endpoints, allocated by the zones' CPU: an endpoint serves its own zone, or another
 * zone that has too few. An unchanged slice keeps its hints while the other slices can make up for it. Without a
 * possible allocation there are no hints. Pure and idempotent. Source: endpointslice/topologycache: AddHints.
 */
import * as Allocation from "./allocation.ts"
import type { Endpoint } from "./desired.ts"

/** An existing slice or a draft. */
interface Holder {
  readonly endpoints?: ReadonlyArray<Endpoint> | undefined
}

/** The slices of one address family. */
export interface Given<out C, out S> {
  /** Undefined if a node's CPU or zone is unknown. */
  readonly shares: Allocation.Shares | undefined
  readonly creates: ReadonlyArray<C>
  /** Written in any case. */
  readonly updates: ReadonlyArray<S>
  readonly unchanged: ReadonlyArray<S>
}

/** The result for one address family. */
export type Outcome =
  | {
      readonly _tag: "Given"
      /** The number of endpoints for each zone that has any. */
      readonly counts: ReadonlyMap<string, number>
    }
  | {
      readonly _tag: "Refused"
      /** The message of the event. */
      readonly reason: string
      /** Whether a change of the nodes could make an allocation possible. */
      readonly isOfNodes: boolean
      /** The number of ready endpoints. */
      readonly ready: number
    }

export interface Hinted<out C, out S> {
  readonly creates: ReadonlyArray<C>
  readonly updates: ReadonlyArray<S>
  /** Unchanged slices that must be written because of their hints. */
  readonly rewritten: ReadonlyArray<S>
  readonly outcome: Outcome
}

const noZone = "One or more endpoints do not have a zone specified"

export const hint = <C extends Holder, S extends Holder>(given: Given<C, S>): Hinted<C, S> => {
  const { creates, shares, unchanged, updates } = given
  const ready = [...creates, ...updates, ...unchanged].flatMap(({ endpoints }) => (endpoints ?? []).filter(isReady))
  const allocation = Allocation.of(shares, ready.length)
  const lacksZone = ready.some(({ zone = "" }) => zone === "")
  if (allocation._tag === "Impossible")
    return none(given, { reason: allocation.reason, isOfNodes: !lacksZone, ready: ready.length })
  if (lacksZone) return none(given, { reason: noZone, isOfNodes: false, ready: ready.length })
  const counts = new Map<string, number>()
  const moved = unchanged.filter((slice) => !keep(allocation, counts, slice.endpoints ?? []))
  const free = [...creates, ...updates, ...moved].flatMap(({ endpoints }) => (endpoints ?? []).filter(isReady))
  const zones = divide(allocation.due, counts, free)[Symbol.iterator]()
  const zoneOf = (endpoint: Endpoint) => (isReady(endpoint) ? zones.next().value : undefined)
  return {
    creates: creates.map((one) => rewrite(one, zoneOf)),
    updates: updates.map((one) => rewrite(one, zoneOf)),
    rewritten: moved.map((one) => rewrite(one, zoneOf)),
    outcome: { _tag: "Given", counts }
  }
}

const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready === true

const none = <C extends Holder, S extends Holder>(
  { creates, unchanged, updates }: Given<C, S>,
  refusal: Omit<Extract<Outcome, { readonly _tag: "Refused" }>, "_tag">
): Hinted<C, S> => {
  const bare = <H extends Holder>(one: H) => rewrite(one, () => undefined)
  return {
    creates: creates.map(bare),
    updates: updates.map(bare),
    rewritten: unchanged
      .filter(({ endpoints }) => (endpoints ?? []).some(({ hints }) => hints !== undefined))
      .map(bare),
    outcome: { _tag: "Refused", ...refusal }
  }
}

const rewrite = <H extends Holder>(one: H, zoneOf: (endpoint: Endpoint) => string | undefined): H => ({
  ...one,
  endpoints: (one.endpoints ?? []).map((endpoint) => withHint(endpoint, zoneOf(endpoint)))
})

const withHint = (endpoint: Endpoint, name: string | undefined): Endpoint => {
  const { hints: _, ...bare } = endpoint
  return name === undefined ? bare : { ...bare, hints: { forZones: [{ name }] } }
}

/** The single zone hint of the endpoint; undefined without one, or with several, or with node hints. */
const zoneFor = ({ hints }: Endpoint): string | undefined =>
  hints?.forNodes === undefined && hints?.forZones?.length === 1 ? hints.forZones[0]?.name : undefined

/**
 * Whether a slice can keep its hints: each names an allocated zone, and the slack suffices for all minimums. Adds its
 * hints to `counts`.
 */
const keep = (
  { due, slack }: Extract<Allocation.Allocation, { readonly _tag: "Possible" }>,
  counts: Map<string, number>,
  endpoints: ReadonlyArray<Endpoint>
): boolean => {
  const sum = new Map(counts)
  for (const endpoint of endpoints) {
    const zone = zoneFor(endpoint)
    if (!isReady(endpoint) && endpoint.hints === undefined) continue
    if (!isReady(endpoint) || zone === undefined || !due.has(zone)) return false
    add(sum, zone, 1)
  }
  if (Allocation.used(due, sum) > slack) return false
  for (const [zone, count] of sum) counts.set(zone, count)
  return true
}

const add = (counts: Map<string, number>, zone: string, count: number): void => {
  counts.set(zone, (counts.get(zone) ?? 0) + count)
}

/** An allocation in progress. */
interface Division {
  readonly due: ReadonlyMap<string, Allocation.Due>
  /** The number of endpoints for each zone, unchanged slices included. */
  readonly counts: Map<string, number>
  /** The zone of each free endpoint, in order. */
  readonly zones: Array<string>
  /** The free endpoints of each zone, by index. */
  readonly held: ReadonlyMap<string, Array<number>>
}

/**
 * The zone of each endpoint, in order: first its own, then zones with a surplus give to zones with a deficit. A move
 * for half an endpoint is not worthwhile, but no zone stays below its minimum. `counts` starts with the unchanged
 * slices and ends with all.
 */
const divide = (
  due: ReadonlyMap<string, Allocation.Due>,
  counts: Map<string, number>,
  endpoints: ReadonlyArray<Endpoint>
): ReadonlyArray<string> => {
  const held = new Map<string, Array<number>>()
  for (const zone of due.keys()) held.set(zone, [])
  const division: Division = { due, counts, zones: [], held }
  for (const [at, { zone = "" }] of endpoints.entries()) if (due.has(zone)) give(division, at, zone)
  // An endpoint in a zone without an allocation goes to the neediest zone.
  for (const [at, { zone = "" }] of endpoints.entries()) if (!due.has(zone)) give(division, at, neediest(division))
  even(division)
  secure(division)
  return division.zones
}

const give = ({ counts, held, zones }: Division, at: number, zone: string): void => {
  zones[at] = zone
  held.get(zone)?.push(at)
  add(counts, zone, 1)
}

const move = (division: Division, from: string, to: string): void => {
  // Last in, first out: an endpoint that came from another zone moves on before one of the zone's own.
  const at = division.held.get(from)?.pop()
  if (at === undefined) return
  add(division.counts, from, -1)
  give(division, at, to)
}

/** How far the zone is above its desired number; negative if below. */
const surplus = ({ counts, due }: Division, zone: string): number =>
  (counts.get(zone) ?? 0) - (due.get(zone)?.desired ?? 0)

const above = ({ counts, due }: Division, zone: string): number =>
  (counts.get(zone) ?? 0) - (due.get(zone)?.minimum ?? 0)

const neediest = (division: Division): string => {
  const [first = "", ...others] = division.due.keys()
  return others.reduce((a, b) => (surplus(division, b) < surplus(division, a) ? b : a), first)
}

/** The zone with the largest surplus, among those with an endpoint to give. */
const richest = (division: Division, mayGive: (zone: string) => boolean): string | undefined => {
  let best: string | undefined
  for (const [zone, { length }] of division.held)
    if (length > 0 && mayGive(zone) && (best === undefined || surplus(division, zone) > surplus(division, best)))
      best = zone
  return best
}

/** Terminates, because each move brings both zones closer to their desired numbers. */
const even = (division: Division): void => {
  for (;;) {
    const from = richest(division, () => true)
    const to = neediest(division)
    if (from === undefined || !isWorth(surplus(division, from), -surplus(division, to))) return
    move(division, from, to)
  }
}

/** The slack covers all minimums, so while one zone is below its minimum another is above. */
const secure = (division: Division): void => {
  for (const to of division.due.keys()) {
    while (above(division, to) < 0) {
      const from = richest(division, (zone) => above(division, zone) > 0)
      if (from === undefined) return
      move(division, from, to)
    }
  }
}

/**
 * Whether an endpoint should move between zones with this surplus and deficit. Source: endpointslice/topologycache:
 * getGivingAndReceivingZones.
 */
const isWorth = (tooMany: number, tooFew: number): boolean =>
  tooMany >= 0.5 && tooFew >= 0.5 && (tooMany >= 1 || tooFew >= 1)
