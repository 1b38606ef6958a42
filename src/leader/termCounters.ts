/**
 * What an election counts of its terms, for operators: how many there were, when the present one began, and the last attempts to renew. It decides
 * nothing, and its size is fixed, however long the process runs.
 */
import type * as Clock from "effect/Clock"
import type { RenewalAttempt, Terms } from "../layers/Leadership.ts"
import * as Monotonic from "../streams/monotonic.ts"
import type * as Renewal from "./renewal.ts"

/** The most renewals: those of two minutes at the default retry period. */
export const most = 60

export interface TermCounters {
  readonly beganUnsafe: () => void
  readonly heardUnsafe: (heard: Renewal.Heard) => void
  readonly termsUnsafe: (leads: boolean, transitions: number | undefined) => Terms
}

export const make = (clock: Clock.Clock): TermCounters => {
  const now = Monotonic.millis(clock)
  /** Oldest first. */
  const renewals: Array<RenewalAttempt> = []
  let count = 0
  let since: number | undefined
  let lastError: Terms["lastError"]
  return {
    beganUnsafe: () => {
      count += 1
      since = clock.currentTimeMillisUnsafe()
    },
    heardUnsafe: (heard) => {
      // A keeper's result may arrive late; its times are those of the monotonic clock.
      const at = clock.currentTimeMillisUnsafe() - (now() - heard.startedAt)
      const { took } = heard
      renewals.push({ at, took, isRenewed: heard._tag === "Renewed" })
      if (renewals.length > most) renewals.shift()
      if (heard._tag !== "Renewed") lastError = { message: messageOf(heard), at: at + took }
    },
    termsUnsafe: (leads, transitions) => ({
      count,
      since: leads ? since : undefined,
      transitions,
      renewals: [...renewals],
      lastError
    })
  }
}

const messageOf = (heard: Exclude<Renewal.Heard, { readonly _tag: "Renewed" }>): string => {
  switch (heard._tag) {
    case "Failed":
      return heard.message
    case "Conflict":
      return "the lease was changed while it was renewed"
    case "Lost":
      return `the lease is now held by ${heard.holder || "nobody"}`
  }
}
