/**
 * The time from a change of a pod until the write of the status that counts it, both at the server. Between two turns of a ReplicaSet the number of its ready
 * pods only grows or only falls, so a status shows which changes it counts.
 */

/** Milliseconds. */
export interface Summary {
  readonly changes: number
  /** Changes that no status has counted. */
  readonly missing: number
  readonly writes: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

interface Waiting {
  readonly ready: number
  readonly at: number
}

export const make = () => {
  let isOn = false
  let taken: Array<number> = []
  let writes = 0
  const waiting = new Map<string, Array<Waiting>>()
  return {
    start: (): void => {
      isOn = true
      taken = []
      writes = 0
      waiting.clear()
    },
    /** A pod of the ReplicaSet is about to be sent; `ready`: how many are ready with it. */
    changed: (key: string, ready: number): void => {
      const changes = waiting.get(key) ?? []
      waiting.set(key, changes)
      changes.push({ ready, at: performance.now() })
    },
    written: (path: string, body: string, arrived: number): void => {
      if (!isOn) return
      writes++
      const found = /^\/apis\/apps\/v1\/namespaces\/([^/]+)\/replicasets\/([^/]+)\/status$/.exec(path)
      if (found === null) return
      const changes = waiting.get(`${found[1]}/${found[2]}`)
      const { status } = JSON.parse(body) as { readonly status: { readonly readyReplicas?: number } }
      // The first with this number: a later one may be of the next turn.
      const last = changes?.findIndex(({ ready }) => ready === (status.readyReplicas ?? 0)) ?? -1
      for (const { at } of changes?.splice(0, last + 1) ?? []) taken.push(arrived - at)
    },
    stop: (): Summary => {
      isOn = false
      const sorted = taken.toSorted((a, b) => a - b)
      const quantile = (share: number): number =>
        sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
      let missing = 0
      for (const changes of waiting.values()) missing += changes.length
      return {
        changes: sorted.length + missing,
        missing,
        writes,
        p50: quantile(0.5),
        p90: quantile(0.9),
        p99: quantile(0.99),
        max: quantile(1)
      }
    }
  }
}
