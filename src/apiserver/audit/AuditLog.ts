/**
 * The audit log: one entry for every request that reached the server, refusals included, in the order in which they were answered.
 * Bounded: the oldest entries make room. An entry is made in the request's own synchronous section, so the order of entries is the
 * order of revisions.
 */

export interface Entry {
  /** When it was answered, in milliseconds since the epoch. */
  readonly at: number
  /** Who it was done as. */
  readonly user: string
  readonly groups: ReadonlyArray<string>
  /** Who asked, where somebody acted as another; the same as `user` otherwise. */
  readonly caller: string
  /** What the client calls itself; empty when it says nothing. */
  readonly userAgent: string
  readonly verb: string
  readonly path: string
  /** Empty, like the following, for paths that are no resource. */
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  /** Of an object that was created, the name it was given. */
  readonly name: string
  /** Whether the authorizer let it through; it may have been refused for other reasons. */
  readonly allowed: boolean
  /** HTTP status; 200 for a watch that began. */
  readonly code: number
  /** `Forbidden`, `Conflict`, …; empty where the request was granted. */
  readonly reason: string
  /** Of the log, after the request. */
  readonly revision: number
  /** Whether the request wrote anything: `revision` is that of its last write then. */
  readonly changed: boolean
}

export interface Options {
  /** Entries that are kept; 1,000 unless said otherwise. */
  readonly capacity?: number | undefined
  /** Told every entry as it is made, from within the request: must not fail, and do little. */
  readonly onEntry?: ((entry: Entry) => void) | undefined
}

export interface AuditLog {
  readonly append: (entry: Entry) => void
  /** Oldest first. */
  readonly entries: () => ReadonlyArray<Entry>
}

export const make = ({ capacity = 1000, onEntry }: Options = {}): AuditLog => {
  /** A ring: `start` is the oldest once it is full. */
  const ring: Array<Entry> = []
  let start = 0
  return {
    append: (entry) => {
      if (ring.length < capacity) ring.push(entry)
      else if (capacity > 0) {
        ring[start] = entry
        start = (start + 1) % capacity
      }
      onEntry?.(entry)
    },
    entries: () => [...ring.slice(start), ...ring.slice(0, start)]
  }
}
