/**
 * Packs endpoints into slices with as few writes as possible: each write goes to every node of the cluster. Pure, and independent of the type of an
 * endpoint. Unchanged slices are not written, and no endpoint is moved to fill slices. New endpoints go first into slices that have to be written
 * anyway, the fullest first; then into slices that would otherwise be deleted; the rest goes into the unchanged slice with the best fit, or into a
 * new one. Source: staging/src/k8s.io/endpointslice: reconcileByPortMapping.
 */

/** An existing slice with the ports of its group. */
export interface Slice<out S, out E> {
  readonly slice: S
  readonly endpoints: ReadonlyArray<E>
  /** Whether it has to be written even if its endpoints do not change. */
  readonly isStale: boolean
}

/** Endpoints that can share slices, because their ports are the same. */
export interface Group<out G, out S, E> {
  readonly group: G
  /** Keyed by identity; never empty. */
  readonly desired: ReadonlyMap<string, E>
  readonly slices: ReadonlyArray<Slice<S, E>>
}

/** The endpoints that a slice will have, at least one. */
export interface Filled<out G, out E> {
  readonly group: G
  readonly endpoints: ReadonlyArray<E>
}

export interface Rewritten<out G, out S, out E> extends Filled<G, E> {
  readonly slice: S
}

export interface Packing<out G, out S, out E> {
  readonly creates: ReadonlyArray<Filled<G, E>>
  readonly updates: ReadonlyArray<Rewritten<G, S, E>>
  readonly deletes: ReadonlyArray<S>
  /** How many slices stay as they are. */
  readonly unchanged: number
  /** How many endpoints are new in the slices of their group, or did not fit into their slice any more. */
  readonly added: number
}

export interface Rules<in E> {
  /** The most endpoints in a slice; positive. */
  readonly limit: number
  /** The key of an endpoint, independent of its state. */
  readonly identity: (endpoint: E) => string
  /** Whether two endpoints with the same identity are in the same state. */
  readonly equal: (a: E, b: E) => boolean
}

/** The slices of one group, sorted by what happens to them. */
interface Sorted<S, E> {
  readonly written: Array<{ readonly slice: S; readonly endpoints: Array<E> }>
  readonly unchanged: Array<{ readonly slice: S; readonly endpoints: ReadonlyArray<E> }>
  readonly emptied: Array<S>
  /** Endpoints that are in no slice. */
  readonly missing: ReadonlyArray<E>
}

/** Endpoints for one more slice, and the unchanged slice with room for them. */
interface Load<G, S, E> extends Filled<G, E> {
  readonly fits: { readonly slice: S; readonly endpoints: ReadonlyArray<E> } | undefined
}

/** `spare`: slices that are not needed any more; each is reused or deleted. */
export const pack = <G, S, E>(
  groups: ReadonlyArray<Group<G, S, E>>,
  spare: ReadonlyArray<S>,
  rules: Rules<E>
): Packing<G, S, E> => {
  const updates: Array<Rewritten<G, S, E>> = []
  const loads: Array<Load<G, S, E>> = []
  const free = [...spare]
  let untouched = 0
  let added = 0
  for (const { desired, group, slices } of groups) {
    const { emptied, missing, unchanged, written } = sort(desired, slices, rules)
    const left = fill(written, missing, rules.limit)
    for (const { endpoints, slice } of written) updates.push({ group, slice, endpoints })
    free.push(...emptied)
    added += missing.length
    untouched += unchanged.length
    for (let from = 0; from < left.length; from += rules.limit) {
      const endpoints = left.slice(from, from + rules.limit)
      loads.push({ group, endpoints, fits: bestFit(unchanged, endpoints.length, rules.limit) })
    }
  }
  const creates: Array<Filled<G, E>> = []
  // Loads that would need a new slice go first: for them a spare slice saves both a deletion and a creation.
  for (const { endpoints, fits, group } of loads.sort((a, b) => Number(!!a.fits) - Number(!!b.fits))) {
    const slice = free.shift()
    if (slice !== undefined) updates.push({ group, slice, endpoints })
    else if (fits === undefined) creates.push({ group, endpoints })
    else {
      untouched--
      updates.push({ group, slice: fits.slice, endpoints: [...fits.endpoints, ...endpoints] })
    }
  }
  return { creates, updates, deletes: free, unchanged: untouched, added }
}

const sort = <S, E>(
  desired: ReadonlyMap<string, E>,
  slices: ReadonlyArray<Slice<S, E>>,
  { equal, identity, limit }: Rules<E>
): Sorted<S, E> => {
  const missing = new Map(desired)
  const sorted = { written: [], unchanged: [], emptied: [] } as Omit<Sorted<S, E>, "missing">
  for (const { endpoints, isStale, slice } of slices) {
    const kept: Array<E> = []
    let hasChanged = isStale
    for (const endpoint of endpoints) {
      const id = identity(endpoint)
      const wanted = missing.get(id)
      if (wanted === undefined || kept.length === limit) {
        hasChanged = true
        continue
      }
      missing.delete(id)
      kept.push(wanted)
      if (!equal(wanted, endpoint)) hasChanged = true
    }
    if (kept.length === 0) sorted.emptied.push(slice)
    else if (hasChanged) sorted.written.push({ slice, endpoints: kept })
    else sorted.unchanged.push({ slice, endpoints })
  }
  return { ...sorted, missing: [...missing.values()] }
}

/** Fills slices in place, the fullest first; returns the endpoints that did not fit. */
const fill = <S, E>(slices: Sorted<S, E>["written"], missing: ReadonlyArray<E>, limit: number): ReadonlyArray<E> => {
  if (missing.length === 0) return missing
  let next = 0
  for (const { endpoints } of [...slices].sort((a, b) => b.endpoints.length - a.endpoints.length)) {
    const until = Math.min(missing.length, next + limit - endpoints.length)
    for (; next < until; next++) endpoints.push(missing[next] as E)
  }
  return missing.slice(next)
}

/** The fullest slice with enough room; undefined for a load that fills a slice by itself. */
const bestFit = <S, E>(
  slices: Sorted<S, E>["unchanged"],
  size: number,
  limit: number
): Sorted<S, E>["unchanged"][number] | undefined => {
  if (size >= limit) return undefined
  let best: Sorted<S, E>["unchanged"][number] | undefined
  for (const slice of slices) {
    const count = slice.endpoints.length
    if (count + size <= limit && (best === undefined || count > best.endpoints.length)) best = slice
  }
  return best
}
