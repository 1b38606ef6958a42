/**
 * The log of everything that happened: one revision counter for all kinds, and for each collection the changes that are
 * still retained. Reads of the past and watches are answered from it. Knows nothing of watchers or rules; all operations
 * are synchronous, which is the lock. Model: etcd's mvcc key-value store.
 */
import type { Version } from "./Version.ts"

export interface Change {
  readonly revision: number
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  /** State after the change; for DELETED the last state, with the revision of the deletion. */
  readonly next: Version
  readonly previous: Version | undefined
  /** Watch lines of this change, by view and type; made on first use and shared by all watchers. */
  lines: Map<string, string> | undefined
}

export interface RevisionLog {
  /** Revision of the latest change; 0 before the first. */
  readonly revision: () => number
  readonly next: () => number
  readonly history: (storage: string) => History
  /** Forgets what is at or below this revision, in all collections. */
  readonly compact: (revision: number) => void
}

export const make = (options: { readonly capacity: number }): RevisionLog => {
  let revision = 0
  let compacted = 0
  const histories = new Map<string, History>()
  return {
    revision: () => revision,
    next: () => ++revision,
    history: (storage) => {
      const found = histories.get(storage)
      if (found !== undefined) return found
      const created = new History(options.capacity, compacted)
      histories.set(storage, created)
      return created
    },
    compact: (to) => {
      compacted = Math.max(compacted, Math.min(to, revision))
      for (const history of histories.values()) history.compact(compacted)
    }
  }
}

/** Stands in the place of a compacted change, so that the change itself can be collected. */
const forgotten: Change = {
  revision: 0,
  type: "DELETED",
  next: {
    key: "",
    namespace: "",
    name: "",
    revision: 0,
    text: "",
    members: "",
    metadata: "",
    owners: [],
    labels: undefined,
    fields: undefined,
    views: undefined
  },
  previous: undefined,
  lines: undefined
}

/** The retained changes of one collection, oldest first. */
export class History {
  /** Changes at and below this revision may be missing: nothing can be read or watched from before it. */
  compacted: number
  /** Revision of the last change that was forgotten; a watcher that is past it has missed nothing. */
  dropped = 0
  private changes: Array<Change> = []
  private head = 0
  private readonly capacity: number

  constructor(capacity: number, compacted: number) {
    this.capacity = capacity
    this.compacted = compacted
  }

  append(change: Change): void {
    this.changes.push(change)
    if (this.changes.length - this.head > this.capacity) {
      const dropped = this.changes[this.head]
      if (dropped !== undefined) this.compact(dropped.revision)
    }
  }

  /** Revision of the last change, 0 when none is retained. */
  last(): number {
    return this.changes.at(-1)?.revision ?? 0
  }

  /** At most `limit` changes after a revision that is not below `compacted`. */
  after(revision: number, limit: number = Number.POSITIVE_INFINITY): ReadonlyArray<Change> {
    if (this.last() <= revision) return []
    const start = this.firstAfter(revision)
    return this.changes.slice(start, Math.min(this.changes.length, start + limit))
  }

  compact(revision: number): void {
    if (revision <= this.compacted) return
    this.compacted = revision
    const head = this.firstAfter(revision)
    if (head > this.head) this.dropped = this.changes[head - 1]?.revision ?? this.dropped
    for (let i = this.head; i < head; i++) this.changes[i] = forgotten
    this.head = head
    // Amortised: the array is cut only when most of it is gone.
    if (this.head > 1024 && this.head * 2 > this.changes.length) {
      this.changes = this.changes.slice(this.head)
      this.head = 0
    }
  }

  get size(): number {
    return this.changes.length - this.head
  }

  private firstAfter(revision: number): number {
    let low = this.head
    let high = this.changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.changes[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}
