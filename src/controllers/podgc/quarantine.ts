/**
 * Which nodes may be gone. A node that pods name and the cache does not have may only be late: it is suspected when it has been
 * missing at every look for forty seconds, and then somebody asks the server. Pure; times are monotonic milliseconds.
 * Source: spec G.5.
 */

/** Since when each node that is missing has been so, or was last suspected. */
export type Quarantine = ReadonlyMap<string, number>

export const empty: Quarantine = new Map()

export const time = 40_000

export interface Look {
  readonly quarantine: Quarantine
  /** In the order of `missing`. Whatever comes of it, each is suspected again only when the time has passed anew. */
  readonly suspects: ReadonlyArray<string>
}

export const look = (before: Quarantine, missing: ReadonlySet<string>, now: number): Look => {
  const quarantine = new Map<string, number>()
  const suspects: Array<string> = []
  for (const node of missing) {
    const since = before.get(node) ?? now
    const isDue = now - since >= time
    if (isDue) suspects.push(node)
    quarantine.set(node, isDue ? now : since)
  }
  return { quarantine, suspects }
}
