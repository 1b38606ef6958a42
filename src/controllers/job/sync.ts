/**
 * One sync of a Job: claim, look, decide, carry out, count. What is decided is decided in `plan/`; here is the order of the writes, which
 * may fail between any two, and what the books are told of them. A status is written twice at most: before pods are let go and after.
 * Source: spec D.3.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import { Job, type Pod } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import * as Adopt from "../shared/workload/adopt.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import type * as PodControl from "../shared/workload/podControl.ts"
import type { Books } from "./state.ts"
import * as Handover from "./handoff.ts"
import * as Metrics from "./metrics.ts"
import * as Look from "./plan/snapshot.ts"
import * as Manage from "./plan/manage.ts"
import * as Tracking from "./plan/tracking.ts"
import * as Verdict from "./plan/verdict.ts"
import * as Pods from "./pods.ts"
import type { Ports } from "./deps.ts"
import * as Spec from "./spec.ts"
import * as Triggers from "./triggers.ts"
import * as Work from "./apply.ts"

export type Failure = ApiError | Adopt.ClaimError | PodControl.PodControlError

export const sync = (ports: Ports, books: Books) => {
  const work = Work.make(ports, books)
  return Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<Reconcile.Outcome, Failure> {
    const job = ports.jobs.get(key)
    if (job === undefined || isSettled(books, key, job)) return Reconcile.done
    const selector = Triggers.selectorOf(job)
    if (selector === undefined || !Spec.hasKnownMode(job)) return yield* Effect.as(refuse(ports, job), Reconcile.done)
    const clock = yield* Clock.Clock
    const monotonic = Monotonic.millis(clock)
    const begun = monotonic()
    const synced = (action: Manage.Action, result: "success" | "error") =>
      Effect.suspend(() => Metrics.synced(job, { action, result, seconds: (monotonic() - begun) / 1000 }))
    // Before the pods are read: what the cache shows after this counts as seen.
    const wait = books.expectations.wait(key, monotonic())
    const pods = yield* Effect.tapError(claim(ports, job, selector), () => synced("reconciling", "error"))
    const look = Look.take({
      job,
      pods,
      released: books.released(key),
      record: books.record(key),
      isSettled: wait === 0,
      now: clock.currentTimeMillisUnsafe()
    })
    const decision = Manage.decide(look)
    if (!(yield* Handover.mayAct(ports, books, look, decision))) return Reconcile.after(Triggers.batch)
    // From now on, and not from the end of the sync; a backoff after failures does not put it off either.
    const deadline = Verdict.untilDeadline(look) ?? 0
    if (deadline > 0) ports.queue.addWithUnsafe(key, { after: deadline })
    const done = yield* work.manage(look, decision, monotonic())
    if (done.wait !== undefined) ports.queue.addWithUnsafe(key, { after: Math.max(done.wait, Triggers.batch) })
    const counted = yield* Effect.result(count(work, look, done.outcome))
    const failure = counted._tag === "Failure" ? counted.failure : done.failure
    yield* synced(decision.action, failure === undefined ? "success" : "error")
    if (failure !== undefined) return yield* failure
    return wait === 0 ? Reconcile.done : Reconcile.after(wait)
  })
}

/** It is not for this loop, or not any more. */
const isSettled = (books: Books, key: Key.Key, job: Job): boolean => {
  const { uid = "" } = job.metadata
  const isFinished = Spec.isFinished(job)
  if (isFinished) books.endObserved(key, uid)
  return isFinished || Spec.isManagedElsewhere(job) || books.hasEnded(uid)
}

/** What is asked for cannot be understood; no server of today stores it. */
const refuse = ({ events }: Ports, job: Job): Effect.Effect<void> =>
  Spec.hasKnownMode(job)
    ? Effect.logError(`The selector of Job ${Key.of(job)} is missing or cannot be read: its pods are left alone`)
    : events.warning(job, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")

/** The pods of the Job, after adoptions and releases; whoever is adopted is held until it is counted. */
const claim = (
  ports: Ports,
  job: Job,
  selector: Selector.LabelSelector
): Effect.Effect<ReadonlyArray<Pod>, Adopt.ClaimError> =>
  Adopt.claim(
    {
      owner: job,
      resource: Job,
      matches: (pod: Pod) => Selector.matchesLabels(selector, pod.metadata.labels),
      live: ports.live(job),
      patch: ports.patch,
      finalizers: [Spec.finalizer]
    },
    [
      ...ports.pods.byIndex(Indexes.byController.name, job.metadata.uid ?? ""),
      ...ports.pods.byIndex(Indexes.orphans.name, job.metadata.namespace ?? "")
    ]
  )

/** Both writes of the status, and the pods that are let go between them. */
const count = Effect.fnUntraced(function* (
  { books, letGo, ports }: Work.Work,
  look: Look.Look,
  outcome: Tracking.Outcome
): Effect.fn.Return<void, ApiError> {
  const { job } = look
  const round = Tracking.count(look, outcome)
  let stored: Job = { ...job, status: round.status }
  if (round.isNews) {
    stored = yield* write(ports, job, round.status)
    books.writeRecord(Key.of(job), look.record)
    yield* Metrics.counted(job, job.status ?? {}, round.status)
    if (round.turned !== undefined)
      yield* ports.events.normal(job, round.turned, round.turned === "Suspended" ? "Job suspended" : "Job resumed")
  }
  yield* Metrics.handled(round.actions)
  const { failure, kept } = yield* letGo(job, round.removable)
  const held = new Set([...look.tracked].map(Pods.uidOf))
  for (const pod of round.removable) if (!kept.has(pod)) held.delete(Pods.uidOf(pod))
  const settled = Tracking.settle(round.status, held)
  const status =
    failure === undefined ? Tracking.conclude(settled, outcome, round.isFull, yield* Clock.currentTimeMillis) : settled
  if (status !== round.status) {
    stored = yield* write(ports, stored, status)
    yield* Metrics.counted(job, round.status, status)
    if (status !== settled && outcome.verdict !== undefined) yield* conclude(ports, books, stored, outcome.verdict)
  }
  if (failure !== undefined) return yield* failure
})

/** The status is this loop's alone, so what was sent is what is stored; a server may be too old to keep all of it. */
const write = (ports: Ports, job: Job, status: Spec.Status): Effect.Effect<Job, ApiError> =>
  Effect.map(ports.updateStatus({ ...job, status }), (written) => ({ ...written, status }))

/** The end, to whoever wants to know of it. */
const conclude = Effect.fnUntraced(function* (ports: Ports, books: Books, job: Job, verdict: Verdict.Verdict) {
  const { ends, message, reason } = verdict
  books.end(job.metadata.uid ?? "")
  const isTooMuch = Tracking.isTooMuch(job, job.status ?? {})
  if (ends === "Failed") yield* ports.events.warning(job, reason, message)
  else {
    const text = "Too many succeeded pods running after completion count reached"
    if (isTooMuch) yield* ports.events.warning(job, "TooManySucceededPods", text)
    yield* ports.events.normal(job, "Completed", "Job completed")
  }
  const result = ends === "Failed" ? "failed" : "succeeded"
  yield* Metrics.ended(job, result, reason)
  const { failed = 0, succeeded = 0 } = job.status ?? {}
  yield* Effect.annotateLogs(Effect.logInfo("Job has ended"), { result, reason, succeeded, failed })
})
