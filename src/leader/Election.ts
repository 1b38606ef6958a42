/**
 * Leader election over a Lease: the acquire–renew–release loop around `lease.ts`, and the layer that provides `Leadership`.
 * It promises that a term is over no later than the renew deadline after the *sending* of the last renewal that succeeded,
 * whatever the server, the network or its own renewals do, and that closing a term never waits for ever. What happens after
 * a loss is the caller's policy. States and invariants: docs/design/leadership.md.
 */
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
import * as Renewal from "./renewal.ts"
import * as LeadershipTerm from "./leadershipTerm.ts"

/** The lease, the identity of the candidate, and the timing. */
export interface Options {
  /** Of the Lease. */
  readonly namespace: string
  /** Name of the Lease. */
  readonly name: string
  /** `<hostname>_<uuid>`; the edge makes it, because only it knows the host. */
  readonly identity: string
  /** 15 s unless said otherwise. */
  readonly leaseDuration?: Duration.Input | undefined
  /** 10 s unless said otherwise. */
  readonly renewDeadline?: Duration.Input | undefined
  /** 2 s unless said otherwise. */
  readonly retryPeriod?: Duration.Input | undefined
  /** Merged into the labels of the Lease. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Renews in a thread of its own; without one the lease is renewed where everything else runs. */
  readonly keeper?: Renewal.Keeper | undefined
  /** Hand the lease over on a clean stop; true unless said otherwise. Otherwise it runs out by itself. */
  readonly releaseOnStop?: boolean | undefined
}

const masterStatus = Metric.gauge("leader_election_master_status", {
  description: "1 while this process leads, by name of the lease"
})

/** Provides `Leadership` by election. Fails, before anything is sent, when the durations leave no room for one another. */
export const layer = (
  options: Options
): Layer.Layer<Leadership, LeasePolicy.ElectionConfigError, KubeClient | Recorder> =>
  Layer.effect(Leadership, make(options))

/** Contends for the lease for as long as the scope is open. Fails where durations contradict each other. */
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
    provenFor: Effect.sync(() =>
      election.leadershipTerm === undefined ? undefined : LeadershipTerm.provenFor(election.leadershipTerm)
    ),
    leaderChanges: SubscriptionRef.changes(leader)
  })
})

/** The options in milliseconds, checked. A duration that cannot be read fails like one that does not fit. */
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
  readonly keeper: Renewal.Keeper | undefined
  readonly keep: (sentAt: number) => Renewal.Keeping | undefined
  readonly follow: (noticed: (lease: Lease) => Effect.Effect<void>) => Effect.Effect<never>
  /** 1 while leading. Source: client-go leader_election_master_status. */
  readonly status: Metric.Metric<number, unknown>
  /** Its series begin: of a lease without a candidate they would report a missing leader. */
  readonly contends: Effect.Effect<void>
  readonly publish: (holder: string | undefined) => Effect.Effect<unknown>
  readonly announce: (message: string) => Effect.Effect<void>
  /** The term whose work may still be running, ended or not. */
  leadershipTerm: LeadershipTerm.LeadershipTerm | undefined
}

/** Milliseconds after the end of a lease from which work that still runs is reported. */
const grace = 20_000

/** What liveness says: the term must be over, and its work has not ended. Undefined while all is well, on a standby too. */
const overdue = ({ label, settings, leadershipTerm }: Election): string | undefined => {
  if (leadershipTerm === undefined) return undefined
  const silence = settings.renewDeadline - leadershipTerm.remainingUnsafe()
  if (silence <= settings.leaseDuration + grace) return undefined
  const text = Duration.format(Duration.seconds(Math.floor(silence / 1000)))
  return `lease ${label} was not renewed for ${text}, and the work under it has not ended`
}

/**
 * The finaliser that gives the lease back is registered before the first try: a try that is interrupted may already have
 * reached the server. That of the leadership term is registered after it, so it runs before: no renewal is started once we release.
 */
const acquire = (election: Election, oneAtATime: Semaphore.Semaphore): Effect.Effect<Term, never, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      yield* restore(Semaphore.take(oneAtATime, 1))
      yield* Scope.addFinalizer(scope, Semaphore.release(oneAtATime, 1))
      yield* election.contends
      yield* Scope.addFinalizer(scope, giveBack(election))
      const sentAt = yield* restore(contend(election))
      const keeping = election.keep(sentAt)
      const leadershipTerm = yield* LeadershipTerm.make(election.settings, sentAt, keeping?.provenUnsafe)
      election.leadershipTerm = leadershipTerm
      const farewell = yield* once(ended(election, leadershipTerm))
      const fibers = [
        yield* Effect.forkDetach(Effect.andThen(LeadershipTerm.watchdog(leadershipTerm), farewell)),
        yield* Effect.forkDetach(renewing(election, leadershipTerm, sentAt, keeping))
      ]
      yield* Scope.addFinalizer(
        scope,
        Effect.suspend(() => {
          // Not awaited: a renewal that cannot be interrupted must not hold up the release, whose conflict retry expects it.
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

/** Waits for the lease with an eye on it; answers when the write that got it was sent. */
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
    // Not awaited at the end: however the watch hangs, it must not use up the term that has begun.
    return Effect.acquireUseRelease(
      Effect.forkDetach(election.follow(noticed)),
      () => Effect.andThen(keeper?.prepare ?? Effect.void, trying(election, freed)),
      (fiber) => Effect.sync(() => fiber.interruptUnsafe())
    )
  })

/** Tries until we hold the lease, at once when it is `freed`. Errors are logged and outlived. */
const trying = Effect.fnUntraced(function* (election: Election, freed: Latch.Latch) {
  const { candidate, settings } = election
  let last = ""
  yield* Effect.logInfo(`waiting for lease ${election.label} as ${settings.identity}`)
  while (true) {
    // Before the look: what is given back from here on is news.
    freed.closeUnsafe()
    const tried = yield* Effect.result(candidate.attempt)
    let problem = ""
    if (Result.isFailure(tried)) problem = tried.failure.message
    else if (tried.success._tag === "Held") {
      yield* election.publish(settings.identity)
      // An answer older than the deadline proves nothing any more.
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

/** Renews for as long as the term lasts: by the keeper if there is one, and in this thread from when there is none any more. */
const renewing = (
  election: Election,
  leadershipTerm: LeadershipTerm.LeadershipTerm,
  sentAt: number,
  keeping: Renewal.Keeping | undefined
) => {
  const { candidate, label, settings } = election
  const heard = Effect.fnUntraced(function* (heard: Renewal.Heard) {
    switch (heard._tag) {
      case "Renewed":
        return leadershipTerm.renewedUnsafe(heard.sentAt)
      case "Failed":
        leadershipTerm.failedUnsafe(heard.message)
        return yield* Effect.logWarning(`cannot renew lease ${label}: ${heard.message}`)
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
  // A term that is over is not kept, however long its work takes to end.
  return Effect.andThen(Effect.raceFirst(keeping.run(kept), leadershipTerm.term.lost), alone)
}

/** Runs the effect when it is called for the first time, then never again; whoever is interrupted first leaves it to the other. */
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

/** Publishes the end of a term. The term has ended by then, so the reason is available at once. */
const ended = Effect.fnUntraced(function* (election: Election, leadershipTerm: LeadershipTerm.LeadershipTerm) {
  const lost = yield* leadershipTerm.term.lost
  yield* Metric.update(election.status, 0)
  // What a loss means, and how loud that is, is for whoever works under the term to say.
  yield* Effect.logDebug(`no longer leading: ${lost.message}`)
  yield* election.publish(election.candidate.holderUnsafe())
  yield* election.announce("stopped leading")
})

/**
 * Releases if the server may have us as holder, all tries within one limit that holds even against a call that cannot be
 * interrupted. By now everything inside the term is closed.
 */
const giveBack = (election: Election): Effect.Effect<void> =>
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
        yield* Effect.logWarning(`lease ${election.label} could not be released in time; it runs out by itself`)
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
    // A renewal that was still on its way got there first: look again, at once the first time. Anything else may pass.
    const conflict = ApiError.hasReason(released.failure, "Conflict")
    if (!conflict && !ApiError.isTransient(released.failure)) {
      return yield* Effect.logWarning(`cannot release lease ${election.label}: ${released.failure.message}`)
    }
    yield* Effect.sleep(
      conflict ? Math.min(tries * conflictPause, settings.retryPeriod) : Math.min(settings.retryPeriod, 1000)
    )
  }
})
