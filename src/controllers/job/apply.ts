/**
 * Applies the decision of a sync to pods: deletes the active pods of a Job that ends, creates and deletes pods of an active Job, and removes the
 * finalizer of counted pods. All calls are tried before the first failure is returned. Expectations are lowered for calls that no watch event will
 * confirm.
 * Source: pkg/controller/job: manageJob, deleteActivePods, removeTrackingFinalizerFromPods.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as PodFacts from "../../kube/pod.ts"
import type { Job, Pod } from "../../kube/resources.ts"
import * as PodControl from "../shared/workload/podControl.ts"
import * as SlowStart from "../shared/workload/slowStart.ts"
import type { State } from "./state.ts"
import * as Drafts from "./drafts.ts"
import * as Metrics from "./metrics.ts"
import type { Snapshot } from "./snapshot.ts"
import type * as Manage from "./plan/plan.ts"
import * as Tracking from "./status.ts"
import * as Verdict from "./plan/verdict.ts"
import * as Pods from "./pods.ts"
import { removeFinalizer, type Deps } from "./deps.ts"

/** The most calls in flight, of all syncs together: over HTTP/1.1 each call needs a connection. */
const atOnce = 64

export interface Done {
  readonly outcome: Tracking.Outcome
  /** Milliseconds until the backoff allows the next creation. */
  readonly wait?: number | undefined
  readonly failure?: PodControl.PodControlError | ApiError.ApiError | undefined
}

export interface Applier {
  readonly deps: Deps
  readonly state: State
  /** Creates or deletes pods according to the decision. `now`: monotonic milliseconds, for the expectations. */
  readonly manage: (snapshot: Snapshot, decision: Manage.Decision, now: number) => Effect.Effect<Done>
  /** Removes the tracking finalizer from these pods; a pod that is already deleted counts as done. */
  readonly removeFinalizers: (job: Job, pods: ReadonlyArray<Pod>) => Effect.Effect<FinalizerRemoval>
}

export interface FinalizerRemoval {
  /** Pods whose finalizer could not be removed, and the first reason. */
  readonly kept: ReadonlySet<Pod>
  readonly failure: ApiError.ApiError | undefined
}

interface Context {
  readonly deps: Deps
  readonly state: State
  readonly permits: Semaphore.Semaphore
}

export const make = (deps: Deps, state: State): Applier => {
  const context: Context = { deps, state, permits: Semaphore.makeUnsafe(atOnce) }
  return {
    deps,
    state,
    manage: (snapshot, decision, now) => manage(context, snapshot, decision, now),
    removeFinalizers: (job, pods) => removeFinalizers(context, job, pods)
  }
}

const manage = Effect.fnUntraced(function* (
  context: Context,
  snapshot: Snapshot,
  decision: Manage.Decision,
  now: number
): Effect.fn.Return<Done> {
  const { step, verdict, wasManaged } = decision
  if (verdict !== undefined) return yield* end(context, snapshot, verdict)
  const done = yield* carryOut(context, snapshot, step, now)
  const { outcome } = done
  return { ...done, outcome: { ...outcome, wasManaged, verdict: Verdict.completion(snapshot, outcome.active) } }
})

/** The outcome after these pods have been deleted. */
const without = (snapshot: Snapshot, pods: ReadonlyArray<Pod>): Tracking.Outcome => {
  const before = Tracking.unchanged(snapshot)
  return {
    ...before,
    active: before.active - pods.length,
    ready: before.ready - pods.filter(PodFacts.isReady).length,
    terminating: before.terminating + pods.length
  }
}

/** Deletes the active pods of a Job that ends. The outcome has no verdict while one of them may still be active. */
const end = Effect.fnUntraced(function* (context: Context, snapshot: Snapshot, verdict: Verdict.Verdict) {
  const { failure, removed } = yield* remove(
    snapshot.active,
    (pod) => PodControl.remove(context.deps, snapshot.job, pod),
    context
  )
  const hasNoActivePods = removed.length === snapshot.active.length && snapshot.isSettled
  const outcome = { ...without(snapshot, removed), verdict: hasNoActivePods ? verdict : undefined }
  return { outcome, failure }
})

const carryOut = (context: Context, snapshot: Snapshot, step: Manage.Step, now: number): Effect.Effect<Done> => {
  switch (step._tag) {
    case "Nothing":
      return Effect.succeed({ outcome: Tracking.unchanged(snapshot) })
    case "Wait":
      return Effect.succeed({ outcome: Tracking.unchanged(snapshot), wait: step.millis })
    case "Create":
      return create(context, snapshot, step, now)
    case "Delete":
      return deleteExcess(context, snapshot, step.pods, now)
  }
}

const create = Effect.fnUntraced(function* (
  { state: { expectations }, permits, deps }: Context,
  snapshot: Snapshot,
  { count, indexes }: Extract<Manage.Step, { readonly _tag: "Create" }>,
  now: number
): Effect.fn.Return<Done> {
  const { job, retained } = snapshot
  const key = Key.of(job)
  expectations.expectCreations(key, count, now)
  const body = Drafts.draft(job)
  let next = 0
  const call = Effect.suspend(() => {
    const index = indexes?.[next++]
    const draft = index === undefined ? body : Drafts.indexed(job, body, index, retained.get(index))
    return permits.withPermit(PodControl.create(deps, job, draft))
  })
  const created = { succeeded: 0, failed: 0 }
  const counted = call.pipe(
    Effect.tap((answer) => Effect.sync(() => void (created.succeeded += answer === "Created" ? 1 : 0))),
    Effect.tapError(() => Effect.sync(() => void created.failed++))
  )
  const { failure, succeeded } = yield* SlowStart.run(count, counted)
  yield* Metrics.created(snapshot, created.succeeded, created.failed)
  for (let i = succeeded; i < count; i++) expectations.creationObserved(key)
  const outcome = { ...Tracking.unchanged(snapshot), active: snapshot.active.length + succeeded }
  return { outcome, failure: failure?.error }
})

/** Deletes surplus pods. Their finalizer is removed first, so that none of them is counted as failed. */
const deleteExcess = Effect.fnUntraced(function* (
  context: Context,
  snapshot: Snapshot,
  pods: ReadonlyArray<Pod>,
  now: number
) {
  const { state, deps } = context
  const key = Key.of(snapshot.job)
  state.expectations.expectDeletions(key, pods.map(Key.of), now)
  const call = (pod: Pod): Effect.Effect<"Deleted" | "NotFound", DeleteFailure> => {
    const removal = PodControl.remove(deps, snapshot.job, pod)
    return Pods.isTracked(pod) ? Effect.andThen(removeFinalizerOf(context, key, pod), removal) : removal
  }
  const { failure, missing, removed } = yield* remove(pods, call, context)
  for (const pod of pods)
    if (!removed.includes(pod) || missing.has(pod)) state.expectations.deletionObserved(key, Key.of(pod))
  return { outcome: without(snapshot, removed), failure }
})

type DeleteFailure = PodControl.PodControlError | ApiError.ApiError

/** Calls `call` for all pods. `removed` includes the pods that were already deleted (`missing`). */
const remove = Effect.fnUntraced(function* (
  pods: ReadonlyArray<Pod>,
  call: (pod: Pod) => Effect.Effect<unknown, DeleteFailure>,
  { permits }: Context
) {
  const removed: Array<Pod> = []
  const missing = new Set<Pod>()
  let failure: DeleteFailure | undefined
  const one = Effect.fnUntraced(function* (pod: Pod) {
    const done = yield* Effect.result(permits.withPermit(call(pod)))
    if (Result.isSuccess(done)) {
      removed.push(pod)
      if (done.success === "NotFound") missing.add(pod)
    } else failure ??= done.failure
  })
  yield* Effect.forEach(pods, one, { concurrency: "unbounded", discard: true })
  return { removed, missing, failure }
})

/** Removes the finalizer and records that in the state until the cache shows it. A pod that is already deleted counts as done. */
const removeFinalizerOf = (
  { state, deps }: Context,
  key: Key.Key,
  pod: Pod
): Effect.Effect<void, ApiError.ApiError> => {
  const uid = Pods.uidOf(pod)
  state.release(key, uid)
  return Effect.matchEffect(deps.patch(pod, removeFinalizer(pod)), {
    onSuccess: () => Effect.void,
    onFailure: (error) => {
      if (ApiError.hasReason(error, "NotFound")) return Effect.void
      state.releaseObserved(key, uid)
      return Effect.fail(error)
    }
  })
}

const removeFinalizers = Effect.fnUntraced(function* (
  context: Context,
  job: Job,
  pods: ReadonlyArray<Pod>
): Effect.fn.Return<FinalizerRemoval> {
  const key = Key.of(job)
  const kept = new Set<Pod>()
  let failure: ApiError.ApiError | undefined
  const one = (pod: Pod): Effect.Effect<void> =>
    Effect.catch(context.permits.withPermit(removeFinalizerOf(context, key, pod)), (error) =>
      Effect.sync(() => {
        kept.add(pod)
        failure ??= error
      })
    )
  yield* Effect.forEach(pods, one, { concurrency: "unbounded", discard: true })
  return { kept, failure }
})
