/**
 * The audit log: one entry for every request, including rejected ones, in the order of their completion. It retains a bounded number of
 * entries.
 */

export interface Entry {
  /** Time of completion, in milliseconds since the epoch. */
  readonly at: number
  /** The user that was authorized, after impersonation. */
  readonly user: string
  readonly groups: ReadonlyArray<string>
  /** The authenticated user; differs from `user` under impersonation. */
  readonly caller: string
  /** The User-Agent header; empty without one. */
  readonly userAgent: string
  readonly verb: string
  readonly path: string
  /** Empty, like the following, for non-resource paths. */
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  /** For a create with generateName, the generated name. */
  readonly name: string
  /** Whether the authorizer allowed it; it may have failed later. */
  readonly allowed: boolean
  /** HTTP status; 200 for a watch that started. */
  readonly code: number
  /** `Forbidden`, `Conflict`, …; empty on success. */
  readonly reason: string
  /** Revision of the log after the request. */
  readonly revision: number
  /** Whether the request wrote anything; `revision` is that of its last write then. */
  readonly changed: boolean
  /** What admission policies have recorded: `policy.example.com/key`, `validation.policy.admission.k8s.io/validation_failure`. */
  readonly annotations: Readonly<Record<string, string>> | undefined
}

export interface Options {
  /** Number of retained entries; 1,000 by default. */
  readonly capacity?: number | undefined
  /** Called with every entry before the request is answered: must not throw, and must be fast. */
  readonly onEntry?: ((entry: Entry) => void) | undefined
}

export interface AuditLog {
  readonly append: (entry: Entry) => void
  /** Oldest first. */
  readonly entries: () => ReadonlyArray<Entry>
}

export const make = ({ capacity = 1000, onEntry }: Options = {}): AuditLog => {
  /** A ring buffer: `start` is the oldest entry once it is full. */
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
