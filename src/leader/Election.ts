/**
 * Leader election over a Lease: the loop that acquires, renews and releases it, and the layer that provides `Leadership`. Two promises hold
 * whatever the server, the network or a renewal does: a term ends no later than the renew deadline after the last successful renewal was *sent*,
 * and closing a term never blocks forever. The caller decides what a loss means for the process. States and invariants: docs/design/leadership.md.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as ApiError from "../kube/ApiError.ts"
import * as Resource from "../kube/Resource.ts"
import { Lease } from "../kube/resources.ts"
import { Health } from "../layers/Health.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import { Leadership, type Term } from "../layers/Leadership.ts"
import { Recorder } from "../layers/Recorder.ts"
import * as Shutdown from "../layers/Shutdown.ts"
import * as Candidate from "./candidate.ts"
import * as Follow from "./follow.ts"
import * as LeasePolicy from "./lease.ts"
import * as TermCounters from "./termCounters.ts"
import * as Renewal from "./renewal.ts"
import * as LeadershipTerm from "./leadershipTerm.ts"

/** The lease, the identity of the candidate, and the timing. */
export interface Options {
  /** Namespace of the Lease. */
  readonly namespace: string
  /** Name of the Lease. */
  readonly name: string
  /** `<hostname>_<uuid>`. The caller provides it, because only the platform knows the host name. */
  readonly identity: string
  /** Default: 15 s. */
  readonly leaseDuration?: Duration.Input | undefined
  /** Default: 10 s. */
  readonly renewDeadline?: Duration.Input | undefined
  /** Default: 2 s. */
  readonly retryPeriod?: Duration.Input | undefined
  /** Merged into the labels of the Lease. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Renews the lease in a thread of its own. Default: the lease is renewed in the main thread. */
  readonly keeper?: Renewal.Keeper | undefined
  /** Releases the lease on a clean stop; if false, the lease expires. Default: true. */
  readonly releaseOnStop?: boolean | undefined
}

const masterStatus = Metric.gauge("leader_election_master_status", {
  description: "1 while this process leads, by name of the lease"
})

/** Provides `Leadership` by election. Fails before the first request if the durations contradict each other. */
export const layer = (
  options: Options
): Layer.Layer<Leadership, LeasePolicy.ElectionConfigError, KubeClient | Recorder> =>
  Layer.effect(Leadership, make(options))

/** Competes for the lease for as long as the scope is open. Fails if the durations contradict each other. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const settings = yield* Effect.fromResult(settingsOf(options))
  const client = yield* KubeClient
  const recorder = yield* Recorder
  const leader = yield* SubscriptionRef.make<string | undefined>(undefined)
  const oneAtATime = yield* Semaphore.make(1)
  const events = recorder.named("leader-election")
  const { namespace, name, labels } = options
  const candidate = Candidate.make({ client, settings, namespace, name, labels })
  const health = yield* Health
  const status = Metric.withAttributes(masterStatus, { name })
  const election: Election = {
    leadershipTerm: undefined,
    settings,
    releaseOnStop: options.releaseOnStop ?? true,
    label: `${namespace}/${name}`,
    status,
    contends: Effect.andThen(Metric.update(status, 0), Candidate.preset(name)),
    candidate,
    counters: TermCounters.make(yield* Clock.Clock),
    keeper: options.keeper,
    keep: (sentAt) => options.keeper?.keep({ settings, namespace, name, labels, ...candidate.keptUnsafe(), sentAt }),
    follow: (noticed) => Follow.follow({ client, settings, namespace, name, noticed }),
    publish: (holder) =>
      Effect.suspend(() =>
        SubscriptionRef.getUnsafe(leader) === holder ? Effect.void : SubscriptionRef.set(leader, holder)
      ),
    announce: (message) =>
      Effect.suspend(() => {
        const metadata = candidate.leaseUnsafe()?.metadata ?? { namespace, name }
        const lease = { apiVersion: Resource.apiVersion(Lease), kind: Lease.kind, metadata }
        return events.normal(lease, "LeaderElection", `${options.identity} ${message}`)
      })
  }
  yield* health.register("liveness", {
    name: `leader-election-${name.replaceAll(".", "-")}`,
    run: Effect.sync(() => overdue(election))
  })
  return Leadership.of({
    identity: options.identity,
    lease: { namespace, name },
    acquire: acquire(election, oneAtATime),
    leader: SubscriptionRef.get(leader),
    provenFor: Effect.sync(() => provenFor(election)),
    terms: Effect.sync(() =>
      election.counters.termsUnsafe(provenFor(election) !== undefined, candidate.leaseUnsafe()?.spec?.leaseTransitions)
    ),
    leaderChanges: SubscriptionRef.changes(leader)
  })
})

const provenFor = ({ leadershipTerm }: Election): number | undefined =>
  leadershipTerm === undefined ? undefined : LeadershipTerm.provenFor(leadershipTerm)

/** The validated options, in milliseconds. A duration that cannot be parsed fails in the same way as one that is out of range. */
export const settingsOf = (options: Options): Result.Result<LeasePolicy.Settings, LeasePolicy.ElectionConfigError> =>
  LeasePolicy.validate({
    identity: options.identity,
    leaseDuration: millisOf(options.leaseDuration ?? "15 seconds"),
    renewDeadline: millisOf(options.renewDeadline ?? "10 seconds"),
    retryPeriod: millisOf(options.retryPeriod ?? "2 seconds")
  })

const millisOf = (input: Duration.Input): number =>
  Option.match(Duration.fromInput(input), { onNone: () => Number.NaN, onSome: Duration.toMillis })

interface Election {
  readonly settings: LeasePolicy.Settings
  readonly releaseOnStop: boolean
  /** `namespace/name` of the lease, for logs. */
  readonly label: string
  readonly candidate: Candidate.Candidate
  readonly counters: TermCounters.TermCounters
  readonly keeper: Renewal.Keeper | undefined
  readonly keep: (sentAt: number) => Renewal.Keeping | undefined
  readonly follow: (noticed: (lease: Lease) => Effect.Effect<void>) => Effect.Effect<never>
  /** 1 while leading. Source: client-go leader_election_master_status. */
  readonly status: Metric.Metric<number, unknown>
  /** Starts the metric series of this lease. A lease without a candidate has none: its series would report a missing leader. */
  readonly contends: Effect.Effect<void>
  readonly publish: (holder: string | undefined) => Effect.Effect<unknown>
  readonly announce: (message: string) => Effect.Effect<void>
  /** The term whose controllers may still be running, even if the term has ended. */
  leadershipTerm: LeadershipTerm.LeadershipTerm | undefined
}

/** Controllers that still run so many milliseconds after the lease has expired fail the liveness probe. */
const grace = 20_000

/** The message of the liveness probe if the term has ended and its controllers still run. Undefined otherwise, on a standby too. */
const overdue = ({ label, settings, leadershipTerm }: Election): string | undefined => {
  if (leadershipTerm === undefined) return undefined
  const silence = settings.renewDeadline - leadershipTerm.remainingUnsafe()
  if (silence <= settings.leaseDuration + grace) return undefined
  const text = Duration.format(Duration.seconds(Math.floor(silence / 1000)))
  return `lease ${label} was not renewed for ${text}, and the work under it has not ended`
}

/**
 * The finalizer that releases the lease is registered before the first attempt, because an attempt that is interrupted may have reached the server.
 * The finalizer of the term is registered later, so it runs first: no renewal starts after the release.
 */
const acquire = (election: Election, oneAtATime: Semaphore.Semaphore): Effect.Effect<Term, never, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      yield* restore(Semaphore.take(oneAtATime, 1))
      yield* Scope.addFinalizer(scope, Semaphore.release(oneAtATime, 1))
      yield* election.contends
      yield* Scope.addFinalizer(scope, releaseInTime(election))
      const sentAt = yield* restore(contend(election))
      const keeping = election.keep(sentAt)
      const leadershipTerm = yield* LeadershipTerm.make(election.settings, sentAt, keeping?.provenUnsafe)
      election.leadershipTerm = leadershipTerm
      election.counters.beganUnsafe()
      const farewell = yield* once(ended(election, leadershipTerm))
      const fibers = [
        yield* Effect.forkDetach(Effect.andThen(LeadershipTerm.watchdog(leadershipTerm), farewell)),
        yield* Effect.forkDetach(renewing(election, leadershipTerm, sentAt, keeping))
      ]
      yield* Scope.addFinalizer(
        scope,
        Effect.suspend(() => {
          // Not awaited: a renewal in flight must not delay the release, which retries on a conflict.
          leadershipTerm.endUnsafe("Released", "the term was closed")
          for (const fiber of fibers) fiber.interruptUnsafe()
          election.leadershipTerm = undefined
          return farewell
        })
      )
      yield* Metric.update(election.status, 1)
      yield* Effect.logInfo(`leading: ${election.settings.identity} holds lease ${election.label}`)
      yield* election.announce("became leader")
      return leadershipTerm.term
    })
  )

/** Watches the lease and tries to acquire it. Returns when the write that acquired it was sent. */
const contend = (election: Election): Effect.Effect<number> =>
  Effect.suspend(() => {
    const freed = Latch.makeUnsafe(false)
    const noticed = (lease: Lease) =>
      Effect.andThen(
        election.candidate.noticed(lease),
        Effect.suspend(() => {
          if ((lease.spec?.holderIdentity ?? "") === "") freed.openUnsafe()
          return election.publish(election.candidate.holderUnsafe())
        })
      )
    const { keeper } = election
    // The watch is interrupted but not awaited: a watch that hangs must not use up the time of the new term.
    return Effect.acquireUseRelease(
      Effect.forkDetach(election.follow(noticed)),
      () => Effect.andThen(keeper?.prepare ?? Effect.void, tryToAcquire(election, freed)),
      (fiber) => Effect.sync(() => fiber.interruptUnsafe())
    )
  })

/** Tries until this candidate holds the lease; tries at once when `freed` opens. Errors are logged, and the next attempt follows. */
const tryToAcquire = Effect.fnUntraced(function* (election: Election, freed: Latch.Latch) {
  const { candidate, settings } = election
  let last = ""
  yield* Effect.logInfo(`waiting for lease ${election.label} as ${settings.identity}`)
  while (true) {
    // Closed before the read, so that a release during the read opens it again.
    freed.closeUnsafe()
    const tried = yield* Effect.result(candidate.attempt)
    let problem = ""
    if (Result.isFailure(tried)) problem = tried.failure.message
    else if (tried.success._tag === "Held") {
      yield* election.publish(settings.identity)
      // A response that arrives after the renew deadline proves no leadership.
      if ((yield* Candidate.monotonicMillis) < LeasePolicy.validUntil(tried.success.sentAt, settings)) {
        return tried.success.sentAt
      }
    } else {
      yield* election.publish(candidate.holderUnsafe())
      const holder = tried.success.holder ?? ""
      if (holder !== "" && holder !== last) yield* Effect.logInfo(`lease ${election.label} is held by ${holder}`)
      if (holder !== "") last = holder
    }
    if (problem !== "" && problem !== last)
      yield* Effect.logWarning(`cannot acquire lease ${election.label}: ${problem}`)
    if (problem !== "") last = problem
    yield* Effect.raceFirst(freed.await, Effect.sleep(LeasePolicy.acquireDelay(settings, yield* Random.next)))
  }
})

/** Renews for as long as the term lasts: in the keeper's thread if there is one, and in the main thread after the keeper has ended. */
const renewing = (
  election: Election,
  leadershipTerm: LeadershipTerm.LeadershipTerm,
  sentAt: number,
  keeping: Renewal.Keeping | undefined
) => {
  const { candidate, counters, label, settings } = election
  const heard = Effect.fnUntraced(function* (heard: Renewal.Heard) {
    counters.heardUnsafe(heard)
    switch (heard._tag) {
      case "Renewed":
        return leadershipTerm.renewedUnsafe(heard.sentAt)
      case "Failed":
        leadershipTerm.failedUnsafe(heard.message)
        return yield* Effect.logWarning(`cannot renew lease ${label}: ${heard.message}`)
      case "Conflict":
        return
      case "Lost":
        return leadershipTerm.endUnsafe("Stolen", `lease ${label} is now held by ${heard.holder || "nobody"}`)
    }
  })
  const kept = (news: Renewal.Heard) =>
    Effect.flatMap(Candidate.monotonicMillis, (now) => {
      if (news._tag === "Renewed") candidate.adoptUnsafe(news, news.sentAt, now)
      return heard(news)
    })
  const here = Renewal.loop({
    candidate,
    settings,
    sentAt,
    goesOnUnsafe: leadershipTerm.term.isValidUnsafe,
    mayRenewUnsafe: () => true,
    heard
  })
  if (keeping === undefined) return here
  const alone = Effect.suspend(() =>
    leadershipTerm.term.isValidUnsafe()
      ? Effect.andThen(Effect.logWarning(`lease ${label} is renewed in the main thread from now on`), here)
      : Effect.void
  )
  // Stops renewing as soon as the term is lost, even if its controllers still run.
  return Effect.andThen(Effect.raceFirst(keeping.run(kept), leadershipTerm.term.lost), alone)
}

/** Runs the effect on the first call only. */
const once = (effect: Effect.Effect<void>): Effect.Effect<Effect.Effect<void>> =>
  Effect.sync(() => {
    let done = false
    return Effect.uninterruptible(
      Effect.suspend(() => {
        if (done) return Effect.void
        done = true
        return effect
      })
    )
  })

/** Publishes the end of a term, after it has ended. */
const ended = Effect.fnUntraced(function* (election: Election, leadershipTerm: LeadershipTerm.LeadershipTerm) {
  const lost = yield* leadershipTerm.term.lost
  yield* Metric.update(election.status, 0)
  // Logged at debug level only: the caller decides what a loss means and logs it.
  yield* Effect.logDebug(`no longer leading: ${lost.message}`)
  yield* election.publish(election.candidate.holderUnsafe())
  yield* election.announce("stopped leading")
})

/**
 * Releases the lease if the server may still name this candidate as its holder. All attempts share one limit, which holds even if a call cannot be
 * interrupted. Everything inside the term is closed by now.
 */
const releaseInTime = (election: Election): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (!election.releaseOnStop || !election.candidate.mayHoldUnsafe()) return Effect.void
    return Effect.gen(function* () {
      const now = yield* Candidate.monotonicMillis
      const fiber = yield* Effect.forkDetach(releasing(election), { startImmediately: true })
      const own = LeasePolicy.releaseLimit(election.candidate.sentAtUnsafe(), election.settings, now)
      const limit = yield* Shutdown.atMost("release", own)
      const exit = yield* Effect.timeoutOption(Fiber.await(fiber), limit)
      if (Option.isNone(exit)) {
        fiber.interruptUnsafe()
        yield* Effect.logWarning(`lease ${election.label} could not be released in time; it will expire`)
        if (limit < own) yield* (yield* Shutdown.Shutdown).giveUp([`the release of lease ${election.label}`])
      }
    })
  })

const releasing = Effect.fnUntraced(function* (election: Election) {
  const { candidate, settings } = election
  const conflictPause = 50
  for (let tries = 0; ; tries++) {
    const released = yield* Effect.result(candidate.release)
    if (Result.isSuccess(released)) {
      yield* election.publish(candidate.holderUnsafe())
      if (released.success) yield* Effect.logInfo(`released lease ${election.label}`)
      return
    }
    // A conflict means that a renewal in flight was stored first: read again, the first time without a pause. Other errors may be transient.
    const conflict = ApiError.hasReason(released.failure, "Conflict")
    if (!conflict && !ApiError.isTransient(released.failure)) {
      return yield* Effect.logWarning(`cannot release lease ${election.label}: ${released.failure.message}`)
    }
    yield* Effect.sleep(
      conflict ? Math.min(tries * conflictPause, settings.retryPeriod) : Math.min(settings.retryPeriod, 1000)
    )
  }
})
