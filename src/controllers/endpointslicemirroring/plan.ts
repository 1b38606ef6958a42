/**
 * The creates, updates and deletes that bring the mirrored slices in line with the Endpoints: one slice for each set of
 * ports and family, rewritten if anything differs. A surplus slice of the same family is reused. Pure and idempotent.
 * Source: pkg/controller/endpointslicemirroring: reconcile, recycleSlices.
 */
import * as Equality from "../../kube/equality.ts"
import type { Draft } from "../../kube/Meta.ts"
import type { Endpoints, EndpointSlice } from "../../kube/resources.ts"
import type { Sizes } from "../shared/services/totals.ts"
import * as Mirrored from "./mirrored.ts"
import * as Desired from "./desired.ts"

export interface Snapshot {
  /** Undefined if they are deleted or not to be mirrored. */
  readonly endpoints: Endpoints | undefined
  /** Slices with our labels for these Endpoints, none that is being deleted. */
  readonly slices: ReadonlyArray<EndpointSlice>
  /** Maximum number of addresses of a subset, and so of a slice. */
  readonly limit: number
}

/** Endpoint counts of this sync. */
export interface Totals {
  readonly added: number
  readonly updated: number
  readonly removed: number
}

/** In the order of the writes. */
export interface Plan {
  readonly creates: ReadonlyArray<Draft<EndpointSlice>>
  readonly updates: ReadonlyArray<EndpointSlice>
  readonly deletes: ReadonlyArray<EndpointSlice>
  readonly totals: Totals
  readonly sizes: Sizes
  /** Invalid addresses. */
  readonly invalid: number
  /** Addresses left out, invalid ones included. */
  readonly skipped: number
}

export const plan = ({ endpoints, limit, slices }: Snapshot): Plan => {
  if (endpoints === undefined) {
    const totals = { added: 0, updated: 0, removed: sizeOf(slices) }
    const sizes = { endpoints: 0, slices: 0, fewest: 0 }
    return { creates: [], updates: [], deletes: slices, totals, sizes, invalid: 0, skipped: 0 }
  }
  const { contents, invalid, skipped } = Desired.of(endpoints, limit)
  const { missing, spare, totals, updates } = compare(endpoints, contents, slices)
  const isLeaving = endpoints.metadata.deletionTimestamp !== undefined
  const creates: Array<Draft<EndpointSlice>> = []
  for (const content of missing) {
    const at = spare.findIndex((slice) => slice.addressType === content.family)
    const [slice] = at < 0 ? [] : spare.splice(at, 1)
    if (slice === undefined && isLeaving) continue
    totals.added += content.endpoints.size
    if (slice === undefined) creates.push(Mirrored.draft(endpoints, content))
    else {
      totals.removed += sizeOf([slice])
      updates.push(Mirrored.rewrite(slice, endpoints, content))
    }
  }
  totals.removed += sizeOf(spare)
  const sizes = {
    endpoints: contents.reduce((sum, content) => sum + content.endpoints.size, 0),
    slices: slices.length + creates.length - spare.length,
    fewest: contents.reduce((sum, content) => sum + Math.ceil(content.endpoints.size / limit), 0)
  }
  return { creates, updates, deletes: spare, totals, sizes, invalid, skipped }
}

const sizeOf = (slices: ReadonlyArray<EndpointSlice>): number =>
  slices.reduce((sum, { endpoints }) => sum + (endpoints?.length ?? 0), 0)

interface Comparison {
  readonly updates: Array<EndpointSlice>
  /** Surplus slices. */
  readonly spare: Array<EndpointSlice>
  /** Content without a slice. */
  readonly missing: Iterable<Desired.Content>
  readonly totals: { added: number; updated: number; removed: number }
}

const compare = (
  endpoints: Endpoints,
  contents: ReadonlyArray<Desired.Content>,
  slices: ReadonlyArray<EndpointSlice>
): Comparison => {
  const missing = new Map(contents.map((content) => [content.key, content]))
  const [updates, spare]: [Array<EndpointSlice>, Array<EndpointSlice>] = [[], []]
  const totals = { added: 0, updated: 0, removed: 0 }
  for (const slice of slices) {
    const key = Desired.keyOf(slice.addressType, slice.ports ?? [])
    const content = missing.get(key)
    if (content === undefined) {
      spare.push(slice)
      continue
    }
    missing.delete(key)
    const { added, removed, updated } = difference(slice.endpoints ?? [], content.endpoints)
    totals.added += added
    totals.updated += updated
    totals.removed += removed
    if (added + updated + removed > 0 || !Mirrored.isLabelled(slice, endpoints))
      updates.push(Mirrored.rewrite(slice, endpoints, content))
  }
  return { updates, spare, missing: missing.values(), totals }
}

/** The order of endpoints does not matter. */
const difference = (held: ReadonlyArray<Desired.Endpoint>, wanted: ReadonlyMap<string, Desired.Endpoint>): Totals => {
  const kept = new Set<string>()
  let updated = 0
  for (const endpoint of held) {
    const id = Desired.identity(endpoint)
    const known = wanted.get(id)
    if (known === undefined || kept.has(id)) continue
    kept.add(id)
    if (!Equality.equal(known, endpoint)) updated++
  }
  return { added: wanted.size - kept.size, updated, removed: held.length - kept.size }
}
