/**
 * Which zone each endpoint of a Service should serve, where that is divided by the zones' processors: its own, and another's as far as that
 * one has too few. A slice that nobody has to write stays as it is while the others can make up for it. Where no division is possible nobody
 * has a hint. Pure and total; what it answers with is kept whole the next time. Source: spec F.3, endpointslice/topologycache.
 */
import * as Allocation from "./allocation.ts"
import type { Endpoint } from "./model.ts"

/** A slice, or one that is to be. */
interface Holder {
  readonly endpoints?: ReadonlyArray<Endpoint> | undefined
}

/** The slices of one family. */
export interface Given<out C, out S> {
  /** Undefined if too little is known of the nodes. */
  readonly shares: Allocation.Shares | undefined
  readonly creates: ReadonlyArray<C>
  /** That are written in any case. */
  readonly updates: ReadonlyArray<S>
  readonly unchanged: ReadonlyArray<S>
}

/** What became of the wish for hints. */
export type Outcome =
  | {
      readonly _tag: "Given"
      /** Endpoints for each zone that has any. */
      readonly counts: ReadonlyMap<string, number>
    }
  | {
      readonly _tag: "Refused"
      /** What users read in an event. */
      readonly reason: string
      /** Whether other nodes could help. */
      readonly isOfNodes: boolean
      /** Endpoints that would have been divided. */
      readonly ready: number
    }

export interface Hinted<out C, out S> {
  readonly creates: ReadonlyArray<C>
  readonly updates: ReadonlyArray<S>
  /** Of the unchanged ones, those that have to be written for their hints. */
  readonly rewritten: ReadonlyArray<S>
  readonly outcome: Outcome
}

const noZone = "One or more endpoints do not have a zone specified"

export const hint = <C extends Holder, S extends Holder>(given: Given<C, S>): Hinted<C, S> => {
  const { creates, shares, unchanged, updates } = given
  const ready = [...creates, ...updates, ...unchanged].flatMap(({ endpoints }) => (endpoints ?? []).filter(isReady))
  const allocation = Allocation.of(shares, ready.length)
  const isHomeless = ready.some(({ zone = "" }) => zone === "")
  if (allocation._tag === "Impossible")
    return none(given, { reason: allocation.reason, isOfNodes: !isHomeless, ready: ready.length })
  if (isHomeless) return none(given, { reason: noZone, isOfNodes: false, ready: ready.length })
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

/** The one zone that the endpoint is for; undefined if it is for none, for many, or for nodes. */
const zoneFor = ({ hints }: Endpoint): string | undefined =>
  hints?.forNodes === undefined && hints?.forZones?.length === 1 ? hints.forZones[0]?.name : undefined

/**
 * Whether a slice can stay: its hints are of zones that are due some, and what is left over is enough for all minimums. Counts what
 * stays.
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

/** A division that is being made. */
interface Division {
  readonly due: ReadonlyMap<string, Allocation.Due>
  /** Endpoints for each zone, those that stay included. */
  readonly counts: Map<string, number>
  /** The zone of each endpoint that is free, in their order. */
  readonly zones: Array<string>
  /** Which of the free endpoints each zone has. */
  readonly held: ReadonlyMap<string, Array<number>>
}

/**
 * A zone for each endpoint, in their order: its own at first, and then zones with too many give to those with too few. Half an endpoint is
 * not worth a change, but no zone stays below its minimum. `counts` are those that stay, and all of them afterwards.
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
  // Where no node of their own zone is ready they are for the others.
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
  // The last that came is the first to go: one that has come from elsewhere goes on, rather than one of the zone's own.
  const at = division.held.get(from)?.pop()
  if (at === undefined) return
  add(division.counts, from, -1)
  give(division, at, to)
}

/** How many more it has than it is due; below zero if fewer. */
const surplus = ({ counts, due }: Division, zone: string): number =>
  (counts.get(zone) ?? 0) - (due.get(zone)?.desired ?? 0)

const above = ({ counts, due }: Division, zone: string): number =>
  (counts.get(zone) ?? 0) - (due.get(zone)?.minimum ?? 0)

const neediest = (division: Division): string => {
  const [first = "", ...others] = division.due.keys()
  return others.reduce((a, b) => (surplus(division, b) < surplus(division, a) ? b : a), first)
}

/** The zone that has the most too many, of those that have one to give away. */
const richest = (division: Division, mayGive: (zone: string) => boolean): string | undefined => {
  let best: string | undefined
  for (const [zone, { length }] of division.held)
    if (length > 0 && mayGive(zone) && (best === undefined || surplus(division, zone) > surplus(division, best)))
      best = zone
  return best
}

/** Each move brings both zones closer to what they are due, so there is a last one. */
const even = (division: Division): void => {
  for (;;) {
    const from = richest(division, () => true)
    const to = neediest(division)
    if (from === undefined || !isWorth(surplus(division, from), -surplus(division, to))) return
    move(division, from, to)
  }
}

/** What stays leaves enough for every minimum, so while a zone is below its own another one has a free endpoint above. */
const secure = (division: Division): void => {
  for (const to of division.due.keys()) {
    while (above(division, to) < 0) {
      const from = richest(division, (zone) => above(division, zone) > 0)
      if (from === undefined) return
      move(division, from, to)
    }
  }
}

/** Whether an endpoint should go from a zone that has so many too many to one that has so many too few. Source: getGivingAndReceivingZones. */
const isWorth = (tooMany: number, tooFew: number): boolean =>
  tooMany >= 0.5 && tooFew >= 0.5 && (tooMany >= 1 || tooFew >= 1)
