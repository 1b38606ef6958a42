/**
 * The log of all changes: one revision counter for all resources, and the retained changes of each collection. Reads of older revisions
 * and watches use it. Synchronous: the synchronous section of a commit is the lock. Model: the mvcc store of etcd.
 */
import type { Version } from "./Version.ts"

export interface Change {
  readonly revision: number
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  /** State after the change; for DELETED the last state, with the revision of the deletion. */
  readonly next: Version
  readonly previous: Version | undefined
  /** Watch lines of this change; made on first use and shared by all watchers. */
  lines: Line | undefined
}

/** A linked list of the encodings of a change: there is nearly always only one, for which a Map would cost too much. */
export interface Line {
  /** View and type. */
  readonly form: string
  readonly text: string
  readonly next: Line | undefined
}

export interface RevisionLog {
  /** Revision of the latest change; 0 before the first. */
  readonly revision: () => number
  readonly next: () => number
  readonly history: (storage: string) => History
  /** Compacts all collections to this revision, which becomes the oldest readable one. */
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

/** Replaces a compacted change, so that it can be collected. */
const forgotten: Change = {
  revision: 0,
  type: "DELETED",
  next: {
    key: "",
    namespace: "",
    name: "",
    uid: "",
    revision: 0,
    text: "",
    members: "",
    metadata: "",
    bare: "",
    owners: [],
    labels: undefined,
    fields: undefined,
    encodings: undefined,
    selected: undefined,
    schemaVersion: undefined,
    converted: undefined
  },
  previous: undefined,
  lines: undefined
}

/** The retained changes of one collection, oldest first. */
export class History {
  /** The oldest readable revision. */
  compacted: number
  /** The oldest revision that a watch can start at: one before the compaction, because the change at that revision is retained. */
  watchable: number
  /** Revision of the last dropped change; a watcher that is past it has missed nothing. */
  dropped = 0
  private changes: Array<Change> = []
  private head = 0
  private readonly capacity: number

  constructor(capacity: number, compacted: number) {
    this.capacity = capacity
    this.compacted = compacted
    this.watchable = compacted - 1
  }

  append(change: Change): void {
    this.changes.push(change)
    if (this.changes.length - this.head <= this.capacity) return
    const oldest = this.changes[this.head]?.revision ?? 0
    this.compacted = Math.max(this.compacted, oldest)
    this.watchable = Math.max(this.watchable, oldest)
    this.drop(this.head + 1)
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
    this.watchable = Math.max(this.watchable, revision - 1)
    this.drop(this.firstAfter(revision - 1))
  }

  get size(): number {
    return this.changes.length - this.head
  }

  /** Drops the changes before an index. */
  private drop(head: number): void {
    if (head > this.head) this.dropped = this.changes[head - 1]?.revision ?? this.dropped
    for (let i = this.head; i < head; i++) this.changes[i] = forgotten
    this.head = head
    // Amortised: the array is cut only when most of it is gone.
    if (this.head > 1024 && this.head * 2 > this.changes.length) {
      this.changes = this.changes.slice(this.head)
      this.head = 0
    }
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
