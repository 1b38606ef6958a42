/**
 * The renewal of a lease that is held: one attempt every retry period. `loop` is that schedule. A `Keeper` runs it in another thread, so that a
 * busy event loop does not lose the lease. In both cases only the state of the term decides what a result means. When a keeper ends, the loop goes
 * on in this thread.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as ApiError from "../kube/ApiError.ts"
import type { Lease } from "../kube/resources.ts"
import * as Candidate from "./candidate.ts"
import type * as LeasePolicy from "./lease.ts"

type Meaning =
  | { readonly _tag: "Renewed"; readonly sentAt: number; readonly lease: Lease; readonly stamp: number }
  | { readonly _tag: "Failed"; readonly message: string }
  /** The lease was changed at the same time: the next attempt reads first. */
  | { readonly _tag: "Conflict" }
  /** The other holder in the record; empty if there is none. */
  | { readonly _tag: "Lost"; readonly holder: string }

/** The result of one attempt, which began at this monotonic millisecond and took so many. */
export type Heard = Meaning & { readonly startedAt: number; readonly took: number }

/** A lease that is held, as plain data that can be sent to the thread of a keeper. */
export interface Holding {
  readonly settings: LeasePolicy.Settings
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>> | undefined
  /** As the server stored it last: the next write is based on it. */
  readonly lease: Lease
  /** When the write that acquired it was sent, in monotonic milliseconds. */
  readonly sentAt: number
  /** Microseconds of the last record written; see `Candidate.Kept`. */
  readonly stamp: number
}

export interface Keeping {
  /**
   * When the last successful renewal was sent, in monotonic milliseconds. Read from shared memory, so it is current even if the message of the
   * renewal has not arrived yet.
   */
  readonly provenUnsafe: () => number
  /** Runs until it is interrupted; ends by itself only if the lease is not renewed any more. */
  readonly run: (heard: (heard: Heard) => Effect.Effect<void>) => Effect.Effect<void>
}

export interface Keeper {
  /** Called when a candidate begins to wait for a lease, so that the thread can start. Does not wait for the thread. */
  readonly prepare: Effect.Effect<void>
  readonly keep: (holding: Holding) => Keeping
}

export interface Rhythm {
  readonly candidate: Candidate.Candidate
  readonly settings: LeasePolicy.Settings
  readonly sentAt: number
  /** The loop ends when this returns false. */
  readonly goesOnUnsafe: () => boolean
  /** Called before each attempt; false skips the attempt. */
  readonly mayRenewUnsafe: () => boolean
  readonly heard: (heard: Heard) => Effect.Effect<void>
}

/**
 * Tries every retry period, counted from the start of one attempt to the start of the next, so that slow responses do not use up the deadline. A
 * late renewal does not end the term here; the watchdog does that.
 */
export const loop = Effect.fnUntraced(function* (rhythm: Rhythm) {
  let started = rhythm.sentAt
  while (rhythm.goesOnUnsafe()) {
    const elapsed = (yield* Candidate.monotonicMillis) - started
    yield* Effect.sleep(Math.max(0, Math.ceil(rhythm.settings.retryPeriod - elapsed)))
    started = yield* Candidate.monotonicMillis
    if (!rhythm.mayRenewUnsafe()) continue
    const meaning = meaningOf(rhythm.candidate, yield* Effect.result(rhythm.candidate.attempt))
    yield* rhythm.heard({ ...meaning, startedAt: started, took: (yield* Candidate.monotonicMillis) - started })
  }
})

const meaningOf = (
  candidate: Candidate.Candidate,
  tried: Result.Result<Candidate.Attempt, ApiError.ApiError>
): Meaning => {
  if (Result.isFailure(tried)) return { _tag: "Failed", message: tried.failure.message }
  if (tried.success._tag === "Held") return { _tag: "Renewed", ...candidate.keptUnsafe(), sentAt: tried.success.sentAt }
  return tried.success.holder === undefined ? { _tag: "Conflict" } : { _tag: "Lost", holder: tried.success.holder }
}
