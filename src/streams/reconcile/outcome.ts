/**
 * What a run can end with, and what the queue does next for each: done (backoff forgotten), after(d) (forgotten, asked for again in d),
 * failure (asked for again after the key's backoff), terminal failure (recorded, not retried). Source: controller-runtime
 * pkg/internal/controller: reconcileHandler.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { KeyedQueue } from "../queue/KeyedQueue.ts"
import type { QueueMetrics } from "./loopMetrics.ts"

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
  /** Why: shown in logs and metrics. */
  readonly cause: unknown
}> {
  override get message(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

/** Fails a run so that its key is left alone until something asks for it again. */
export const terminal = (cause: unknown): TerminalError => new TerminalError({ cause })

/**
 * What happened to a key, observed synchronously after the queue was updated. `elapsed` and `delay` are in milliseconds; `attempt`
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

/** What the settler needs of the loop. */
interface Settling<K extends string, E> {
  readonly queue: KeyedQueue<K>
  readonly limit: number
  readonly retries: number
  readonly tell: (event: RunEvent<K, E>) => void
  readonly metrics: QueueMetrics | undefined
  /** The whole loop was interrupted: a run that ends by it did not fail. */
  readonly isStopping: () => boolean
  readonly onDefect: (cause: Cause.Cause<E>) => void
}

/** A run that has ended. */
interface Settled<K> {
  readonly key: K
  /** What the key was handed out with. */
  readonly priority: number
}

/** The end of a run that did not succeed. */
interface Failure<K, E> extends Settled<K> {
  readonly elapsed: number
  readonly cause: Cause.Cause<E>
  readonly expired: boolean
}

/**
 * The one switch from outcome to queue action. The queue is updated before the observer is called, and knows of no worker. True: the run has asked
 * for the next one of its key.
 */
export const settler = <K extends string, E>({
  isStopping,
  limit,
  metrics,
  onDefect,
  queue,
  retries,
  tell
}: Settling<K, E>) => ({
  success: (run: Settled<K>, outcome: Outcome | void, elapsed: number): boolean => {
    const { key } = run
    queue.forgetUnsafe(key)
    if (outcome?._tag === "After") {
      const asked = queue.addWithUnsafe(key, { priority: outcome.priority ?? run.priority, after: outcome.delay })
      queue.doneUnsafe(key)
      const delay = Duration.toMillis(outcome.delay)
      metrics?.ended(elapsed)
      metrics?.requeues(delay > 0 ? "later" : "now")
      tell({ _tag: "After", key, elapsed, delay })
      return asked !== undefined
    }
    queue.doneUnsafe(key)
    metrics?.ended(elapsed)
    tell({ _tag: "Done", key, elapsed })
    return false
  },
  failure: ({ cause, elapsed, expired, key, priority }: Failure<K, E>): boolean => {
    if (isStopping() && Cause.hasInterrupts(cause)) {
      queue.releaseUnsafe(key)
      tell({ _tag: "Stopped", key, elapsed })
      return true
    }
    const error = Cause.findError(cause)
    const isTerminal = !expired && Result.isSuccess(error) && Predicate.isTagged(error.success, "TerminalError")
    const isPanic = !expired && !isTerminal && Cause.hasDies(cause)
    metrics?.ended(elapsed)
    metrics?.fails(isTerminal ? "terminal" : expired ? "timeouts" : isPanic ? "panics" : "error", key, cause)
    if (isTerminal) {
      queue.forgetUnsafe(key)
      queue.doneUnsafe(key)
      tell({ _tag: "Terminal", key, elapsed, error: error.success })
      return false
    }
    const attempt = queue.failures(key) + 1
    if (attempt > retries) {
      queue.forgetUnsafe(key)
      queue.doneUnsafe(key)
      tell({ _tag: "GaveUp", key, elapsed, attempt, cause })
      if (Cause.hasDies(cause)) onDefect(cause)
      return false
    }
    const delay = queue.addWithUnsafe(key, { priority, rateLimited: true })
    queue.doneUnsafe(key)
    const facts = { key, elapsed, attempt, delay }
    if (expired) tell({ _tag: "Timeout", ...facts, limit })
    else if (Result.isSuccess(error)) tell({ _tag: "Failed", ...facts, error: error.success })
    else if (!Cause.hasDies(cause)) tell({ _tag: "Interrupted", ...facts })
    else {
      tell({ _tag: "Defect", ...facts, defect: Cause.squash(cause), cause })
      onDefect(cause)
    }
    return delay !== undefined
  }
})
