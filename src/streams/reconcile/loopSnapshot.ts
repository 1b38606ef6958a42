/**
 * The state of a controller's loop at one moment: the runs of its workers, the keys in its queues, and its last failure. It is read on
 * request from the loop and the queues, with a limit by the caller; no event updates it.
 */
import type * as Cause from "effect/Cause"

export interface QueueStats {
  /** The numbers of keys that are ready, delayed, in flight, and with failures since their last `forget`. */
  readonly ready: number
  readonly waiting: number
  readonly processing: number
  readonly failing: number
  readonly adds: number
  readonly retries: number
}

/** A key that comes next. */
export interface ReadyKey {
  readonly key: string
  readonly priority: number
  /** How long it has been ready, in milliseconds. */
  readonly readyFor: number
}

/** A delayed key. */
export interface DelayedKey {
  readonly key: string
  /** Milliseconds until it is due; zero or less when it is. */
  readonly dueIn: number
  /** Failures in a row. */
  readonly failures: number
  /** What the last run failed with, in a few words; undefined if it did not fail. */
  readonly after?: string
}

export interface QueueHead {
  /** In the order of priority, and of arrival within a priority. */
  readonly next: ReadonlyArray<ReadyKey>
  /** In the order of their due times. */
  readonly delayed: ReadonlyArray<DelayedKey>
}

export interface Running {
  readonly key: string
  readonly millis: number
}

/** The last failed run. */
export interface Failure {
  readonly why: "error" | "terminal" | "panics" | "timeouts"
  /** Undefined for a run that is not for a key. */
  readonly key: string | undefined
  readonly cause: Cause.Cause<unknown>
  /** Wall clock, milliseconds. */
  readonly at: number
}

export interface LoopSnapshot {
  /** Whether there are workers. */
  readonly isRunning: boolean
  readonly workers: number
  readonly active: number
  /** The longest run first. */
  readonly running: ReadonlyArray<Running>
  readonly failure: Failure | undefined
  readonly queues: ReadonlyArray<{ readonly name: string } & QueueStats & QueueHead>
}

/** The runs with the longest duration, the longest first. */
export const longest = (runs: ReadonlyArray<Running>, limit: number): ReadonlyArray<Running> =>
  [...runs].sort((a, b) => b.millis - a.millis).slice(0, limit)
