/**
 * The correlator of `v1` events: an occurrence becomes a new event, a higher count of an existing event, or nothing. Three stages, each
 * with its own state: aggregation of similar messages, deduplication by exact key, and a spam filter for each source and object.
 * `correlate` depends only on its arguments and changes the state in place, in one synchronous section; only the sender calls it.
 * Source: client-go tools/record/events_cache.go.
 */
import type * as Occurrence from "./occurrence.ts"

export interface Limits {
  /** The most entries of each stage. */
  readonly capacity: number
  /** After so many distinct messages of similar events they are combined. */
  readonly similar: number
  /** Milliseconds after which the messages of similar events are counted anew. */
  readonly window: number
  /** Events that one source may send about one object at once … */
  readonly burst: number
  /** … and milliseconds until it may send one more. */
  readonly refill: number
}

export const defaults: Limits = { capacity: 4096, similar: 10, window: 600_000, burst: 25, refill: 300_000 }

export const combinedPrefix = "(combined from similar events): "

/** The event as it should be stored now. */
export interface Counted {
  readonly occurrence: Occurrence.Occurrence
  readonly name: string
  readonly message: string
  readonly count: number
  /** Milliseconds since 1970. */
  readonly first: number
  readonly last: number
}

export type Action =
  | { readonly _tag: "Create"; readonly event: Counted }
  /** Patch count, last time and message; create the event again if the stored one is gone. */
  | { readonly _tag: "Patch"; readonly event: Counted }
  /** The source has recorded too many events about this object. */
  | { readonly _tag: "Drop" }

interface Similar {
  readonly messages: Set<string>
  last: number
}

interface Stored {
  readonly name: string
  readonly first: number
  readonly count: number
  /** When it happened last: `now` of the call. */
  readonly last: number
}

interface Bucket {
  /** A token bucket in milliseconds: an event costs `refill` of them. Whole numbers, so that rounding loses nothing. */
  credit: number
  at: number
}

export interface Correlator {
  readonly limits: Limits
  /** Recent messages, by the key of similar events. */
  readonly similar: Lru<string, Similar>
  /** Stored events, by their exact key, or by that of similar events. */
  readonly stored: Lru<string, Stored>
  /** Token buckets, by source and object. */
  readonly buckets: Lru<string, Bucket>
}

export const make = (limits: Limits = defaults): Correlator => ({
  limits,
  similar: makeLru(limits.capacity),
  stored: makeLru(limits.capacity),
  buckets: makeLru(limits.capacity)
})

/** `now` in milliseconds, of a clock that does not run backwards further than the window. */
export const correlate = (state: Correlator, occurrence: Occurrence.Occurrence, now: number): Action => {
  const combined = isCombined(state, occurrence, now)
  const key = combined ? similarKey(occurrence) : exactKey(occurrence)
  const message = combined ? combinedPrefix + occurrence.message : occurrence.message
  const remembered = state.stored.get(key)
  const before = remembered === undefined || now - remembered.last > silence(state.limits) ? undefined : remembered
  const event: Counted = {
    occurrence,
    message,
    name: before?.name ?? occurrence.name,
    count: (before?.count ?? 0) + 1,
    first: before?.first ?? occurrence.time,
    last: occurrence.time
  }
  // Counted even when it is not sent: the next event that is sent has the full count.
  state.stored.set(key, { name: event.name, first: event.first, count: event.count, last: now })
  if (!mayPass(state, occurrence, now)) return { _tag: "Drop" }
  return { _tag: before === undefined ? "Create" : "Patch", event }
}

/**
 * Milliseconds after which an object without events is forgotten: by then its bucket is full again, and the stored event is gone
 * (servers keep events for an hour).
 */
const silence = (limits: Limits): number => limits.burst * limits.refill

/** Removes expired entries, so that a process that records no events keeps none. Call it periodically. */
export const sweep = ({ similar, stored, buckets, limits }: Correlator, now: number): void => {
  for (const [key, { last }] of similar.entries()) if (now - last > limits.window) similar.delete(key)
  for (const [key, { last }] of stored.entries()) if (now - last > silence(limits)) stored.delete(key)
  for (const [key, { credit, at }] of buckets.entries()) {
    if (credit + now - at >= silence(limits)) buckets.delete(key)
  }
}

const isCombined = (state: Correlator, occurrence: Occurrence.Occurrence, now: number): boolean => {
  const key = similarKey(occurrence)
  const before = state.similar.get(key)
  const entry: Similar =
    before === undefined || now - before.last > state.limits.window ? { messages: new Set(), last: now } : before
  entry.messages.add(occurrence.message)
  entry.last = now
  state.similar.set(key, entry)
  if (entry.messages.size < state.limits.similar) return false
  // One message is removed, so that the set stays below the limit by one: any further new message is combined too.
  for (const message of entry.messages) {
    entry.messages.delete(message)
    break
  }
  return true
}

const mayPass = ({ buckets, limits }: Correlator, occurrence: Occurrence.Occurrence, now: number): boolean => {
  const key = sourceKey(occurrence)
  const full = silence(limits)
  const bucket = buckets.get(key) ?? { credit: full, at: now }
  bucket.credit = Math.min(full, bucket.credit + Math.max(0, now - bucket.at))
  bucket.at = now
  buckets.set(key, bucket)
  if (bucket.credit < limits.refill) return false
  bucket.credit -= limits.refill
  return true
}

// Parts are joined with a character that none of them can contain, except the message, which comes last.
const separator = "\u0000"

const sourceKey = ({ component, instance, object }: Occurrence.Occurrence): string =>
  [component, instance, object.apiVersion, object.kind, object.namespace, object.name, object.uid].join(separator)

const similarKey = (occurrence: Occurrence.Occurrence): string =>
  [sourceKey(occurrence), occurrence.type, occurrence.reason].join(separator)

const exactKey = (occurrence: Occurrence.Occurrence): string =>
  [similarKey(occurrence), occurrence.object.fieldPath, occurrence.message].join(separator)

/**
 * A bounded map that removes the least recently used entry. Plain and synchronous; a `Map` keeps insertion order, so the oldest entry is
 * the first one, and a use inserts the entry again.
 */
export interface Lru<K, V> {
  /** A read counts as a use. */
  readonly get: (key: K) => V | undefined
  readonly set: (key: K, value: V) => void
  readonly delete: (key: K) => void
  /** Least recently used first. */
  readonly entries: () => IterableIterator<[K, V]>
  readonly size: () => number
}

export const makeLru = <K, V>(capacity: number): Lru<K, V> => {
  const map = new Map<K, V>()
  return {
    get: (key) => {
      const value = map.get(key)
      if (value === undefined) return undefined
      map.delete(key)
      map.set(key, value)
      return value
    },
    set: (key, value) => {
      map.delete(key)
      map.set(key, value)
      if (map.size <= capacity) return
      for (const oldest of map.keys()) {
        map.delete(oldest)
        break
      }
    },
    delete: (key) => void map.delete(key),
    entries: () => map.entries(),
    size: () => map.size
  }
}
