/**
 * Counts finished pods in two status writes, with the removal of finalizers between them. `status` returns the first status: with the uids of the pods
 * whose finalizer will be removed, and the interim condition. `settle` moves uids to the counters once the finalizer is removed. `conclude` adds the
 * terminal condition when no pod is left to count or to end. A uid is in the status before its pod loses the finalizer, and a pod without the
 * finalizer is ignored, so each pod is counted once, even if the process stops between two writes. Pure functions. Source: pkg/controller/job:
 * trackJobStatusAndRemoveFinalizers.
 */
import type { Job, Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Pods from "./pods.ts"
import * as Spec from "./spec.ts"
import * as Policies from "./plan/policies.ts"
import * as Indexes from "./plan/indexes.ts"
import type { Snapshot } from "./snapshot.ts"
import * as Verdict from "./plan/verdict.ts"

/** The result of a sync before it counts pods. */
export interface Outcome {
  /** Undefined while the Job continues. */
  readonly verdict: Verdict.Verdict | undefined
  /** See `Plan.Plan`: if true, the Suspended condition is brought up to date. */
  readonly wasManaged: boolean
  readonly active: number
  readonly ready: number
  readonly terminating: number
}

/** The outcome of a sync that neither created nor deleted pods. */
export const unchanged = ({ active, ready, terminating }: Snapshot): Outcome => ({
  verdict: undefined,
  wasManaged: false,
  active: active.length,
  ready,
  terminating: terminating.length
})

export interface Round {
  readonly status: Spec.Status
  /** The status differs from the stored one. */
  readonly hasChanged: boolean
  /** The pods whose finalizer is removed once the status is written. */
  readonly removable: ReadonlyArray<Pod>
  /** The status has reached `Spec.maxUncountedPods`, so more pods may be left to count and the Job cannot end yet. */
  readonly isFull: boolean
  /** The Job was suspended or resumed in this round. */
  readonly suspension: "Suspended" | "Resumed" | undefined
  /** The failure policy actions for newly failed pods. */
  readonly actions: ReadonlyArray<Policies.Action>
}

export const status = (snapshot: Snapshot, outcome: Outcome): Round => {
  const { active, ready, terminating, verdict } = outcome
  const transition = suspensionOf(snapshot, outcome)
  const known = settle(transition.status, new Set(snapshot.tracked.map(Pods.uidOf)))
  const { actions, isFull, removable, status: taken } = countEnded(snapshot, verdict, known)
  const claim = verdict === undefined || verdict.isStored ? undefined : Verdict.interim(verdict)
  const status = withConditions(
    { ...taken, active, ready, terminating },
    claim === undefined ? taken.conditions : Verdict.ensure(taken.conditions, claim, "True", snapshot.now)
  )
  return {
    status,
    hasChanged: hasChanged(snapshot.job.status ?? {}, status),
    removable,
    isFull,
    suspension: transition.suspension,
    actions
  }
}

const withConditions = (status: Spec.Status, conditions: Spec.Status["conditions"]): Spec.Status =>
  conditions === undefined || conditions === status.conditions ? status : { ...status, conditions }

/** Updates the Suspended condition. A suspended Job has no start time, and a resumed Job gets a new one. */
const suspensionOf = (
  { job, now, status }: Snapshot,
  { verdict, wasManaged }: Outcome
): { readonly status: Spec.Status; readonly suspension: Round["suspension"] } => {
  if (verdict !== undefined || !wasManaged) return { status, suspension: undefined }
  const isSuspended = Spec.isSuspended(job)
  const conditions = isSuspended
    ? Verdict.ensure(status.conditions, suspended, "True", now)
    : Verdict.ensure(status.conditions, resumed, "False", now)
  if (conditions === status.conditions) return { status, suspension: undefined }
  const { startTime: _, ...rest } = withConditions(status, conditions)
  return isSuspended
    ? { status: rest, suspension: "Suspended" }
    : { status: { ...rest, startTime: Time.format(now) }, suspension: "Resumed" }
}

const suspended: Verdict.Claim = { type: "Suspended", reason: "JobSuspended", message: "Job suspended" }
const resumed: Verdict.Claim = { type: "Suspended", reason: "JobResumed", message: "Job resumed" }

/** Moves the uids of pods without the finalizer to the counters; `held` are the uids of pods that have it. Returns the same object without a change. */
export const settle = (status: Spec.Status, held: ReadonlySet<string>): Spec.Status => {
  const { failed = [], succeeded = [] } = status.uncountedTerminatedPods ?? {}
  const left = { succeeded: succeeded.filter((uid) => held.has(uid)), failed: failed.filter((uid) => held.has(uid)) }
  const counted = { succeeded: succeeded.length - left.succeeded.length, failed: failed.length - left.failed.length }
  if (counted.succeeded === 0 && counted.failed === 0) return status
  return {
    ...status,
    ...(counted.succeeded === 0 ? {} : { succeeded: (status.succeeded ?? 0) + counted.succeeded }),
    ...(counted.failed === 0 ? {} : { failed: (status.failed ?? 0) + counted.failed }),
    uncountedTerminatedPods: uncountedFrom(left.succeeded, left.failed)
  }
}

/** Omits empty lists, as the server stores the field. */
const uncountedFrom = (succeeded: ReadonlyArray<string>, failed: ReadonlyArray<string>) => ({
  ...(succeeded.length === 0 ? {} : { succeeded }),
  ...(failed.length === 0 ? {} : { failed })
})

type Taken = Pick<Round, "status" | "removable" | "isFull" | "actions">

/** Adds the uids or indexes of finished pods to the status. */
const countEnded = (snapshot: Snapshot, verdict: Verdict.Verdict | undefined, known: Spec.Status): Taken => {
  const { job, progress, tracked, uncounted } = snapshot
  const succeeded = [...(known.uncountedTerminatedPods?.succeeded ?? [])]
  const failed = [...(known.uncountedTerminatedPods?.failed ?? [])]
  const indexes: Array<number> = []
  const removable: Array<Pod> = []
  const actions: Array<Policies.Action> = []
  let isFull = false
  for (const pod of progress === undefined ? tracked : byIndex(tracked)) {
    if (!isRemovable(snapshot, verdict, pod)) continue
    removable.push(pod)
    const uid = Pods.uidOf(pod)
    const index = Pods.validIndexOf(pod, job)
    const counts = !uncounted.failed.has(uid) && (progress === undefined || index !== undefined)
    if (counts && Pods.hasSucceeded(pod)) {
      // A succeeded pod of an indexed Job is recorded by its index, not by its uid.
      if (progress !== undefined && index !== undefined) {
        if (isNewIn(progress, index)) indexes.push(index)
      } else if (!uncounted.succeeded.has(uid)) succeeded.push(uid)
    } else if (counts && (Pods.hasFailed(pod, job) || verdict?.ends === "Failed")) {
      const { action, counts: isCounted } = Policies.match(job, pod)
      if (action !== undefined) actions.push(action)
      if (isCounted) failed.push(uid)
    }
    isFull = indexes.length + succeeded.length + failed.length >= Spec.maxUncountedPods
    if (isFull) break
  }
  const uncountedTerminatedPods = uncountedFrom(succeeded, failed)
  return { status: { ...withIndexes(known, snapshot, indexes), uncountedTerminatedPods }, removable, isFull, actions }
}

const isNewIn = ({ counted, succeeded }: NonNullable<Snapshot["progress"]>, index: number): boolean =>
  Indexes.has(succeeded, index) && !Indexes.has(counted, index)

/** Whether the finalizer can be removed: the Job ends or is being deleted, or the pod has finished and is not retained for its failure count. */
const isRemovable = ({ job, retained }: Snapshot, verdict: Verdict.Verdict | undefined, pod: Pod): boolean => {
  if (Spec.isBeingDeleted(job) || verdict !== undefined || Pods.hasSucceeded(pod)) return true
  return Pods.hasFailed(pod, job) && retained.get(Pods.indexOf(pod) ?? -1) !== pod
}

const byIndex = (pods: ReadonlyArray<Pod>): ReadonlyArray<Pod> =>
  pods.toSorted((a, b) => (Pods.indexOf(a) ?? -1) - (Pods.indexOf(b) ?? -1))

/** Sets `completedIndexes`, `failedIndexes` and `succeeded` of an indexed Job. Indexes above lowered completions are dropped. */
const withIndexes = (known: Spec.Status, { progress }: Snapshot, indexes: ReadonlyArray<number>): Spec.Status => {
  if (progress === undefined) return known
  const completed = Indexes.union(progress.counted, Indexes.of(indexes))
  const { completedIndexes: _, ...rest } = known
  return {
    ...rest,
    succeeded: Indexes.size(completed),
    ...(completed.length === 0 ? {} : { completedIndexes: Indexes.format(completed) }),
    ...(progress.failed === undefined ? {} : { failedIndexes: Indexes.format(progress.failed) })
  }
}

/**
 * Adds the terminal condition if the Job ends, no pod is left to count, and none is terminating. Returns the same object otherwise. Source:
 * pkg/controller/job: enactJobFinished.
 */
export const conclude = (
  status: Spec.Status,
  { verdict }: Pick<Outcome, "verdict">,
  isFull: boolean,
  now: number
): Spec.Status => {
  const { failed = [], succeeded = [] } = status.uncountedTerminatedPods ?? {}
  if (verdict === undefined || isFull || succeeded.length + failed.length > 0 || (status.terminating ?? 0) > 0)
    return status
  const conditions = Verdict.ensure(status.conditions, Verdict.terminal(verdict), "True", now)
  return {
    ...withConditions(status, conditions),
    ...(verdict.ends === "Complete" ? { completionTime: Time.format(now) } : {})
  }
}

/** Whether more pods have succeeded than the Job's completions. */
export const hasExcessSuccesses = ({ spec }: Job, { succeeded = 0 }: Spec.Status): boolean =>
  spec?.completions !== undefined && succeeded > spec.completions

/** Fields in which an absent value differs from zero or an empty text. */
const exactFields = ["ready", "terminating", "failedIndexes"] as const
/** Fields in which an absent value equals zero or an empty text. */
const zeroableFields = ["active", "succeeded", "failed", "startTime", "completedIndexes"] as const

const hasChanged = (before: Spec.Status, after: Spec.Status): boolean =>
  exactFields.some((field) => before[field] !== after[field]) ||
  zeroableFields.some((field) => (before[field] || undefined) !== (after[field] || undefined)) ||
  before.conditions !== after.conditions ||
  before.uncountedTerminatedPods === undefined ||
  sizeOf(before) !== sizeOf(after)

const sizeOf = ({ uncountedTerminatedPods: { failed = [], succeeded = [] } = {} }: Spec.Status): number =>
  failed.length + succeeded.length
