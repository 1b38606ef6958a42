/**
 * One candidate's view of one Lease, and its calls: an attempt to hold the lease, which skips the read while it holds it already, and a release. It
 * remembers the record that it saw last. `Election` decides when to try and what a result means for a term. Every write carries the resource
 * version that it was based on, so the server accepts at most one candidate.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as ApiError from "../kube/ApiError.ts"
import * as Resource from "../kube/Resource.ts"
import { Lease } from "../kube/resources.ts"
import type { KubeClient } from "../layers/KubeClient.ts"
import * as LeasePolicy from "./lease.ts"

export interface Options {
  readonly client: KubeClient["Service"]
  readonly settings: LeasePolicy.Settings
  readonly namespace: string
  readonly name: string
  readonly labels?: Readonly<Record<string, string>> | undefined
}

export type Attempt =
  /** The server names this candidate as the holder since a write that was sent at this monotonic millisecond. */
  | { readonly _tag: "Held"; readonly sentAt: number }
  /** The other holder; undefined after a conflict, because the lease has not been read again yet. */
  | { readonly _tag: "Waiting"; readonly holder: string | undefined }

/** What a thread needs to renew a lease that is held. */
export interface Kept {
  /** The lease as the server stored it last. */
  readonly lease: Lease
  /** Microseconds of the last record written. The next one must be later, even if the wall clock has been set back. */
  readonly stamp: number
}

export interface Candidate {
  /** One attempt to acquire or renew the lease. */
  readonly attempt: Effect.Effect<Attempt, ApiError.ApiError>
  /** Clears the holder if this candidate holds the lease, and returns whether it did. After a `Conflict`, read again. */
  readonly release: Effect.Effect<boolean, ApiError.ApiError>
  /** A record that the watch has delivered just now. It only sets the time from which the expiry of another holder is counted. */
  readonly noticed: (lease: Lease) => Effect.Effect<void>
  /** The record that was stored last; defined after a success. */
  readonly keptUnsafe: () => Kept
  /** Records a renewal by the keeper, sent at this monotonic millisecond. This candidate must have no request in flight. */
  readonly adoptUnsafe: (kept: Kept, sentAt: number, now: number) => void
  /** False only when it is certain that the server does not name this candidate as the holder. */
  readonly mayHoldUnsafe: () => boolean
  /** When the last write that succeeded was sent, in monotonic milliseconds; undefined before the first. */
  readonly sentAtUnsafe: () => number | undefined
  /** The lease as it was seen last; undefined if there is none or none was seen yet. */
  readonly leaseUnsafe: () => Lease | undefined
  /** The holder that was seen last, unless that is this candidate. */
  readonly holderUnsafe: () => string | undefined
}

export const monotonicMillis: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1e6
)

/** Source: client-go; it declares this counter but never registers it. */
const slowPath = Metric.counter("leader_election_slowpath_total", {
  description: "Renewals that had to look at the lease first, by name of the lease",
  incremental: true
})

/** Starts the series at zero. */
export const preset = (name: string): Effect.Effect<void> => Metric.update(Metric.withAttributes(slowPath, { name }), 0)

interface State {
  readonly options: Options
  /** The lease as the server sent it last; its resource version is what the next write is based on. */
  lease: Lease | undefined
  observed: LeasePolicy.Observed | undefined
  /** True from the moment a write that names this candidate is sent, until a read names another holder. */
  mayHold: boolean
  sentAt: number | undefined
  /** Microseconds of the last record that was written. The next one must differ, even if the wall clock stands still or is set back. */
  stamp: number
}

export const make = (options: Options): Candidate => {
  const state: State = { options, lease: undefined, observed: undefined, mayHold: false, sentAt: undefined, stamp: 0 }
  return {
    attempt: Effect.suspend(() => attempt(state)),
    release: Effect.suspend(() => release(state)),
    noticed: (lease) => Effect.map(monotonicMillis, (now) => noticed(state, lease, now)),
    keptUnsafe: () => ({ lease: state.lease ?? { metadata: nameOf(options) }, stamp: state.stamp }),
    adoptUnsafe: ({ lease, stamp }, sentAt, now) => {
      recordSeen(state, lease, now)
      state.stamp = Math.max(state.stamp, stamp)
      state.sentAt = sentAt
    },
    mayHoldUnsafe: () => state.mayHold,
    sentAtUnsafe: () => state.sentAt,
    leaseUnsafe: () => state.lease,
    holderUnsafe: () => {
      const holder = state.observed?.holder
      return holder === "" || holder === options.settings.identity ? undefined : holder
    }
  }
}

const holds = (state: State): boolean => state.observed?.holder === state.options.settings.identity

const attempt = Effect.fnUntraced(function* (state: State) {
  if (state.lease !== undefined && holds(state)) {
    // At the end of a term a renewal in flight still gets its response: an abandoned one would cost a connection, and the release a conflict. What follows
    // the response is interrupted, so nothing is acquired again.
    const fast = yield* Effect.result(Effect.uninterruptible(write(state, state.lease)))
    if (fast._tag === "Success") return fast.success
    if (!ApiError.hasReason(fast.failure, "Conflict", "NotFound")) return yield* Effect.fail(fast.failure)
    yield* Metric.update(Metric.withAttributes(slowPath, { name: state.options.name }), 1)
  }
  const leading = state.mayHold && holds(state)
  const lease = yield* read(state)
  const decision = LeasePolicy.decide(
    state.observed,
    lease !== undefined,
    state.options.settings,
    yield* monotonicMillis
  )
  // A leader does not take the lease over: if the record does not name it any more, its term ends, whoever holds the lease now.
  if (leading && lease !== undefined && !holds(state)) return waiting(state.observed?.holder ?? "")
  if (decision._tag === "Wait") return waiting(decision.holder)
  return yield* write(state, lease).pipe(
    Effect.catchIf(
      (error) => ApiError.hasReason(error, "Conflict", "AlreadyExists"),
      () => Effect.succeed(waiting(undefined))
    )
  )
})

const waiting = (holder: string | undefined): Attempt => ({ _tag: "Waiting", holder })

const read = Effect.fnUntraced(function* (state: State) {
  const { client, namespace, name, settings } = state.options
  const lease = yield* ApiError.unlessGone(
    bounded(client.get(Lease, { namespace, name }, { timeout: callTimeout(settings) }), state)
  )
  recordSeen(state, lease, yield* monotonicMillis)
  return lease
})

/** Synchronous, so that the record, its observation and `mayHold` always belong together. */
const recordSeen = (state: State, lease: Lease | undefined, now: number): void => {
  state.lease = lease
  state.observed = LeasePolicy.observe(state.observed, lease, state.options.settings, now)
  state.mayHold = lease !== undefined && holds(state)
}

/**
 * Only this candidate's own calls update what it holds and which version its next write is based on: a write may be in flight, and the watched
 * record may be older. An old record that arrives late makes the candidate wait longer, never shorter.
 */
const noticed = (state: State, lease: Lease, now: number): void => {
  if (state.mayHold || lease.spec?.holderIdentity === state.options.settings.identity) return
  state.observed = LeasePolicy.observe(state.observed, lease, state.options.settings, now)
}

/** Writes this candidate as the holder. After a success, no other candidate can hold the lease while this record stands. */
const write = Effect.fnUntraced(function* (state: State, lease: Lease | undefined) {
  const { client, namespace, settings } = state.options
  const spec = LeasePolicy.held(lease?.spec, settings, yield* nextStamp(state))
  const sentAt = yield* monotonicMillis
  const metadata = metadataOf(state.options, lease)
  const options = { timeout: callTimeout(settings) }
  state.mayHold = true
  const sent =
    lease === undefined
      ? client.create(Lease, { metadata, spec }, { ...options, namespace })
      : client.update(Lease, { ...lease, metadata, spec }, options)
  recordSeen(state, yield* bounded(sent, state), yield* monotonicMillis)
  // The response is the stored record. If it does not name this candidate, an admission plugin has changed it, and the candidate does not lead.
  if (!holds(state)) return waiting(state.observed?.holder)
  state.sentAt = sentAt
  return { _tag: "Held", sentAt } satisfies Attempt
})

const release = Effect.fnUntraced(function* (state: State) {
  const { client, settings } = state.options
  const lease = state.lease !== undefined && holds(state) ? state.lease : yield* read(state)
  if (lease === undefined || !holds(state)) {
    state.mayHold = false
    return false
  }
  const spec = LeasePolicy.released(lease.spec ?? {}, yield* nextStamp(state))
  // Whatever the result of this write is, the next attempt has to read first.
  state.lease = undefined
  const sent = client.update(Lease, { ...lease, spec }, { timeout: callTimeout(settings) })
  recordSeen(state, yield* bounded(sent, state), yield* monotonicMillis)
  return true
})

const nameOf = ({ name, namespace }: Options) => ({ namespace, name })

const metadataOf = (options: Options, lease: Lease | undefined) => {
  const { labels } = options
  const metadata: Lease["metadata"] = lease?.metadata ?? nameOf(options)
  return labels === undefined ? metadata : { ...metadata, labels: { ...metadata.labels, ...labels } }
}

const nextStamp = (state: State): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeNanos, (nanos) => (state.stamp = Math.max(Number(nanos / 1000n), state.stamp + 1)))

/** The timeout of one call: half the renew deadline, so that one lost request does not end the term. Source: controller-runtime. */
const callTimeout = (settings: LeasePolicy.Settings): number => Math.max(1000, settings.renewDeadline / 2)

/** Bounds a call even if the client ignores its own timeout. */
const bounded = <A>(call: Effect.Effect<A, ApiError.ApiError>, state: State): Effect.Effect<A, ApiError.ApiError> => {
  const { namespace, name, settings } = state.options
  const duration = Duration.millis(callTimeout(settings))
  const path = Resource.path(Lease, { namespace, name })
  const context = { verb: "hold", path, resource: Resource.qualifiedName(Lease), namespace, name }
  return Effect.timeoutOrElse(call, { duration, orElse: () => Effect.fail(ApiError.timeout(context, duration)) })
}
