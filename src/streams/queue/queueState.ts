/**
 * The rules of the keyed queue as a plain synchronous state machine: the state of each key, which key may be handed out, and what an add, a
 * take, a done, the passing of time and a shutdown do. `KeyedQueue` wraps it in effects. Every method is one synchronous section, which is
 * the lock on a single thread. It reads time only through `now` and starts no fiber.
 *
 *     absent ──▶ waiting(due) ──▶ ready(priority, sequence) ──▶ in flight(pending?) ──▶ absent
 *
 * Source of the rules: controller-runtime's priority queue and client-go's workqueue.
 */
import { DueHeap } from "./dueHeap.ts"
import type { DelayedKey, QueueHead } from "../reconcile/loopSnapshot.ts"
import type { QueueMetrics } from "../reconcile/loopMetrics.ts"
import * as ReadyList from "./readyList.ts"
import { type Cause, type Causes, list, merge } from "../reconcile/cause.ts"

/** In the order in which a shutdown drops them: a drain drops waiting keys, a stop also ready ones. */
const Waiting = 0
const Ready = 1
const InFlight = 2

interface Entry<K> extends ReadyList.Item<Entry<K>> {
  readonly key: K
  /** Waiting entries are in the heap, Ready ones in the ready list, InFlight ones in neither. */
  phase: typeof Waiting | typeof Ready | typeof InFlight
  /** The highest priority of the adds since the key was last handed out; in flight: the one with which it was handed out. */
  priority: number
  /** The earliest due time of its adds; meaningful while Waiting. */
  due: number
  slot: number
  rank: number
  /** In flight, and added again: `done` queues it again instead of dropping it. False in other phases. */
  pending: boolean
  /** The highest priority and earliest due time (0: at once) of the adds since it was handed out; meaningful while pending. */
  pendingPriority: number
  pendingDue: number
  /** When it last became ready; kept only with metrics. A higher priority does not change it. */
  readyAt: number
  /** Why it was added since the last {@link QueueState.claim}. */
  causes: Causes | undefined
}

/** The most causes of all keys together, besides one for each: a cause holds a change with both versions of its object, and keys may wait for long. */
export const mostOthers = 4000

export interface Options {
  /** The monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Delay in milliseconds after n failures in a row. */
  readonly backoff: (failures: number) => number
  readonly aging: ReadyList.Aging | undefined
  /** Called with how long each key was ready. Without it the clock is not read for each add. */
  readonly metrics?: Pick<QueueMetrics, "waits" | "sawPriority"> | undefined
  /** A key became ready, or the queue ended: waiting workers should try again. */
  readonly onReady: () => void
  /** A key was delayed and is now the first of all, due at `due`. */
  readonly onDelay: (due: number) => void
  /** Nothing is ready and nothing in flight. */
  readonly onQuiet: () => void
}

export class QueueState<K> {
  /** Exactly the keys that are waiting, ready or in flight, each with one entry. */
  private readonly entries = new Map<K, Entry<K>>()
  /** Exactly the entries in phase Waiting. */
  private readonly delayed = new DueHeap<Entry<K>>()
  /** Exactly the entries in phase Ready. */
  private readonly ready: ReadyList.ReadyList<Entry<K>>
  /** Number of entries in phase InFlight. */
  private processing = 0
  /** Failures in a row of the keys that have any; `forget` removes. */
  private readonly failed = new Map<K, number>()
  /** `open` accepts adds; `draining` hands out ready keys and ignores adds; `stopped` hands out nothing. It only changes in this order. */
  private mode: "open" | "draining" | "stopped" = "open"
  /** Keys that were added and not merged with a queued one, and adds with a delay. They never decrease. */
  private adds = 0
  private retries = 0
  /** The number of the causes that entries keep, besides the first of each. */
  private others = 0
  /** When a key was last handed out; kept only with metrics. */
  private takenAt = 0
  private readonly waits: QueueMetrics["waits"] | undefined
  private readonly options: Options

  constructor(options: Options) {
    this.options = options
    this.waits = options.metrics?.waits
    this.ready = new ReadyList.ReadyList(options.aging, options.now, options.metrics?.sawPriority)
  }

  /**
   * Adds the key after `delay` milliseconds (≤ 0: at once). False if the queue no longer accepts adds. `at`: the present time, for a caller
   * that adds many keys.
   */
  add(key: K, priority: number, delay: number, cause?: Cause, at?: number): boolean {
    if (this.mode !== "open") return false
    if (delay > 0) this.retries++
    const entry = this.entries.get(key)
    const rank = Number.isNaN(priority) ? 0 : priority
    const due = delay > 0 ? this.options.now() + delay : 0
    if (entry === undefined) this.insert(key, rank, due, cause, at)
    else {
      if (cause !== undefined) this.note(entry, cause)
      if (entry.phase === InFlight) this.remember(entry, rank, due)
      else this.merge(entry, rank, due, at)
    }
    return true
  }

  /** Adds all of them without a delay, and reads the clock once. */
  addAll(keys: Iterable<K>, priority: number, cause?: Cause): void {
    const at = this.waits === undefined ? 0 : this.options.now()
    for (const key of keys) this.add(key, priority, 0, cause, at)
  }

  /** Counts a failure and adds the key after its backoff, or after `after` if that is shorter. Returns the delay, if accepted. */
  retry(key: K, priority: number, after: number, cause?: Cause): number | undefined {
    if (this.mode !== "open") return undefined
    const failures = this.failed.get(key) ?? 0
    this.failed.set(key, failures + 1)
    const delay = Math.min(this.options.backoff(failures), after)
    this.add(key, priority, delay, cause)
    return delay
  }

  /** Resets the failures of the key. */
  forget(key: K): void {
    if (this.failed.size > 0) this.failed.delete(key)
  }

  failures(key: K): number {
    return this.failed.get(key) ?? 0
  }

  /** The highest priority with which the key was added; in flight: the one with which it was handed out. */
  priority(key: K): number | undefined {
    return this.entries.get(key)?.priority
  }

  /** Hands out the next ready key, which is in flight until `done` or `release`. `at`: the present time, if the caller knows it. */
  take(at?: number): K | undefined {
    const entry = this.ready.shift()
    if (entry === undefined) return undefined
    entry.phase = InFlight
    this.processing++
    if (this.waits !== undefined) {
      this.takenAt = at ?? this.options.now()
      this.waits.observe(this.takenAt - entry.readyAt)
    }
    return entry.key
  }

  /** The key is no longer in flight; if it was added meanwhile, it is queued again. */
  done(key: K): void {
    const entry = this.entries.get(key)
    if (entry === undefined || entry.phase !== InFlight) return
    this.processing--
    if (entry.pending && this.mode !== "stopped") this.requeue(entry)
    else {
      if (entry.causes !== undefined) this.claim(key)
      this.entries.delete(key)
    }
    if (this.processing === 0 && this.ready.size === 0) this.quiet()
  }

  /** Why the key was added until now. These causes belong to the run that begins; later ones belong to the next run. */
  claim(key: K): Causes | undefined {
    const entry = this.entries.get(key)
    const causes = entry?.causes
    if (causes === undefined || entry === undefined) return undefined
    entry.causes = undefined
    this.others -= causes.others?.length ?? 0
    return causes
  }

  /** Returns a key that was not processed: it is ready again, even while draining. */
  release(key: K, cause?: Cause): void {
    const entry = this.entries.get(key)
    if (entry === undefined || entry.phase !== InFlight) return
    if (cause !== undefined) this.note(entry, cause)
    this.remember(entry, entry.priority, 0)
    this.done(key)
  }

  /** Makes due keys ready, at most `limit`, in the order of their due times. */
  releaseDue(limit: number): void {
    const now = this.options.now()
    for (let n = 0; n < limit; n++) {
      const entry = this.delayed.peek()
      if (entry === undefined || entry.due > now) return
      this.delayed.remove(entry)
      this.makeReady(entry, now)
    }
  }

  /** When the first delayed key is due; infinity if there is none. */
  nextDue(): number {
    return this.delayed.peek()?.due ?? Infinity
  }

  /** Ignores adds and drops delayed keys; without `drain`, also ready and pending keys. */
  shutdown(drain: boolean): void {
    if (this.mode === "stopped" || (drain && this.mode === "draining")) return
    this.mode = drain ? "draining" : "stopped"
    const dropped = drain ? Waiting : Ready
    for (const entry of this.entries.values()) {
      if (entry.phase <= dropped) this.entries.delete(entry.key)
      else if (entry.pending) this.settlePending(entry, drain)
    }
    this.delayed.clear()
    if (!drain) this.ready.clear()
    this.failed.clear()
    this.options.onReady()
    if (this.processing === 0 && this.ready.size === 0) this.options.onQuiet()
  }

  /** Whether no key will be handed out any more. */
  get ended(): boolean {
    return this.mode !== "open" && (this.mode === "stopped" || this.isQuiet)
  }

  get isQuiet(): boolean {
    return this.processing === 0 && this.ready.size === 0
  }

  /** Whether a key is ready. */
  get hasReady(): boolean {
    return this.ready.size > 0
  }

  /** Ready keys by priority. */
  levels(): ReadonlyMap<number, number> {
    return this.ready.levels()
  }

  /** Milliseconds for which the longest ready of the next keys has been ready; 0 when there is none. */
  waited(): number {
    const now = this.options.now()
    return Math.max(0, ...this.ready.heads().map((entry) => now - entry.readyAt))
  }

  /** Milliseconds for which keys have been ready and none was handed out; 0 when there are none. */
  stalled(): number {
    return this.ready.size === 0 ? 0 : Math.min(this.waited(), this.options.now() - this.takenAt)
  }

  stats() {
    return {
      ready: this.ready.size,
      waiting: this.delayed.size,
      processing: this.processing,
      failing: this.failed.size,
      adds: this.adds,
      retries: this.retries
    }
  }

  /** The keys that come next, and those that are due next; at most `limit` of each. */
  head(limit: number): QueueHead {
    const now = this.options.now()
    return {
      next: this.ready.first(limit).map((entry) => ({
        key: String(entry.key),
        priority: entry.priority,
        readyFor: this.waits === undefined ? 0 : now - entry.readyAt
      })),
      delayed: this.delayed.first(limit).map((entry) => this.delayedKey(entry, now))
    }
  }

  private delayedKey({ causes, due, key }: Entry<K>, now: number): DelayedKey {
    const delayed = { key: String(key), dueIn: due - now, failures: this.failures(key) }
    const retry = list(causes).findLast(({ _tag }) => _tag === "Retry")
    return retry?._tag === "Retry" ? { ...delayed, after: retry.after } : delayed
  }

  /** When the key will be handed out next; undefined if nothing has added it. */
  dueOf(text: string): DelayedKey | undefined {
    // The keys of all queues are texts; a text that is no key has no entry.
    const key = text as K & string
    const entry = this.entries.get(key)
    if (entry === undefined || (entry.phase === InFlight && !entry.pending)) return undefined
    const due = entry.phase === InFlight ? entry.pendingDue : entry.due
    const dueIn = entry.phase === Ready || due === 0 ? 0 : due - this.options.now()
    return { key, dueIn, failures: this.failures(key) }
  }

  private note(entry: Entry<K>, cause: Cause): void {
    const before = entry.causes?.others?.length ?? 0
    entry.causes = merge(entry.causes, cause, this.others >= mostOthers)
    this.others += (entry.causes.others?.length ?? 0) - before
  }

  private insert(key: K, priority: number, due: number, cause: Cause | undefined, at?: number): void {
    const entry: Entry<K> = {
      key,
      phase: Waiting,
      priority,
      due,
      slot: -1,
      rank: 0,
      pending: false,
      pendingPriority: 0,
      pendingDue: 0,
      readyAt: at ?? 0,
      sequence: 0,
      since: 0,
      previous: undefined,
      next: undefined,
      causes: cause === undefined ? undefined : merge(undefined, cause)
    }
    this.adds++
    this.entries.set(key, entry)
    if (due === 0) this.makeReady(entry, at)
    else this.delay(entry, due)
  }

  /** Merges an add with the queued entry: the higher priority, the earlier time. */
  private merge(entry: Entry<K>, priority: number, due: number, at?: number): void {
    if (entry.phase === Ready) {
      if (priority <= entry.priority) return
      this.ready.remove(entry)
      entry.priority = priority
      this.ready.push(entry)
      return
    }
    if (priority > entry.priority) entry.priority = priority
    if (due === 0) {
      this.delayed.remove(entry)
      this.makeReady(entry, at)
    } else if (due < entry.due) this.delay(entry, due)
  }

  /** Merges an add with those made since the key was handed out. */
  private remember(entry: Entry<K>, priority: number, due: number): void {
    if (!entry.pending) {
      this.adds++
      entry.pending = true
      entry.pendingPriority = priority
      entry.pendingDue = due
      return
    }
    if (priority > entry.pendingPriority) entry.pendingPriority = priority
    if (due < entry.pendingDue) entry.pendingDue = due
  }

  /** After `done`: queues the entry with the adds that were remembered while it was in flight. */
  private requeue(entry: Entry<K>): void {
    entry.pending = false
    entry.priority = entry.pendingPriority
    if (this.isFuture(entry.pendingDue)) this.delay(entry, entry.pendingDue)
    else this.makeReady(entry)
  }

  private isFuture(due: number): boolean {
    return due !== 0 && due > this.options.now()
  }

  /** On shutdown: a pending delay is dropped like any other, a pending add survives a drain. */
  private settlePending(entry: Entry<K>, drain: boolean): void {
    if (!drain || this.isFuture(entry.pendingDue)) entry.pending = false
  }

  private makeReady(entry: Entry<K>, at?: number): void {
    entry.phase = Ready
    if (this.waits !== undefined) entry.readyAt = at ?? this.options.now()
    this.ready.push(entry)
    this.options.onReady()
  }

  private delay(entry: Entry<K>, due: number): void {
    entry.phase = Waiting
    this.delayed.insert(entry, due)
    if (this.delayed.peek() === entry) this.options.onDelay(due)
  }

  private quiet(): void {
    this.options.onQuiet()
    if (this.mode === "draining") this.options.onReady()
  }
}
