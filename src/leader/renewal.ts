/**
 * How a lease that is held stays held: a try every retry period. `loop` is the rhythm; a `Keeper` runs it
 * elsewhere, so that a busy event loop does not cost the lease. Whoever runs it, only the state of the term decides what a result
 * means, and a keeper that gives up is replaced by the loop in this thread.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as ApiError from "../kube/ApiError.ts"
import type { Lease } from "../kube/resources.ts"
import * as Candidate from "./candidate.ts"
import type * as LeasePolicy from "./lease.ts"

/** What became of one try. */
export type Heard =
  | { readonly _tag: "Renewed"; readonly sentAt: number; readonly lease: Lease; readonly stamp: number }
  | { readonly _tag: "Failed"; readonly message: string }
  /** The other holder in the record; empty: none. */
  | { readonly _tag: "Lost"; readonly holder: string }

/** A lease that we hold, for a keeper. Plain data, for another thread. */
export interface Holding {
  readonly settings: LeasePolicy.Settings
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>> | undefined
  /** As the server stored it last: the next write is based on it. */
  readonly lease: Lease
  /** When the write that got it was sent, in monotonic milliseconds. */
  readonly sentAt: number
  /** Of the last record written; see `Candidate.Kept`. */
  readonly stamp: number
}

export interface Keeping {
  /** When the last renewal that succeeded was sent, in monotonic milliseconds, at this very moment: not when the message arrives. */
  readonly provenUnsafe: () => number
  /** Runs until it is interrupted; ends by itself only when the lease is no longer kept. */
  readonly run: (heard: (heard: Heard) => Effect.Effect<void>) => Effect.Effect<void>
}

export interface Keeper {
  /** A lease may soon have to be kept. Called as often as a candidate begins to wait; does not wait itself. */
  readonly prepare: Effect.Effect<void>
  readonly keep: (holding: Holding) => Keeping
}

export interface Rhythm {
  readonly candidate: Candidate.Candidate
  readonly settings: LeasePolicy.Settings
  readonly sentAt: number
  /** The loop is over when it is false. */
  readonly goesOnUnsafe: () => boolean
  /** Asked before each try: false leaves this one out. */
  readonly mayRenewUnsafe: () => boolean
  readonly heard: (heard: Heard) => Effect.Effect<void>
}

/**
 * Tries every retry period, counted from the start of one try to the start of the next, so that slow answers do not use up the
 * deadline twice. It never ends a term for being late: that is the watchdog's part.
 */
export const loop = Effect.fnUntraced(function* (rhythm: Rhythm) {
  let started = rhythm.sentAt
  while (rhythm.goesOnUnsafe()) {
    const elapsed = (yield* Candidate.monotonicMillis) - started
    yield* Effect.sleep(Math.max(0, Math.ceil(rhythm.settings.retryPeriod - elapsed)))
    started = yield* Candidate.monotonicMillis
    if (!rhythm.mayRenewUnsafe()) continue
    const heard = meaning(rhythm.candidate, yield* Effect.result(rhythm.candidate.attempt))
    if (heard !== undefined) yield* rhythm.heard(heard)
  }
})

/** Undefined: another writer was faster, and the next try has to look. */
const meaning = (
  candidate: Candidate.Candidate,
  tried: Result.Result<Candidate.Attempt, ApiError.ApiError>
): Heard | undefined => {
  if (Result.isFailure(tried)) return { _tag: "Failed", message: tried.failure.message }
  if (tried.success._tag === "Held") return { _tag: "Renewed", ...candidate.keptUnsafe(), sentAt: tried.success.sentAt }
  return tried.success.holder === undefined ? undefined : { _tag: "Lost", holder: tried.success.holder }
}
