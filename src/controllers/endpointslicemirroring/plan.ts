/**
 * What to write so that the slices say what the Endpoints say: one slice for each set of ports and family, the one there is rewritten if anything
 * of it differs. A slice that nobody wants any more becomes one that is wanted, if it is of the same family. Pure and total; carried
 * out in full, it is empty the next time. Source: spec F.4.
 */
import * as Equality from "../../kube/equality.ts"
import type { Draft } from "../../kube/Meta.ts"
import type { Endpoints, EndpointSlice } from "../../kube/resources.ts"
import * as Mirrored from "./mirrored.ts"
import * as Model from "./model.ts"

export interface Gathered {
  /** Undefined: they are gone, or not to be mirrored. */
  readonly endpoints: Endpoints | undefined
  /** Those that say they mirror them, none that is being deleted. */
  readonly slices: ReadonlyArray<EndpointSlice>
  /** Addresses of a subset, and of a slice, at most. */
  readonly limit: number
}

/** In the order in which it is to be done. */
export interface Plan {
  readonly creates: ReadonlyArray<Draft<EndpointSlice>>
  readonly updates: ReadonlyArray<EndpointSlice>
  readonly deletes: ReadonlyArray<EndpointSlice>
  readonly invalid: number
  readonly skipped: number
  /** Endpoints that the slices will have. */
  readonly desired: number
}

export const plan = ({ endpoints, limit, slices }: Gathered): Plan => {
  const none: Plan = { creates: [], updates: [], deletes: slices, invalid: 0, skipped: 0, desired: 0 }
  if (endpoints === undefined) return none
  const { contents, invalid, skipped } = Model.of(endpoints, limit)
  const { deletes, missing, updates } = compare(endpoints, contents, slices)
  const left = [...deletes]
  const creates: Array<Draft<EndpointSlice>> = []
  for (const content of missing) {
    const at = left.findIndex((slice) => slice.addressType === content.family && Mirrored.isOwned(slice, endpoints))
    const [spare] = at < 0 ? [] : left.splice(at, 1)
    if (spare !== undefined) updates.push(Mirrored.rewrite(spare, endpoints, content))
    else creates.push(Mirrored.draft(endpoints, content))
  }
  const isLeaving = endpoints.metadata.deletionTimestamp !== undefined
  const desired = contents.reduce((sum, one) => sum + one.endpoints.length, 0)
  return { creates: isLeaving ? [] : creates, updates, deletes: left, invalid, skipped, desired }
}

interface Comparison {
  readonly updates: Array<EndpointSlice>
  readonly deletes: ReadonlyArray<EndpointSlice>
  readonly missing: ReadonlyArray<Model.Content>
}

const compare = (
  endpoints: Endpoints,
  contents: ReadonlyArray<Model.Content>,
  slices: ReadonlyArray<EndpointSlice>
): Comparison => {
  const missing = new Map(contents.map((content) => [content.key, content]))
  const [updates, deletes]: [Array<EndpointSlice>, Array<EndpointSlice>] = [[], []]
  for (const slice of slices) {
    const key = Model.keyOf(slice.addressType, slice.ports ?? [])
    const content = Mirrored.isOwned(slice, endpoints) ? missing.get(key) : undefined
    if (content === undefined) deletes.push(slice)
    else {
      missing.delete(key)
      if (!says(slice, endpoints, content)) updates.push(Mirrored.rewrite(slice, endpoints, content))
    }
  }
  return { updates, deletes, missing: [...missing.values()] }
}

/** The order of endpoints says nothing. */
const says = ({ endpoints: held, metadata }: EndpointSlice, endpoints: Endpoints, content: Model.Content): boolean =>
  Equality.equal(metadata.labels, Mirrored.labelsOf(endpoints)) &&
  Equality.equal(metadata.annotations, Mirrored.annotationsOf(endpoints)) &&
  inOrder(held ?? []) === inOrder(content.endpoints)

const inOrder = (endpoints: ReadonlyArray<Model.Endpoint>): string =>
  endpoints
    .map((one) => Equality.canonical(one))
    .toSorted()
    .join()
