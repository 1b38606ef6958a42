/**
 * What a look at a controller's loop finds: what its workers do, what waits in its queues, what went wrong last. Taken on
 * request from the loop and the queues themselves and bounded by whoever asks; nothing here is kept up to date by events.
 */
import type * as Cause from "effect/Cause"

export interface QueueStats {
  /** Keys that could be taken now, that wait for their time, that are in hands, and that have failed and were not forgotten. */
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

/** A key that waits for its time. */
export interface DelayedKey {
  readonly key: string
  /** Milliseconds until then; zero or less when it is due. */
  readonly dueIn: number
  /** Failures in a row. */
  readonly failures: number
}

export interface QueueHead {
  /** In the order of their priorities, and of their arrival within one. */
  readonly next: ReadonlyArray<ReadyKey>
  /** The one due first first. */
  readonly delayed: ReadonlyArray<DelayedKey>
}

export interface Running {
  readonly key: string
  readonly millis: number
}

/** How the last run that did not end well ended. */
export interface Failure {
  readonly why: "error" | "terminal" | "panics" | "timeouts"
  /** Undefined for a run that is not for a key. */
  readonly key: string | undefined
  readonly cause: Cause.Cause<unknown>
  /** Wall clock, milliseconds. */
  readonly at: number
}

export interface LoopSnapshot {
  /** Workers are there to take keys. */
  readonly isRunning: boolean
  readonly workers: number
  readonly active: number
  /** The longest first. */
  readonly running: ReadonlyArray<Running>
  readonly failure: Failure | undefined
  readonly queues: ReadonlyArray<{ readonly name: string } & QueueStats & QueueHead>
}

/** Those that have run longest, the longest first. */
export const longest = (runs: ReadonlyArray<Running>, limit: number): ReadonlyArray<Running> =>
  [...runs].sort((a, b) => b.millis - a.millis).slice(0, limit)
