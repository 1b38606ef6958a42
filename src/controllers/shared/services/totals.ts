/**
 * The sums of endpoints and slices over all Services, maintained by the difference of each sync, and their gauges. The sums are plain synchronous
 * state, for one leadership term.
 */
import * as Effect from "effect/Effect"
import type { Key } from "../../../kube/Key.ts"
import * as Family from "../../../streams/reconcile/metricFamily.ts"

/** The sums of one Service, or of all. */
export interface Sizes {
  /** Endpoints in the slices after the sync. */
  readonly endpoints: number
  /** Slices after the sync. */
  readonly slices: number
  /** The least number of slices for these endpoints. */
  readonly fewest: number
}

/** Both return the sums of all Services. */
export interface Totals {
  readonly note: (service: Key, sizes: Sizes) => Sizes
  readonly forget: (service: Key) => Sizes
}

const none: Sizes = { endpoints: 0, slices: 0, fewest: 0 }

export const make = (): Totals => {
  const known = new Map<Key, Sizes>()
  let sum = none
  const change = (service: Key, sizes: Sizes): Sizes => {
    const before = known.get(service) ?? none
    sum = {
      endpoints: sum.endpoints + sizes.endpoints - before.endpoints,
      slices: sum.slices + sizes.slices - before.slices,
      fewest: sum.fewest + sizes.fewest - before.fewest
    }
    return sum
  }
  return {
    note: (service, sizes) => {
      const all = change(service, sizes)
      known.set(service, sizes)
      return all
    },
    forget: (service) => {
      const all = change(service, none)
      known.delete(service)
      return all
    }
  }
}

/** The gauges of the sums. `prefix`: of their names; `endpoints`, `slices`: what they count. */
export const gauges = (
  prefix: string,
  { endpoints, slices }: { readonly endpoints: string; readonly slices: string }
) => {
  const endpointsDesired = Family.gauge(`${prefix}_endpoints_desired`, `Number of ${endpoints}`)
  const slicesThere = Family.gauge(`${prefix}_num_endpoint_slices`, `Number of ${slices}`)
  const slicesDesired = Family.gauge(
    `${prefix}_desired_endpoint_slices`,
    `Number of ${slices} that would suffice if each were full`
  )
  return {
    families: [endpointsDesired, slicesThere, slicesDesired],
    set: (sizes: Sizes): Effect.Effect<void> =>
      Effect.all(
        [endpointsDesired.set(sizes.endpoints), slicesThere.set(sizes.slices), slicesDesired.set(sizes.fewest)],
        { discard: true }
      )
  }
}
