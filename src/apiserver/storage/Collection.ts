/**
 * The objects of one storage (all pods, all events): present state, key order, history and watchers. Reads see the present or any
 * retained revision; only commits change it. Synchronous: a commit is appended to the log before watchers are notified.
 */
import type { Change, History, RevisionLog } from "./RevisionLog.ts"
import { matches } from "./Version.ts"
import type { SelectionPredicate, Version } from "./Version.ts"
import * as Watchers from "./Watchers.ts"

interface Expiry {
  readonly key: string
  readonly revision: number
  /** When the version expires, in milliseconds since the epoch. */
  readonly due: number
}

/**
 * When the versions of a collection expire, in that order. Every write of an object renews its lifetime; an entry whose version is no
 * longer the present one is ignored. There are no timers: each request on the collection takes what has expired first.
 */
class Expiries {
  private entries: Array<Expiry> = []
  private head = 0

  /** All objects of a collection have the same lifetime, so a later write expires later. */
  note({ key, revision }: Version, due: number): void {
    this.entries.push({ key, revision, due })
  }

  /** The expired versions, each once. */
  take(now: number): ReadonlyArray<Expiry> {
    const from = this.head
    while ((this.entries[this.head]?.due ?? Number.POSITIVE_INFINITY) <= now) this.head++
    if (from === this.head) return []
    const taken = this.entries.slice(from, this.head)
    // Amortised: the array is cut only when most of it is gone.
    if (this.head * 2 > this.entries.length) {
      this.entries = this.entries.slice(this.head)
      this.head = 0
    }
    return taken
  }
}

export class Collection {
  readonly history: History
  readonly watchers: Watchers.Watchers
  readonly expiries = new Expiries()
  /** What the last commit wrote or removed; undefined before the first. */
  latest: Version | undefined
  private readonly log: RevisionLog
  private readonly objects = new Map<string, Version>()
  /** Keys in order; stale when `dirty`. */
  private sorted: Array<string> = []
  /** Keys created since `sorted` was made. */
  private added: Array<string> = []
  private dirty = false
  /** Memoizes the last read of an older revision until the next commit: a page is followed by a count of the rest. */
  private undone: { readonly from: number; readonly past: Map<string, Version | undefined> } | undefined

  constructor(log: RevisionLog, storage: string) {
    this.log = log
    this.history = log.history(storage)
    this.watchers = Watchers.make(this.history, log)
  }

  get size(): number {
    return this.objects.size
  }

  get(key: string): Version | undefined {
    return this.objects.get(key)
  }

  /** Revision that the next commit will have; commits of one synchronous section are numbered in order. */
  upcoming(): number {
    return this.log.revision() + 1
  }

  /** Stores a version made for `upcoming()`. */
  store(next: Version): void {
    const previous = this.objects.get(next.key)
    this.objects.set(next.key, next)
    if (previous === undefined) {
      this.added.push(next.key)
      this.dirty = true
    }
    this.commit({
      revision: next.revision,
      type: previous === undefined ? "ADDED" : "MODIFIED",
      next,
      previous,
      lines: undefined
    })
  }

  /** Removes an object; `last` is its final state, made for `upcoming()`. */
  remove(last: Version): void {
    const previous = this.objects.get(last.key)
    if (previous === undefined) return
    this.objects.delete(last.key)
    this.dirty = true
    this.commit({ revision: last.revision, type: "DELETED", next: last, previous, lines: undefined })
  }

  /** Versions in key order at a retained revision, with keys after `after`. */
  *range(options: {
    readonly namespace: string
    readonly after: string
    readonly revision: number
  }): Generator<Version> {
    const past = this.undo(options.revision)
    const prefix = options.namespace === "" ? "" : `${options.namespace}/`
    const isMeant = (key: string): boolean => key > options.after && key.startsWith(prefix)
    const keys = this.order()
    const gone = past === undefined ? [] : this.goneSince(past).filter(isMeant).sort()
    let index = prefix > options.after ? firstAtLeast(keys, prefix) : firstAfter(keys, options.after)
    let goneIndex = 0
    while (true) {
      const present = keys[index]
      const former = gone[goneIndex]
      const isFormer = former !== undefined && (present === undefined || former < present)
      const key = isFormer ? former : present
      if (key === undefined || !key.startsWith(prefix)) return
      if (isFormer) goneIndex++
      else index++
      const version = past?.has(key) === true ? past.get(key) : this.objects.get(key)
      if (version !== undefined) yield version
    }
  }

  /** Number of objects of a namespace (or of all, if empty) at a retained revision, with keys after `after`. */
  countAfter(namespace: string, after: string, revision: number): number {
    const keys = this.order()
    const prefix = namespace === "" ? "" : `${namespace}/`
    const from = prefix > after ? firstAtLeast(keys, prefix) : firstAfter(keys, after)
    const to = prefix === "" ? keys.length : firstAtLeast(keys, `${namespace}0`)
    let total = Math.max(0, to - from)
    for (const [key, version] of this.undo(revision) ?? []) {
      if (key > after && key.startsWith(prefix)) total += Number(version !== undefined) - Number(this.objects.has(key))
    }
    return total
  }

  private commit(change: Change): void {
    this.log.next()
    this.undone = undefined
    this.latest = change.next
    this.history.append(change)
    this.watchers.notify(change)
  }

  /** The state at the revision of every key that has changed since; undefined when none has. */
  private undo(revision: number): Map<string, Version | undefined> | undefined {
    if (this.history.last() <= revision) return undefined
    if (this.undone?.from === revision) return this.undone.past
    const past = new Map<string, Version | undefined>()
    for (const change of this.history.after(revision))
      if (!past.has(change.next.key)) past.set(change.next.key, change.previous)
    this.undone = { from: revision, past }
    return past
  }

  private order(): ReadonlyArray<string> {
    if (this.dirty) {
      const kept = this.sorted.filter((key) => this.objects.has(key))
      const known = new Set(this.added.length === 0 ? [] : kept)
      for (const key of new Set(this.added)) if (!known.has(key) && this.objects.has(key)) kept.push(key)
      this.sorted = kept.sort()
      this.added = []
      this.dirty = false
    }
    return this.sorted
  }

  /** Keys of objects that have been deleted since, unordered. */
  private goneSince(past: Map<string, Version | undefined>): Array<string> {
    return [...past].flatMap(([key, version]) => (version !== undefined && !this.objects.has(key) ? [key] : []))
  }
}

/** Index of the first key that is not below `bound`. `0` follows `/` in the order, so `ns0` ends the keys of `ns`. */
const firstAtLeast = (keys: ReadonlyArray<string>, bound: string): number => {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] ?? "") < bound) low = middle + 1
    else high = middle
  }
  return low
}

const firstAfter = (keys: ReadonlyArray<string>, key: string): number => {
  const index = firstAtLeast(keys, key)
  return keys[index] === key && key !== "" ? index + 1 : index
}

/** All objects that a predicate selects at a revision. */
export const select = (collection: Collection, chosen: SelectionPredicate, revision: number): ReadonlyArray<Version> =>
  page(collection, chosen, { revision, after: "", limit: 0 }).versions

export interface Page {
  readonly revision: number
  /** The key after which the page starts; empty for the first page. */
  readonly after: string
  /** 0 for no limit. */
  readonly limit: number
}

/** One page of the selected objects, and whether more follow. */
export const page = (collection: Collection, chosen: SelectionPredicate, plan: Page) => {
  const versions: Array<Version> = []
  for (const version of collection.range({ namespace: chosen.namespace, after: plan.after, revision: plan.revision })) {
    if (!matches(chosen, version)) continue
    if (plan.limit > 0 && versions.length === plan.limit) return { versions, more: true }
    versions.push(version)
  }
  return { versions, more: false }
}
