/**
 * The creates, updates and deletes that bring the slices of a Service to the desired endpoints. Pure and idempotent.
 * Source: endpointslice: reconcileByPortMapping.
 */
import * as Equality from "../../../kube/equality.ts"
import type { Draft } from "../../../kube/Meta.ts"
import type { EndpointSlice, Node, Pod, Service } from "../../../kube/resources.ts"
import * as Pack from "../../shared/services/pack.ts"
import type { Family } from "../../shared/services/pods.ts"
import * as ServicePorts from "../../shared/services/servicePorts.ts"
import type { Sizes } from "../../shared/services/totals.ts"
import type { Shares } from "./allocation.ts"
import * as Hints from "./hints.ts"
import * as Desired from "./desired.ts"
import * as Slices from "../slices.ts"
import type { FamilyOutcome } from "../topologyCache.ts"

export interface Snapshot {
  readonly service: Service
  /** The pods that the Service selects. */
  readonly pods: ReadonlyArray<Pod>
  /** Slices with our labels for the Service, none that is being deleted. */
  readonly slices: ReadonlyArray<EndpointSlice>
  readonly nodeOf: (name: string) => Node | undefined
  /** The trigger time annotation. */
  readonly time: string | undefined
  /** Maximum number of endpoints in a slice. */
  readonly limit: number
  /** Each zone's share of CPU; undefined if a node's CPU or zone is unknown. */
  readonly shares: Shares | undefined
}

/** By address family, in the order of the writes. */
export interface Plan {
  /** The Service's address families. */
  readonly families: ReadonlyArray<Family>
  readonly creates: ReadonlyArray<Draft<EndpointSlice>>
  readonly updates: ReadonlyArray<EndpointSlice>
  readonly deletes: ReadonlyArray<EndpointSlice>
  /** Pods that are left out because their node is not in the cache. */
  readonly lost: ReadonlyArray<Pod>
  /** The result of the request for zone hints, for each family; empty without a request. */
  readonly outcomes: ReadonlyArray<FamilyOutcome>
  /** Endpoint counts for each family. */
  readonly moves: ReadonlyArray<Moves>
  /** Totals for the gauges. */
  readonly sizes: Sizes
}

/** Of one family. */
export interface Moves {
  /** Endpoints added to and removed from the family's slices. */
  readonly added: number
  readonly removed: number
}

export const plan = (snapshot: Snapshot): Plan => {
  const { nodeOf, pods, service, slices, time } = snapshot
  const desired = Desired.of(service, pods, nodeOf)
  const writing: Slices.Writing = { service, labels: Slices.labelsOf(service), time }
  const isLeaving = service.metadata.deletionTimestamp !== undefined
  const creates: Array<Draft<EndpointSlice>> = []
  const updates: Array<EndpointSlice> = []
  const outcomes: Array<FamilyOutcome> = []
  const moves: Array<Moves> = []
  const deletes = slices.filter((slice) => !isServed(desired, service, slice))
  for (const family of desired.families) {
    const change = inFamily(snapshot, desired, { family, writing })
    const writes: Writes = {
      creates: isLeaving ? [] : change.creates.map((content) => Slices.draft(writing, content)),
      updates: change.updates.map(({ content, slice }) => Slices.rewrite(slice, writing, content))
    }
    const hinted = Desired.isProportional(service.metadata)
      ? hint(snapshot, change, { family, writing, writes })
      : writes
    creates.push(...hinted.creates)
    updates.push(...hinted.updates)
    deletes.push(...change.deletes)
    if (hinted.outcome !== undefined) outcomes.push(hinted.outcome)
    moves.push(movesOf(snapshot, desired, family, change.added))
  }
  const sizes = sizesOf(snapshot, desired, slices.length + creates.length - deletes.length)
  return { families: desired.families, creates, updates, deletes, lost: desired.lost, outcomes, moves, sizes }
}

interface Writes {
  readonly creates: ReadonlyArray<Draft<EndpointSlice>>
  readonly updates: ReadonlyArray<EndpointSlice>
  readonly outcome?: FamilyOutcome
}

interface InFamily {
  readonly family: Family
  readonly writing: Slices.Writing
}

/** Adds hints to the slices that are written anyway, and lists unchanged slices that need a write for their hints. */
const hint = (
  { service, shares, slices }: Snapshot,
  change: Change,
  { family, writes, writing }: InFamily & { readonly writes: Writes }
): Writes => {
  const touched = new Set([...change.updates.map(({ slice }) => slice), ...change.deletes])
  const unchanged = slices.filter(
    (slice) => slice.addressType === family && Slices.isOwned(slice, service) && !touched.has(slice)
  )
  const { creates, outcome, rewritten, updates } = Hints.hint({ shares, ...writes, unchanged })
  return {
    creates,
    updates: [...updates, ...rewritten.map((slice) => Slices.rehint(slice, writing))],
    outcome: { family, outcome }
  }
}

const movesOf = ({ slices }: Snapshot, { groups }: Desired.Desired, family: Family, added: number): Moves => {
  const ours = slices.filter(({ addressType }) => addressType === family)
  const before = ours.reduce((sum, { endpoints }) => sum + (endpoints ?? []).length, 0)
  const after = groups.reduce((sum, group) => (group.family === family ? sum + group.endpoints.size : sum), 0)
  return { added, removed: before + added - after }
}

const sizesOf = ({ limit }: Snapshot, { families, groups }: Desired.Desired, slices: number): Sizes => {
  const endpoints = groups.reduce((sum, group) => sum + group.endpoints.size, 0)
  const empty = families.filter((family) => !groups.some((group) => group.family === family)).length
  const fewest = groups.reduce((sum, group) => sum + Math.ceil(group.endpoints.size / limit), empty)
  return { endpoints, slices, fewest }
}

/** A slice of another family or another owner cannot be reused. */
const isServed = (desired: Desired.Desired, service: Service, slice: EndpointSlice): boolean =>
  desired.families.some((family) => family === slice.addressType) && Slices.isOwned(slice, service)

interface Change {
  readonly creates: ReadonlyArray<Slices.Content>
  readonly updates: ReadonlyArray<{ readonly slice: EndpointSlice; readonly content: Slices.Content }>
  readonly deletes: ReadonlyArray<EndpointSlice>
  readonly added: number
}

const inFamily = (
  { limit, service, slices }: Snapshot,
  desired: Desired.Desired,
  { family, writing }: InFamily
): Change => {
  const byPorts = new Map<string, Array<Pack.Slice<EndpointSlice, Desired.Endpoint>>>()
  for (const slice of slices) {
    if (slice.addressType !== family || !Slices.isOwned(slice, service)) continue
    const key = ServicePorts.keyOfAll(slice.ports ?? [])
    const isStale = !Equality.isSameMap(slice.metadata.labels, writing.labels)
    const same = byPorts.get(key)
    const one = { slice, endpoints: slice.endpoints ?? [], isStale }
    if (same === undefined) byPorts.set(key, [one])
    else same.push(one)
  }
  const groups = desired.groups
    .filter((group) => group.family === family)
    .map((group) => {
      const { key } = group.ports
      const own = byPorts.get(key) ?? []
      byPorts.delete(key)
      return { group, desired: group.endpoints, slices: own }
    })
  const spare = [...byPorts.values()].flat().map(({ slice }) => slice)
  const equal = Desired.isProportional(service.metadata) ? Desired.equalButHints : Desired.equal
  const packing = Pack.pack(groups, spare, { identity: Desired.identity, equal, limit })
  return held(packing) ? contents(packing) : empty({ family, writing }, packing.deletes)
}

type Packing = Pack.Packing<Desired.Group, EndpointSlice, Desired.Endpoint>

/** Whether a slice will exist. */
const held = ({ creates, unchanged, updates }: Packing): boolean => creates.length + updates.length + unchanged > 0

const contents = ({ added, creates, deletes, updates }: Packing): Change => ({
  creates: creates.map(content),
  updates: updates.map((update) => ({ slice: update.slice, content: content(update) })),
  deletes,
  added
})

const content = ({ endpoints, group }: Pack.Filled<Desired.Group, Desired.Endpoint>): Slices.Content => ({
  family: group.family,
  ports: group.ports.ports,
  endpoints
})

/** A Service without endpoints has one placeholder slice: an existing one, a surplus one, or a new one. */
const empty = ({ family, writing }: InFamily, spare: ReadonlyArray<EndpointSlice>): Change => {
  const content: Slices.Content = { family, ports: [], endpoints: [] }
  const kept = spare.find((slice) => Slices.isPlaceholder(slice, writing.labels)) ?? spare[0]
  if (kept === undefined) return { creates: [content], updates: [], deletes: [], added: 0 }
  const deletes = spare.filter((slice) => slice !== kept)
  return Slices.isPlaceholder(kept, writing.labels)
    ? { creates: [], updates: [], deletes, added: 0 }
    : { creates: [], updates: [{ slice: kept, content }], deletes, added: 0 }
}
