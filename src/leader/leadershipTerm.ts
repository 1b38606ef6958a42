/**
 * The state of one term: until when leadership is proven, whether and why it ended, and the watchdog that ends it in time. The watchdog reads only
 * the clock and that time, so a renewal that hangs cannot keep a term alive. A term that has ended does not begin again.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { LeaderLost, type Term } from "../layers/Leadership.ts"
import * as LeasePolicy from "./lease.ts"

export interface LeadershipTerm {
  readonly term: Term
  /** Ends the term; the first reason stays. */
  readonly endUnsafe: (reason: LeaderLost["reason"], message: string) => void
  /** A renewal sent at `sentAt` (monotonic milliseconds) succeeded. */
  readonly renewedUnsafe: (sentAt: number) => void
  /** A renewal failed; kept for the message only. */
  readonly failedUnsafe: (message: string) => void
  /** Milliseconds for which the term is still proven; zero or less when it is not. */
  readonly remainingUnsafe: () => number
}

/** `provenUnsafe` returns when the keeper's last successful renewal was sent, in monotonic milliseconds. */
export const make = (
  settings: LeasePolicy.Settings,
  sentAt: number,
  provenUnsafe: () => number = () => sentAt
): Effect.Effect<LeadershipTerm> =>
  Clock.clockWith((clock) => Effect.sync(() => makeUnsafe(settings, sentAt, provenUnsafe, () => millis(clock))))

const millis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

const makeUnsafe = (
  settings: LeasePolicy.Settings,
  sentAt: number,
  provenUnsafe: () => number,
  now: () => number
): LeadershipTerm => {
  /** Monotonic milliseconds. Only moves forward, and only while the term is still valid. */
  let until = LeasePolicy.validUntil(sentAt, settings)
  /** The term was seen expired: a renewal that arrives later does not revive it. */
  let expired = false
  let lastError = ""
  const lost = Deferred.makeUnsafe<LeaderLost>()
  const remainingUnsafe = () => {
    if (!expired) until = Math.max(until, LeasePolicy.validUntil(provenUnsafe(), settings))
    const remaining = until - now()
    if (remaining <= 0) expired = true
    return remaining
  }
  const isValidUnsafe = () => !Deferred.isDoneUnsafe(lost) && remainingUnsafe() > 0
  return {
    term: { lost: Deferred.await(lost), isValidUnsafe },
    remainingUnsafe,
    endUnsafe: (reason, message) => {
      const text = reason === "NotRenewed" && lastError !== "" ? `${message}; last error: ${lastError}` : message
      Deferred.doneUnsafe(lost, Effect.succeed(new LeaderLost({ reason, message: text })))
    },
    renewedUnsafe: (sentAt) => {
      if (!isValidUnsafe()) return
      until = Math.max(until, LeasePolicy.validUntil(sentAt, settings))
      lastError = ""
    },
    failedUnsafe: (message) => {
      lastError = message
    }
  }
}

/** Milliseconds for which the term is proven; undefined when it is over. */
export const provenFor = ({ remainingUnsafe, term }: LeadershipTerm): number | undefined =>
  term.isValidUnsafe() ? remainingUnsafe() : undefined

/** Ends the term the moment it can no longer be proven; returns when the term was ended elsewhere. */
export const watchdog = (leadershipTerm: LeadershipTerm): Effect.Effect<void> =>
  Effect.raceFirst(deadline(leadershipTerm), leadershipTerm.term.lost)

const deadline = Effect.fnUntraced(function* (leadershipTerm: LeadershipTerm) {
  const started = leadershipTerm.remainingUnsafe()
  while (leadershipTerm.remainingUnsafe() > 0) yield* Effect.sleep(Math.ceil(leadershipTerm.remainingUnsafe()))
  leadershipTerm.endUnsafe(
    "NotRenewed",
    `no renewal succeeded for ${Duration.format(Duration.millis(Math.round(started)))}`
  )
})
