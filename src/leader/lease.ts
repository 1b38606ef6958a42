/**
 * The decision of leader election, pure: what a Lease record means to this candidate and what to write next.
 * A record is judged only by how long it has stayed unchanged on the local monotonic clock; its timestamps are written
 * for humans and are never read, so skewed or stepping wall clocks cannot make two leaders. Source: client-go
 * tools/leaderelection (semantics). Talking to the server and waiting are `Election`'s business.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type { Lease } from "../kube/resources.ts"

/** Times in milliseconds; fractions are allowed. */
export interface Settings {
  /** `<hostname>_<uuid>`: unique to this process and this election. */
  readonly identity: string
  /** How long others wait after the last change they saw before they take over. */
  readonly leaseDuration: number
  /** How long after its last success a leader still believes in itself. Shorter than the lease: the difference is what work has to stop in. */
  readonly renewDeadline: number
  /** Pause between two tries. */
  readonly retryPeriod: number
}

/** Settings of an election that cannot work; the message is one sentence for the user. */
export class ElectionConfigError extends Data.TaggedError("ElectionConfigError")<{ readonly message: string }> {}

/** Tries to acquire are spread over retryPeriod × 1 … 2.2, so that standbys do not march in step. Source: client-go JitterFactor. */
export const jitterFactor = 1.2

/** Checks that the three durations leave room for one another. */
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

/** What is known of the record, and since when (monotonic milliseconds) it has been exactly that. */
export interface Observed {
  /** The record as text: two records are the same only if nothing in them differs. */
  readonly record: string
  /** Empty when the lease has no holder. */
  readonly holder: string
  /** Milliseconds that the holder's silence must last before the lease is free. */
  readonly validFor: number
  readonly since: number
}

/**
 * Looks at a record that was just received. Only a record that differs restarts the clock, and only from now, the moment it
 * got here: the holder wrote it earlier, so it gives up before we take over. A lease that is gone (`undefined`) leaves what we
 * knew in force: its holder may still believe in itself.
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
  /** It is free or its holder went silent: write ourselves in, one transition more. */
  | { readonly _tag: "Take" }
  /** It is ours: renew. */
  | { readonly _tag: "Renew" }
  /** Another candidate holds it until `until` (monotonic milliseconds) at least. */
  | { readonly _tag: "Wait"; readonly holder: string; readonly until: number }

/** `exists`: whether the server has a lease now; `observed` what the last one said. */
export const decide = (observed: Observed | undefined, exists: boolean, settings: Settings, now: number): Decision => {
  if (observed !== undefined && observed.holder !== "" && observed.holder !== settings.identity) {
    const until = observed.since + observed.validFor
    if (now < until) return { _tag: "Wait", holder: observed.holder, until }
  }
  if (!exists) return { _tag: "Create" }
  return { _tag: observed?.holder === settings.identity ? "Renew" : "Take" }
}

/**
 * The moment (monotonic milliseconds) at which a leader stops believing in itself, given when it *sent* the last write that
 * succeeded. Counted from the sending: others count from receiving what that write produced, which is later.
 */
export const validUntil = (sentAt: number, settings: Settings): number => sentAt + settings.renewDeadline

/**
 * How many milliseconds to spend on a release: one renew deadline at most, and no longer than the lease lasts anyway (counted
 * from the sending of the last success), but a second in any case.
 */
export const releaseLimit = (sentAt: number | undefined, settings: Settings, now: number): number =>
  sentAt === undefined
    ? settings.renewDeadline
    : Math.min(settings.renewDeadline, Math.max(1000, sentAt + settings.leaseDuration - now))

/** How long to wait before the next try to acquire; `random` is in [0, 1). */
export const acquireDelay = (settings: Settings, random: number): number =>
  Math.round(settings.retryPeriod * (1 + jitterFactor * random))

type Spec = NonNullable<Lease["spec"]>

/** The record with which this candidate creates, takes or renews the lease at wall time `micros` (for humans). */
export const held = (previous: Spec | undefined, settings: Settings, micros: number): Spec => {
  const time = microTime(micros)
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

/** The record that hands the lease to whoever comes next: no holder, and nothing worth waiting for. */
export const released = (previous: Spec, micros: number): Spec => {
  const time = microTime(micros)
  return { ...previous, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: time, renewTime: time }
}

/** RFC 3339 with microseconds, `2026-01-01T00:00:00.000000Z`, from microseconds since 1970. Source: meta/v1 MicroTime. */
export const microTime = (micros: number): string => {
  const millis = Math.floor(micros / 1000)
  const rest = String(Math.floor(micros - millis * 1000)).padStart(3, "0")
  return `${new Date(millis).toISOString().slice(0, -1)}${rest}Z`
}
