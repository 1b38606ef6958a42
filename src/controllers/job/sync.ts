/**
 * One sync of a Job: claims pods, takes the snapshot, decides (`plan/`), applies, counts. This file holds the order of the writes, any of which may
 * fail, and updates the state after them. The status is written at most twice: before the removal of finalizers and after it. Source:
 * pkg/controller/job: syncJob.
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
import * as Handoff from "../shared/workload/handoff.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import type * as PodControl from "../shared/workload/podControl.ts"
import * as Apply from "./apply.ts"
import type { Deps } from "./deps.ts"
import * as Metrics from "./metrics.ts"
import * as Plan from "./plan/plan.ts"
import * as Verdict from "./plan/verdict.ts"
import * as Pods from "./pods.ts"
import * as Snapshot from "./snapshot.ts"
import * as Spec from "./spec.ts"
import type { State } from "./state.ts"
import * as Status from "./status.ts"
import * as Triggers from "./triggers.ts"

export type Failure = ApiError | Adopt.ClaimError | PodControl.PodControlError

export const sync = (deps: Deps, state: State) =>
  Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<Reconcile.Outcome, Failure> {
    const job = deps.jobs.get(key)
    if (job === undefined || isSettled(state, key, job)) return Reconcile.done
    const selector = Spec.selectorOf(job)
    if (selector === undefined || !Spec.hasKnownMode(job)) return yield* Effect.as(refuse(deps, job), Reconcile.done)
    const clock = yield* Clock.Clock
    const monotonic = Monotonic.millis(clock)
    const startedAt = monotonic()
    const synced = (action: Plan.Action, result: "success" | "error") =>
      Effect.suspend(() => Metrics.synced(job, { action, result, seconds: (monotonic() - startedAt) / 1000 }))
    // Read before the pods: an event that arrives in between lowers expectations and is in the pods.
    const wait = state.expectations.wait(key, monotonic())
    const pods = yield* Effect.tapError(claim(deps, job, selector), () => synced("reconciling", "error"))
    const snapshot = Snapshot.take({
      job,
      pods,
      released: state.released(key),
      record: state.record(key),
      isSettled: wait === 0,
      now: clock.currentTimeMillisUnsafe()
    })
    const plan = Plan.plan(snapshot)
    if (!(yield* mayAct(deps, state, { snapshot, plan }))) return Reconcile.after(Handoff.retryAfter)
    // Enqueued before the writes, so that neither their duration nor the backoff after a failure delays it.
    const deadline = Verdict.untilDeadline(snapshot) ?? 0
    if (deadline > 0) deps.queue.addWithUnsafe(key, { after: deadline })
    const done = yield* Apply.apply(deps, state, { snapshot, plan, now: monotonic() })
    if (done.wait !== undefined) deps.queue.addWithUnsafe(key, { after: Math.max(done.wait, Triggers.batch) })
    const counted = yield* Effect.result(count(deps, state, { snapshot, outcome: done.outcome }))
    const failure = counted._tag === "Failure" ? counted.failure : done.failure
    yield* synced(plan.action, failure === undefined ? "success" : "error")
    if (failure !== undefined) return yield* failure
    return wait === 0 ? Reconcile.done : Reconcile.after(wait)
  })

/** Whether the Job needs no sync: it has finished, or another controller manages it. */
const isSettled = (state: State, key: Key.Key, job: Job): boolean => {
  const { uid = "" } = job.metadata
  const isFinished = Spec.isFinished(job)
  if (isFinished) state.endObserved(key, uid)
  return isFinished || Spec.isManagedElsewhere(job) || state.hasEnded(uid)
}

/** Reports a Job whose spec cannot be interpreted. Current servers do not store such a Job. */
const refuse = ({ events }: Deps, job: Job): Effect.Effect<void> =>
  Spec.hasKnownMode(job)
    ? Effect.logError(`The selector of Job ${Key.of(job)} is missing or cannot be read: its pods are left alone`)
    : events.warning(job, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")

/** The pods of the Job after adoptions and releases; an adopted pod gets the tracking finalizer. */
const claim = (
  deps: Deps,
  job: Job,
  selector: Selector.LabelSelector
): Effect.Effect<ReadonlyArray<Pod>, Adopt.ClaimError> =>
  Adopt.claim(
    {
      owner: job,
      resource: Job,
      matches: (pod: Pod) => Selector.matchesLabels(selector, pod.metadata.labels),
      live: deps.live(job),
      patch: deps.patch,
      finalizers: [Spec.finalizer]
    },
    Indexes.candidates(deps.pods, job)
  )

interface Planned {
  readonly snapshot: Snapshot.Snapshot
  readonly plan: Plan.Plan
}

/** Whether the cache is fresh, if the plan leads to a write: on a stale cache a pod could be counted or created twice. */
const mayAct = (deps: Deps, state: State, planned: Planned): Effect.Effect<boolean, ApiError> => {
  const { job, pods } = planned.snapshot
  const { uid = "" } = job.metadata
  if (state.isTrusted(uid) || !writes(planned)) return Effect.succeed(true)
  return Handoff.isFresh(state, uid, [
    Handoff.isSameVersion(job, deps.live(job)),
    Handoff.hasSamePods(job, pods, deps.livePods(job))
  ])
}

const writes = ({ plan: { step, verdict, wasManaged }, snapshot }: Planned): boolean => {
  if (verdict !== undefined || step._tag === "Create" || step._tag === "Delete") return true
  const { hasChanged, removable } = Status.status(snapshot, { ...Status.unchanged(snapshot), wasManaged })
  return hasChanged || removable.length > 0
}

/** The two status writes, and the removal of finalizers between them. */
const count = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { outcome, snapshot }: { readonly snapshot: Snapshot.Snapshot; readonly outcome: Status.Outcome }
): Effect.fn.Return<void, ApiError> {
  const { job } = snapshot
  const round = Status.status(snapshot, outcome)
  let stored: Job = { ...job, status: round.status }
  if (round.hasChanged) {
    stored = yield* write(deps, job, round.status)
    state.writeRecord(Key.of(job), snapshot.record)
    yield* Metrics.counted(job, job.status ?? {}, round.status)
    if (round.suspension !== undefined)
      yield* deps.events.normal(
        job,
        round.suspension,
        round.suspension === "Suspended" ? "Job suspended" : "Job resumed"
      )
  }
  yield* Metrics.handled(round.actions)
  const { failure, kept } = yield* Apply.removeFinalizers(deps, state, { job, pods: round.removable })
  const held = new Set([...snapshot.tracked].map(Pods.uidOf))
  for (const pod of round.removable) if (!kept.has(pod)) held.delete(Pods.uidOf(pod))
  const settled = Status.settle(round.status, held)
  const status =
    failure === undefined ? Status.conclude(settled, outcome, round.isFull, yield* Clock.currentTimeMillis) : settled
  if (status !== round.status) {
    stored = yield* write(deps, stored, status)
    yield* Metrics.counted(job, round.status, status)
    if (status !== settled && outcome.verdict !== undefined) yield* conclude(deps, state, stored, outcome.verdict)
  }
  if (failure !== undefined) return yield* failure
})

/** Returns the status as it was sent, because an old server drops fields that it does not know; only this loop writes it. */
const write = (deps: Deps, job: Job, status: Spec.Status): Effect.Effect<Job, ApiError> =>
  Effect.map(deps.updateStatus({ ...job, status }), (written) => ({ ...written, status }))

/** Records the end of the Job: state, events, metrics and log. */
const conclude = Effect.fnUntraced(function* (deps: Deps, state: State, job: Job, verdict: Verdict.Verdict) {
  const { ends, message, reason } = verdict
  state.markEnded(job.metadata.uid ?? "")
  const hasExcessSuccesses = Status.hasExcessSuccesses(job, job.status ?? {})
  if (ends === "Failed") yield* deps.events.warning(job, reason, message)
  else {
    const text = "Too many succeeded pods running after completion count reached"
    if (hasExcessSuccesses) yield* deps.events.warning(job, "TooManySucceededPods", text)
    yield* deps.events.normal(job, "Completed", "Job completed")
  }
  const result = ends === "Failed" ? "failed" : "succeeded"
  yield* Metrics.ended(job, result, reason)
  const { failed = 0, succeeded = 0 } = job.status ?? {}
  yield* Effect.annotateLogs(Effect.logInfo("Job has ended"), { result, reason, succeeded, failed })
})
