/**
 * The loop between a keyed queue and a reconcile: a bounded number of runs at once, one at a time per key, and one switch that
 * turns each outcome into what the queue does next. Every run is a fiber of its own, so a run that times out, dies or is
 * interrupted releases its key and takes nothing else with it. Which key comes next is the queue's business, what a
 * reconcile does is its author's.
 *
 * Outcomes: done (backoff forgotten), after(d) (forgotten, asked for again in d), failure (asked for again after the key's
 * backoff), terminal failure (recorded, not retried). Source: framework.md 2.7.
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { KeyedQueue } from "../queue/KeyedQueue.ts"
import type { QueueMetrics } from "./loopMetrics.ts"
import * as Loop from "./reconcileLoop.ts"
import type { Trace } from "./trace.ts"

/** What a run that did not fail asks for. */
export type Outcome = Done | After

/** Nothing to do until the key is asked for again. */
export interface Done {
  readonly _tag: "Done"
}

/** Wants to run again when the time has passed, or earlier if the key is asked for. */
export interface After {
  readonly _tag: "After"
  /** From the end of the run. */
  readonly delay: Duration.Duration
  /** The priority to run with then; by default the one it ran with. */
  readonly priority: number | undefined
}

/** Nothing more to do until something changes. */
export const done: Outcome = { _tag: "Done" }

/** Run again in `delay`; zero or less means as soon as the key's turn comes. */
export const after = (delay: Duration.Input, options?: { readonly priority?: number | undefined }): Outcome => ({
  _tag: "After",
  delay: Duration.fromInputUnsafe(delay),
  priority: options?.priority
})

/** A failure that trying again cannot mend: recorded, not retried, and the key's backoff is reset. */
export class TerminalError extends Data.TaggedError("TerminalError")<{
  /** Why: told in logs and metrics. */
  readonly cause: unknown
}> {
  override get message(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

/** Fails a run so that its key is left alone until something asks for it again. */
export const terminal = (cause: unknown): TerminalError => new TerminalError({ cause })

/**
 * What happened to a key, told synchronously and after the queue knows. `elapsed` and `delay` are in milliseconds; `attempt`
 * counts failures in a row, this one included. `delay` is undefined if the queue no longer takes adds.
 */
export type RunEvent<K, E> =
  | { readonly _tag: "Started"; readonly key: K; readonly priority: number }
  | { readonly _tag: "Done"; readonly key: K; readonly elapsed: number }
  | { readonly _tag: "After"; readonly key: K; readonly elapsed: number; readonly delay: number }
  | { readonly _tag: "Terminal"; readonly key: K; readonly elapsed: number; readonly error: E }
  | RetryEvent<K, "Failed", { readonly error: E }>
  | RetryEvent<K, "Defect", { readonly defect: unknown; readonly cause: Cause.Cause<E> }>
  | RetryEvent<K, "Timeout", { readonly limit: number }>
  | RetryEvent<K, "Interrupted", {}>
  /** It failed more often in a row than `retries` allows: left alone until it is asked for again, its backoff reset. */
  | {
      readonly _tag: "GaveUp"
      readonly key: K
      readonly elapsed: number
      readonly attempt: number
      readonly cause: Cause.Cause<E>
    }
  /** The whole loop was interrupted and the run with it; the key is queued again, no failure is counted. */
  | { readonly _tag: "Stopped"; readonly key: K; readonly elapsed: number }

type RetryEvent<K, Tag extends string, Facts> = Facts & {
  readonly _tag: Tag
  readonly key: K
  readonly elapsed: number
  readonly attempt: number
  readonly delay: number | undefined
}

/** Settings of a loop. */
export interface Options<K, E, R> {
  /** How many runs at once; at least 1. */
  readonly concurrency: number
  /** Brings the world into the state the key's object asks for. Knows the key only, never why it runs. */
  readonly reconcile: (key: K) => Effect.Effect<Outcome | void, E, R>
  /** A run that takes longer is interrupted and counts as a failure. Default 5 minutes. */
  readonly timeout?: Duration.Input | "none" | undefined
  /** How often a key that goes on failing is tried again; for ever by default. */
  readonly retries?: number | undefined
  /** Default true: a defect counts as a failure of its key. False: it ends the loop. */
  readonly recoverDefects?: boolean | undefined
  /**
   * Asked before each run. True: the key is held, without occupying a worker, until `resume` is called; then it takes its
   * turn and is asked about again. For reads that must see the last write.
   */
  readonly park?: ((key: K, resume: () => void) => boolean) | undefined
  /** For metrics and logs. Must be quick; if it throws, that is logged and the key is not affected. */
  readonly observe?: ((event: RunEvent<K, E>) => void) | undefined
  /** Where runs are counted; nowhere by default. */
  readonly metrics?: QueueMetrics | undefined
  /** Where spans of runs go; nowhere by default. */
  readonly trace?: Trace | undefined
}

/**
 * Runs until the queue has ended and the last run is over. Interrupting it interrupts all runs and waits for them; their
 * keys go back to the queue.
 */
export const run: <K extends string, E, R>(
  queue: KeyedQueue<K>,
  options: Options<K, E, R>
) => Effect.Effect<void, never, R> = Loop.run
