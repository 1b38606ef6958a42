/**
 * The decisions of leader election as pure functions: what a Lease record means for this candidate, and which record it writes next. A record is
 * judged only by how long it has stayed unchanged on the local monotonic clock. Its timestamps are informative and are never read, so clock skew
 * cannot make two leaders. `Election` talks to the server and waits. Source: client-go tools/leaderelection.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type { Lease } from "../kube/resources.ts"
import * as Time from "../kube/time.ts"

/** Times in milliseconds; fractions are allowed. */
export interface Settings {
  /** `<hostname>_<uuid>`: unique to this process and this election. */
  readonly identity: string
  /** How long other candidates wait after the last change that they saw before they take over. */
  readonly leaseDuration: number
  /** How long a leader keeps leading after its last successful renewal. Shorter than the lease: its controllers have the difference to stop in. */
  readonly renewDeadline: number
  /** Pause between two attempts. */
  readonly retryPeriod: number
}

/** Settings of an election that cannot work; the message is one sentence for the user. */
export class ElectionConfigError extends Data.TaggedError("ElectionConfigError")<{ readonly message: string }> {}

/** Attempts to acquire are spread over retryPeriod × 1 … 2.2, so that standbys do not try all at once. Source: client-go JitterFactor. */
export const jitterFactor = 1.2

/** Checks that leaseDuration > renewDeadline > retryPeriod × jitterFactor. */
export const validate = (settings: Settings): Result.Result<Settings, ElectionConfigError> => {
  const { identity, leaseDuration, renewDeadline, retryPeriod } = settings
  const text = (millis: number) => (Number.isFinite(millis) ? Duration.format(Duration.millis(millis)) : String(millis))
  const fail = (message: string) => Result.fail(new ElectionConfigError({ message: `leader election: ${message}` }))
  if (identity === "") return fail("the identity of this process must not be empty")
  if (!(retryPeriod > 0 && Number.isFinite(retryPeriod))) {
    return fail(`the retry period (${text(retryPeriod)}) must be a positive duration`)
  }
  if (!(leaseDuration >= 1000 && Number.isFinite(leaseDuration))) {
    return fail(`the lease duration (${text(leaseDuration)}) must be at least one second`)
  }
  if (!(leaseDuration > renewDeadline)) {
    return fail(
      `the lease duration (${text(leaseDuration)}) must be longer than the renew deadline (${text(renewDeadline)})`
    )
  }
  if (!(renewDeadline > retryPeriod * jitterFactor)) {
    return fail(
      `the renew deadline (${text(renewDeadline)}) must be longer than ${jitterFactor} times the retry period (${text(retryPeriod)})`
    )
  }
  return Result.succeed(settings)
}

/** The record that was seen last, and since when (monotonic milliseconds) it has been unchanged. */
export interface Observed {
  /** The record as text: two records are the same only if nothing in them differs. */
  readonly record: string
  /** Empty when the lease has no holder. */
  readonly holder: string
  /** The lease is free after the record has been unchanged for so many milliseconds. */
  readonly validFor: number
  readonly since: number
}

/**
 * Compares a record that was just received with the last one. Only a different record restarts the clock, and from now, when it arrived: the holder
 * wrote it earlier, so the holder stops leading before this candidate takes over. If the lease was deleted (`undefined`), the last record stays in
 * force: its holder may still lead.
 */
export const observe = (
  previous: Observed | undefined,
  lease: Lease | undefined,
  settings: Settings,
  now: number
): Observed | undefined => {
  if (lease === undefined) return previous
  const record = JSON.stringify(lease.spec ?? {})
  if (previous !== undefined && previous.record === record) return previous
  const seconds = lease.spec?.leaseDurationSeconds
  const promised = typeof seconds === "number" && seconds > 0 ? seconds * 1000 : settings.leaseDuration
  return { record, holder: lease.spec?.holderIdentity ?? "", validFor: promised, since: now }
}

export type Decision =
  /** There is no lease: create it. */
  | { readonly _tag: "Create" }
  /** It is free or has expired: write this candidate as the holder and count one transition more. */
  | { readonly _tag: "Take" }
  /** This candidate holds it: renew. */
  | { readonly _tag: "Renew" }
  /** Another candidate holds it until `until` (monotonic milliseconds) at least. */
  | { readonly _tag: "Wait"; readonly holder: string; readonly until: number }

/** `exists`: whether the server has a lease now. `observed`: the record that was seen last. */
export const decide = (observed: Observed | undefined, exists: boolean, settings: Settings, now: number): Decision => {
  if (observed !== undefined && observed.holder !== "" && observed.holder !== settings.identity) {
    const until = observed.since + observed.validFor
    if (now < until) return { _tag: "Wait", holder: observed.holder, until }
  }
  if (!exists) return { _tag: "Create" }
  return { _tag: observed?.holder === settings.identity ? "Renew" : "Take" }
}

/**
 * When (monotonic milliseconds) a leader stops leading, given when it *sent* its last successful write. Other candidates count from when they
 * receive the record of that write, which is later.
 */
export const validUntil = (sentAt: number, settings: Settings): number => sentAt + settings.renewDeadline

/**
 * How many milliseconds a release may take: at most one renew deadline, and at most the rest of the lease, counted from the last successful write,
 * but at least one second.
 */
export const releaseLimit = (sentAt: number | undefined, settings: Settings, now: number): number =>
  sentAt === undefined
    ? settings.renewDeadline
    : Math.min(settings.renewDeadline, Math.max(1000, sentAt + settings.leaseDuration - now))

/** How long to wait before the next attempt to acquire; `random` is in [0, 1). */
export const acquireDelay = (settings: Settings, random: number): number =>
  Math.round(settings.retryPeriod * (1 + jitterFactor * random))

type Spec = NonNullable<Lease["spec"]>

/** The record with which this candidate creates, takes over or renews the lease at wall time `micros`. */
export const held = (previous: Spec | undefined, settings: Settings, micros: number): Spec => {
  const time = Time.micro(micros)
  const mine = previous?.holderIdentity === settings.identity
  const transitions = previous?.leaseTransitions ?? 0
  return {
    ...previous,
    holderIdentity: settings.identity,
    leaseDurationSeconds: Math.ceil(settings.leaseDuration / 1000),
    acquireTime: mine ? (previous.acquireTime ?? time) : time,
    renewTime: time,
    leaseTransitions: previous === undefined || mine ? transitions : transitions + 1
  }
}

/** The record that releases the lease: no holder, and a duration of one second. */
export const released = (previous: Spec, micros: number): Spec => {
  const time = Time.micro(micros)
  return { ...previous, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: time, renewTime: time }
}
