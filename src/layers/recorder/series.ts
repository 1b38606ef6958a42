/**
 * The correlation of `events.k8s.io/v1`: equal events within six minutes of one another are one event with a series. The first two are
 * written at once; after that only the count in memory grows, and the series is written every half hour and when it is over. Like
 * `correlator.ts` it is deterministic and changes its state in place, in synchronous sections.
 * Source: client-go tools/events/event_broadcaster.go.
 */
import * as Lru from "./correlator.ts"
import type { Occurrence } from "./occurrence.ts"

export interface Limits {
  readonly capacity: number
  /** Milliseconds without an event after which a series is over. */
  readonly window: number
  /** Milliseconds between two writes of a series that goes on. */
  readonly refresh: number
}

export const defaults: Limits = { capacity: 4096, window: 360_000, refresh: 1_800_000 }

/** One event and how often it happened. */
export interface Series {
  /** The first occurrence, with the fields of the event. */
  readonly occurrence: Occurrence
  readonly count: number
  /** Wall time of the last occurrence, milliseconds since 1970. */
  readonly lastTime: number
}

export type Action =
  | { readonly _tag: "Create"; readonly series: Series }
  /** Write the series into the stored event; create it anew if that one is gone. */
  | { readonly _tag: "Patch"; readonly series: Series }

interface Entry {
  readonly occurrence: Occurrence
  count: number
  lastTime: number
  /** When it last occurred, and when and up to which count it was written. Times are `now` of the calls. */
  last: number
  written: number
  writtenAt: number
}

export interface State {
  readonly limits: Limits
  readonly entries: Lru.Lru<string, Entry>
}

export const make = (limits: Limits = defaults): State => ({ limits, entries: Lru.makeLru(limits.capacity) })

/** At most two actions: the end of a series that was over, and the beginning of the next. */
export const observe = (state: State, occurrence: Occurrence, now: number): ReadonlyArray<Action> => {
  const key = keyOf(occurrence)
  const entry = state.entries.get(key)
  if (entry !== undefined && now - entry.last <= state.limits.window) {
    entry.count += 1
    entry.last = now
    entry.lastTime = occurrence.time
    return entry.count === 2 ? [write(entry, now)] : []
  }
  const over = entry !== undefined && entry.written < entry.count ? [write(entry, now)] : []
  const next = { occurrence, count: 1, last: now, lastTime: occurrence.time, written: 1, writtenAt: now }
  state.entries.set(key, next)
  return [...over, { _tag: "Create", series: snapshot(next) }]
}

/** Writes series that are over or due, and removes those that are over. Call it periodically. */
export const sweep = (state: State, now: number): ReadonlyArray<Action> => {
  const actions: Array<Action> = []
  for (const [key, entry] of state.entries.entries()) {
    const over = now - entry.last > state.limits.window
    if (over) state.entries.delete(key)
    if (entry.written < entry.count && (over || now - entry.writtenAt >= state.limits.refresh)) {
      actions.push(write(entry, now))
    }
  }
  return actions
}

/** Writes every series whose count has changed since it was written. For the end of the process. */
export const finish = (state: State, now: number): ReadonlyArray<Action> => {
  const actions: Array<Action> = []
  for (const [, entry] of state.entries.entries()) {
    if (entry.written < entry.count) actions.push(write(entry, now))
  }
  return actions
}

const write = (entry: Entry, now: number): Action => {
  entry.written = entry.count
  entry.writtenAt = now
  return { _tag: "Patch", series: snapshot(entry) }
}

const snapshot = ({ occurrence, count, lastTime }: Entry): Series => ({ occurrence, count, lastTime })

const keyOf = ({ object, type, reason, action, component, instance }: Occurrence): string =>
  [
    component,
    instance,
    type,
    reason,
    action,
    object.apiVersion,
    object.kind,
    object.namespace,
    object.name,
    object.uid,
    object.fieldPath
  ].join("\u0000")
