/**
 * How many of a Service's endpoints each zone is due, by the share of the nodes' processors that it has: as many that none of them is asked for
 * more than a fifth over the average, or the reason why there is no such division. Pure and total. Source: spec F.3, endpointslice/topologycache.
 */

/** The part of all processors that each zone has, in the order of their names: at least two zones, above 0 each and 1 together. */
export type Shares = ReadonlyMap<string, number>

/** What a zone is due. */
export interface Due {
  /** Endpoints without which the others of the zone are overloaded; at least one. */
  readonly minimum: number
  /** What its share comes to, and no less than the minimum. */
  readonly desired: number
}

export type Allocation =
  | {
      readonly _tag: "Possible"
      readonly due: ReadonlyMap<string, Due>
      /** Endpoints that the minimums leave over. */
      readonly slack: number
    }
  /** The reason is what users read in an event. */
  | { readonly _tag: "Impossible"; readonly reason: string }

/** How much more than the average an endpoint may be asked for. */
export const threshold = 0.2

/** `shares`: undefined if too little is known of the nodes. `ready`: endpoints that can be divided. */
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

/** How far a zone may have more than its minimum at the cost of none: what of the slack these endpoints use up. */
export const used = (due: ReadonlyMap<string, Due>, counts: ReadonlyMap<string, number>): number => {
  let sum = 0
  for (const [zone, count] of counts) sum += Math.max(0, count - (due.get(zone)?.minimum ?? 0))
  return sum
}
