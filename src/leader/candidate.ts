/**
 * One candidate's view of one Lease and the calls it makes: a try to hold it (fast path without a read when we hold it
 * already) and a release. It keeps what it saw last; when to try, and what a result means for a term, is `Election`'s business.
 * Every write carries the resource version it was decided on, so the server lets at most one candidate through.
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
  /** The server has us as holder, by a write that was sent at this monotonic millisecond. */
  | { readonly _tag: "Held"; readonly sentAt: number }
  /** The other holder; undefined when another writer was faster and the lease was not read again yet. */
  | { readonly _tag: "Waiting"; readonly holder: string | undefined }

/** What it takes to renew a lease that is held, wherever that is done. */
export interface Kept {
  /** The lease as the server stored it last. */
  readonly lease: Lease
  /** Microseconds of the last record written: the next one must be later, even when the wall clock is not. */
  readonly stamp: number
}

export interface Candidate {
  /** One try to get or keep the lease. */
  readonly attempt: Effect.Effect<Attempt, ApiError.ApiError>
  /** Writes the lease free if we hold it, and answers whether we did; `Conflict` means: look again. */
  readonly release: Effect.Effect<boolean, ApiError.ApiError>
  /** A record that was observed just now, perhaps later than it was written. It only sets since when other holders are waited for. */
  readonly noticed: (lease: Lease) => Effect.Effect<void>
  /** What was stored when we last knew; to be asked after a success. */
  readonly keptUnsafe: () => Kept
  /** The lease was renewed in our name, by a write sent at this monotonic millisecond; nothing of ours was on its way. */
  readonly adoptUnsafe: (kept: Kept, sentAt: number, now: number) => void
  /** False only when we know that the server does not have us as holder. */
  readonly mayHoldUnsafe: () => boolean
  /** When the last write that succeeded was sent, in monotonic milliseconds; undefined before the first. */
  readonly sentAtUnsafe: () => number | undefined
  /** The lease as seen last; undefined when there is none or nothing was seen yet. */
  readonly leaseUnsafe: () => Lease | undefined
  /** The holder seen last, unless that is us. */
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

/** Shows the series before there is anything to count. */
export const preset = (name: string): Effect.Effect<void> => Metric.update(Metric.withAttributes(slowPath, { name }), 0)

interface State {
  readonly options: Options
  /** The lease as the server sent it last; its resource version is what the next write is based on. */
  lease: Lease | undefined
  observed: LeasePolicy.Observed | undefined
  /** From the sending of a write that names us until a read that names another holder. */
  mayHold: boolean
  sentAt: number | undefined
  /** Microseconds of the last record we wrote: the next one must differ, even when the wall clock stands still or steps back. */
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
      saw(state, lease, now)
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
    const fast = yield* Effect.result(write(state, state.lease))
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
  // A leader takes nothing over: a record that is not its own any more is the end of its term, whoever holds it.
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
  const lease = yield* bounded(client.get(Lease, { namespace, name }, { timeout: callTimeout(settings) }), state).pipe(
    Effect.catchIf(
      (error) => ApiError.hasReason(error, "NotFound"),
      () => Effect.succeed(undefined)
    )
  )
  saw(state, lease, yield* monotonicMillis)
  return lease
})

/** Synchronous: the lease, what it means and what we may hold always belong together. */
const saw = (state: State, lease: Lease | undefined, now: number): void => {
  state.lease = lease
  state.observed = LeasePolicy.observe(state.observed, lease, state.options.settings, now)
  state.mayHold = lease !== undefined && holds(state)
}

/**
 * What we hold, and on which version the next write is based, only our own calls tell: a write of ours may be on its way, and what
 * was noticed may be older than it. An old record that is noticed late makes us wait longer, never shorter.
 */
const noticed = (state: State, lease: Lease, now: number): void => {
  if (state.mayHold || lease.spec?.holderIdentity === state.options.settings.identity) return
  state.observed = LeasePolicy.observe(state.observed, lease, state.options.settings, now)
}

/** Writes us in; on success no other candidate can hold the lease as long as this record stands. */
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
  saw(state, yield* bounded(sent, state), yield* monotonicMillis)
  // The answer is the stored record; if it does not name us, some admission rewrote it and we lead nothing.
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
  // Whatever becomes of this write, the next try has to look first.
  state.lease = undefined
  const sent = client.update(Lease, { ...lease, spec }, { timeout: callTimeout(settings) })
  saw(state, yield* bounded(sent, state), yield* monotonicMillis)
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

/** Of one call. Half the renew deadline, so that one lost request does not cost the term. Source: controller-runtime. */
const callTimeout = (settings: LeasePolicy.Settings): number => Math.max(1000, settings.renewDeadline / 2)

/** The client keeps its own deadline; this one is for a client that does not. */
const bounded = <A>(call: Effect.Effect<A, ApiError.ApiError>, state: State): Effect.Effect<A, ApiError.ApiError> => {
  const { namespace, name, settings } = state.options
  const duration = Duration.millis(callTimeout(settings))
  const path = Resource.path(Lease, { namespace, name })
  const context = { verb: "hold", path, resource: Resource.qualifiedName(Lease), namespace, name }
  return Effect.timeoutOrElse(call, { duration, orElse: () => Effect.fail(ApiError.timeout(context, duration)) })
}
