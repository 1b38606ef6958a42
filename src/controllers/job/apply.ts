/**
 * Carries out the plan of a sync: deletes the active pods of a Job that ends, creates and deletes pods of an active Job, and removes the
 * finalizer of counted pods. All calls are tried before the first failure is returned. Expectations are lowered for calls that no watch event will
 * confirm.
 * Source: pkg/controller/job: manageJob, deleteActivePods, removeTrackingFinalizerFromPods.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as PodFacts from "../../kube/pod.ts"
import type { Job, Pod } from "../../kube/resources.ts"
import * as PodControl from "../shared/workload/podControl.ts"
import * as SlowStart from "../shared/workload/slowStart.ts"
import type { Deps } from "./deps.ts"
import * as Drafts from "./drafts.ts"
import * as Metrics from "./metrics.ts"
import type * as Plan from "./plan/plan.ts"
import * as Verdict from "./plan/verdict.ts"
import * as Pods from "./pods.ts"
import type { Snapshot } from "./snapshot.ts"
import type { State } from "./state.ts"
import * as Status from "./status.ts"

export interface Done {
  readonly outcome: Status.Outcome
  /** Milliseconds until the backoff allows the next creation. */
  readonly wait?: number | undefined
  readonly failure?: PodControl.PodControlError | ApiError.ApiError | undefined
}

export interface FinalizerRemoval {
  /** Pods whose finalizer could not be removed, and the first reason. */
  readonly kept: ReadonlySet<Pod>
  readonly failure: ApiError.ApiError | undefined
}

interface Target {
  readonly snapshot: Snapshot
  readonly plan: Plan.Plan
  /** Monotonic milliseconds, for the expectations. */
  readonly now: number
}

/** Creates or deletes pods. */
export const apply = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { now, plan, snapshot }: Target
): Effect.fn.Return<Done> {
  const { step, verdict, wasManaged } = plan
  if (verdict !== undefined) return yield* end(deps, state, { snapshot, verdict })
  const done = yield* carryOut(deps, state, { snapshot, step, now })
  const { outcome } = done
  return { ...done, outcome: { ...outcome, wasManaged, verdict: Verdict.completion(snapshot, outcome.active) } }
})

/** The outcome after these pods have been deleted. */
const without = (snapshot: Snapshot, pods: ReadonlyArray<Pod>): Status.Outcome => {
  const before = Status.unchanged(snapshot)
  return {
    ...before,
    active: before.active - pods.length,
    ready: before.ready - pods.filter(PodFacts.isReady).length,
    terminating: before.terminating + pods.length
  }
}

/** Deletes the active pods of a Job that ends. The outcome has no verdict while one of them may still be active. */
const end = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { snapshot, verdict }: { readonly snapshot: Snapshot; readonly verdict: Verdict.Verdict }
) {
  const { failure, removed } = yield* remove(state, snapshot.active, (pod) =>
    PodControl.remove(deps, snapshot.job, pod)
  )
  const hasNoActivePods = removed.length === snapshot.active.length && snapshot.isSettled
  const outcome = { ...without(snapshot, removed), verdict: hasNoActivePods ? verdict : undefined }
  return { outcome, failure }
})

interface Stepping extends Pick<Target, "snapshot" | "now"> {
  readonly step: Plan.Step
}

const carryOut = (deps: Deps, state: State, { now, snapshot, step }: Stepping): Effect.Effect<Done> => {
  switch (step._tag) {
    case "Nothing":
      return Effect.succeed({ outcome: Status.unchanged(snapshot) })
    case "Wait":
      return Effect.succeed({ outcome: Status.unchanged(snapshot), wait: step.millis })
    case "Create":
      return create(deps, state, { ...step, snapshot, now })
    case "Delete":
      return deleteExcess(deps, state, { pods: step.pods, snapshot, now })
  }
}

const create = Effect.fnUntraced(function* (
  deps: Deps,
  { expectations, permits }: State,
  { count, indexes, now, snapshot }: Omit<Stepping, "step"> & Extract<Plan.Step, { readonly _tag: "Create" }>
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
  const outcome = { ...Status.unchanged(snapshot), active: snapshot.active.length + succeeded }
  return { outcome, failure: failure?.error }
})

/** Deletes surplus pods. Their finalizer is removed first, so that none of them is counted as failed. */
const deleteExcess = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { now, pods, snapshot }: Omit<Stepping, "step"> & { readonly pods: ReadonlyArray<Pod> }
) {
  const key = Key.of(snapshot.job)
  state.expectations.expectDeletions(key, pods.map(Key.of), now)
  const call = (pod: Pod): Effect.Effect<"Deleted" | "NotFound", DeleteFailure> => {
    const removal = PodControl.remove(deps, snapshot.job, pod)
    return Pods.isTracked(pod) ? Effect.andThen(removeFinalizerOf(deps, state, pod, key), removal) : removal
  }
  const { failure, missing, removed } = yield* remove(state, pods, call)
  for (const pod of pods)
    if (!removed.includes(pod) || missing.has(pod)) state.expectations.deletionObserved(key, Key.of(pod))
  return { outcome: without(snapshot, removed), failure }
})

type DeleteFailure = PodControl.PodControlError | ApiError.ApiError

/** Calls `call` for all pods. `removed` includes the pods that were already deleted (`missing`). */
const remove = Effect.fnUntraced(function* (
  { permits }: State,
  pods: ReadonlyArray<Pod>,
  call: (pod: Pod) => Effect.Effect<unknown, DeleteFailure>
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
  deps: Deps,
  state: State,
  pod: Pod,
  key: Key.Key
): Effect.Effect<unknown, ApiError.ApiError> => {
  const uid = Pods.uidOf(pod)
  state.release(key, uid)
  return Effect.tapError(ApiError.unlessGone(deps.patch(pod, Drafts.removeFinalizer(pod))), () =>
    Effect.sync(() => state.releaseObserved(key, uid))
  )
}

/** Removes the tracking finalizer from these pods of the Job; a pod that is already deleted counts as done. */
export const removeFinalizers = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { job, pods }: { readonly job: Job; readonly pods: ReadonlyArray<Pod> }
): Effect.fn.Return<FinalizerRemoval> {
  const key = Key.of(job)
  const kept = new Set<Pod>()
  let failure: ApiError.ApiError | undefined
  const one = (pod: Pod): Effect.Effect<void> =>
    Effect.catch(state.permits.withPermit(removeFinalizerOf(deps, state, pod, key)), (error) =>
      Effect.sync(() => {
        kept.add(pod)
        failure ??= error
      })
    )
  yield* Effect.forEach(pods, one, { concurrency: "unbounded", discard: true })
  return { kept, failure }
})
