/**
 * What the queue does at the end of a run: done (the backoff is reset), after(d) (the backoff is reset, and the key is added with delay d),
 * failure (the key is added after its backoff), terminal failure (recorded, not retried).
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { KeyedQueue } from "../queue/KeyedQueue.ts"
import type * as Tracer from "effect/Tracer"
import * as ApiError from "../../kube/ApiError.ts"
import { excerpt } from "../../kube/printable.ts"
import type { QueueMetrics } from "./loopMetrics.ts"
import type { Outcome } from "./outcome.ts"

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
  /** It failed more often in a row than `retries` allows: it is not retried until it is added again, and its backoff is reset. */
  | {
      readonly _tag: "GaveUp"
      readonly key: K
      readonly elapsed: number
      readonly attempt: number
      readonly cause: Cause.Cause<E>
    }
  /** The loop was interrupted, and the run with it; the key is queued again, and no failure is counted. */
  | { readonly _tag: "Stopped"; readonly key: K; readonly elapsed: number }

type RetryEvent<K, Tag extends string, Facts> = Facts & {
  readonly _tag: Tag
  readonly key: K
  readonly elapsed: number
  readonly attempt: number
  readonly delay: number | undefined
}

/** What `conclude` needs of the loop. */
interface Settling<K extends string, E> {
  readonly queue: KeyedQueue<K>
  readonly limit: number
  readonly retries: number
  readonly notify: (event: RunEvent<K, E>) => void
  readonly metrics: QueueMetrics | undefined
  /** Whether the loop was interrupted: a run that this interrupts did not fail. */
  readonly isStopping: () => boolean
  readonly onDefect: (cause: Cause.Cause<E>) => void
}

/** A run that has ended. */
interface Settled<K> {
  readonly key: K
  /** The priority with which the key was handed out. */
  readonly priority: number
  /** The span of the run, with traces only. */
  readonly span: Tracer.Span | undefined
}

/** The end of a run that did not succeed. */
interface Failure<K, E> extends Settled<K> {
  readonly elapsed: number
  readonly cause: Cause.Cause<E>
  readonly expired: boolean
}

/**
 * Updates the queue according to the outcome of a run, then calls the observer. True: the run has asked for another run of its key.
 */
export const settler = <K extends string, E>({
  isStopping,
  limit,
  metrics,
  onDefect,
  queue,
  retries,
  notify
}: Settling<K, E>) => ({
  success: (run: Settled<K>, outcome: Outcome | void, elapsed: number): boolean => {
    const { key } = run
    queue.forgetUnsafe(key)
    if (outcome?._tag === "After") {
      const delay = Duration.toMillis(outcome.delay)
      const accepted = queue.addWithUnsafe(key, {
        priority: outcome.priority ?? run.priority,
        after: outcome.delay,
        cause: { _tag: "Requeue", delay, span: run.span }
      })
      queue.doneUnsafe(key)
      metrics?.ended(elapsed)
      metrics?.requeues(delay > 0 ? "later" : "now")
      notify({ _tag: "After", key, elapsed, delay })
      return accepted !== undefined
    }
    queue.doneUnsafe(key)
    metrics?.ended(elapsed)
    notify({ _tag: "Done", key, elapsed })
    return false
  },
  failure: ({ cause, elapsed, expired, key, priority, span }: Failure<K, E>): boolean => {
    if (isStopping() && Cause.hasInterrupts(cause)) {
      queue.releaseUnsafe(key, { _tag: "Stopped", span })
      notify({ _tag: "Stopped", key, elapsed })
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
      notify({ _tag: "Terminal", key, elapsed, error: error.success })
      return false
    }
    const attempt = queue.failures(key) + 1
    if (attempt > retries) {
      queue.forgetUnsafe(key)
      queue.doneUnsafe(key)
      notify({ _tag: "GaveUp", key, elapsed, attempt, cause })
      if (Cause.hasDies(cause)) onDefect(cause)
      return false
    }
    const after = expired ? "a timeout" : isPanic ? "a defect" : wordsOf(Cause.squash(cause))
    const delay = queue.addWithUnsafe(key, {
      priority,
      rateLimited: true,
      cause: { _tag: "Retry", attempt, after, span }
    })
    queue.doneUnsafe(key)
    const facts = { key, elapsed, attempt, delay }
    if (expired) notify({ _tag: "Timeout", ...facts, limit })
    else if (Result.isSuccess(error)) notify({ _tag: "Failed", ...facts, error: error.success })
    else if (!Cause.hasDies(cause)) notify({ _tag: "Interrupted", ...facts })
    else {
      notify({ _tag: "Defect", ...facts, defect: Cause.squash(cause), cause })
      onDefect(cause)
    }
    return delay !== undefined
  }
})

/** The most characters of an error's message in a cause. */
const longest = 100

/** `409 Conflict` for a response of the server, else the beginning of the message. */
const wordsOf = (error: unknown): string => {
  if (ApiError.isApiError(error)) {
    return error.status === undefined ? error.reason._tag : `${error.status} ${error.reason._tag}`
  }
  return excerpt(error instanceof Error ? error.message : String(error), longest)
}
