/**
 * How many of a Service's endpoints each zone is allocated, in proportion to its share of the nodes' CPU, so that no
 * endpoint is overloaded by more than the threshold; or the reason why that is impossible. Pure. Source:
 * endpointslice/topologycache: getAllocations.
 */

/** The share of CPU of each zone, sorted by zone name: at least two zones, each above 0, with a sum of 1. */
export type Shares = ReadonlyMap<string, number>

/** A zone's allocation. */
export interface Due {
  /** With fewer endpoints than this the zone's endpoints are overloaded; at least one. */
  readonly minimum: number
  /** The zone's share of the endpoints, at least the minimum. */
  readonly desired: number
}

export type Allocation =
  | {
      readonly _tag: "Possible"
      readonly due: ReadonlyMap<string, Due>
      /** Endpoints beyond the sum of the minimums. */
      readonly slack: number
    }
  /** The reason is the message of an event. */
  | { readonly _tag: "Impossible"; readonly reason: string }

/** The accepted overload of an endpoint, as a share. Source: endpointslice/topologycache: overloadThreshold. */
export const threshold = 0.2

/** `shares`: undefined if a node's CPU or zone is unknown. `ready`: the number of ready endpoints. */
export const of = (shares: Shares | undefined, ready: number): Allocation => {
  if (shares === undefined) {
    const reason = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
    return { _tag: "Impossible", reason }
  }
  const counts = `(${ready} endpoints, ${shares.size} zones)`
  if (shares.size > ready) return { _tag: "Impossible", reason: `Insufficient number of endpoints ${counts}` }
  const due = new Map<string, Due>()
  let slack = ready
  for (const [zone, share] of shares) {
    const exact = share * ready
    const minimum = Math.ceil(exact * (1 / (1 + threshold)))
    due.set(zone, { minimum, desired: Math.max(exact, minimum) })
    slack -= minimum
  }
  if (slack >= 0) return { _tag: "Possible", due, slack }
  const reason = `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`
  return { _tag: "Impossible", reason }
}

/** How much of the slack these endpoints use: what zones have above their minimum. */
export const used = (due: ReadonlyMap<string, Due>, counts: ReadonlyMap<string, number>): number => {
  let sum = 0
  for (const [zone, count] of counts) sum += Math.max(0, count - (due.get(zone)?.minimum ?? 0))
  return sum
}
