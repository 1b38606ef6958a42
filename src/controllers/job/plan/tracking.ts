/**
 * Counting of finished pods, in two status writes with the removal of finalizers between them. `count` makes the first: uids of the pods whose
 * finalizer is about to be removed, and the interim condition. `settle` moves uids to the counters once their finalizer is removed. `conclude` adds
 * the terminal condition when nothing is left to wait for. A uid is in the status before its pod loses the finalizer, and a pod without the
 * finalizer is ignored, so each pod is counted once, wherever a process stops between the writes. Pure and total. Source: pkg/controller/job:
 * trackJobStatusAndRemoveFinalizers.
 */
import type { Job, Pod } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import * as Pods from "../pods.ts"
import * as Spec from "../spec.ts"
import * as Policies from "./policies.ts"
import * as Indexes from "./indexes.ts"
import type { Snapshot } from "./snapshot.ts"
import * as Verdict from "./verdict.ts"

/** What a sync has come to before it counts. */
export interface Outcome {
  /** Undefined while the Job goes on. */
  readonly verdict: Verdict.Verdict | undefined
  /** Pods were managed, so that the status says whether the Job is suspended. */
  readonly wasManaged: boolean
  readonly active: number
  readonly ready: number
  readonly terminating: number
}

/** The outcome of a sync that did nothing to pods. */
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
  /** Their finalizer is removed once the status is written. */
  readonly removable: ReadonlyArray<Pod>
  /** More pods wait to be counted: the Job cannot end yet. */
  readonly isFull: boolean
  /** The Job was suspended or resumed in this round. */
  readonly suspension: "Suspended" | "Resumed" | undefined
  /** The failure policy actions for newly failed pods. */
  readonly actions: ReadonlyArray<Policies.Action>
}

export const count = (snapshot: Snapshot, outcome: Outcome): Round => {
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

/** Writes the Suspended condition when it changes; a resumed Job starts its active time anew. */
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

/** Moves uids whose pods have lost the finalizer to the counters; `held` are those that still have it. The same object if there are none. */
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

/** With empty lists left out, as the server stores it. */
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
      // The index is enough to know it by.
      if (progress !== undefined && index !== undefined) {
        if (isNewIn(progress, index)) indexes.push(index)
      } else if (!uncounted.succeeded.has(uid)) succeeded.push(uid)
    } else if (counts && (Pods.hasFailed(pod, job) || verdict?.ends === "Failed")) {
      const { action, counts: isCounted } = Policies.match(job, pod)
      if (action !== undefined) actions.push(action)
      if (isCounted) failed.push(uid)
    }
    isFull = indexes.length + succeeded.length + failed.length >= Spec.limit
    if (isFull) break
  }
  const uncountedTerminatedPods = uncountedFrom(succeeded, failed)
  return { status: { ...withIndexes(known, snapshot, indexes), uncountedTerminatedPods }, removable, isFull, actions }
}

const isNewIn = ({ counted, succeeded }: NonNullable<Snapshot["progress"]>, index: number): boolean =>
  Indexes.has(succeeded, index) && !Indexes.has(counted, index)

/** Whether the pod can be counted: the Job ends or is deleted, or the pod has finished and its successor carries its failure count. */
const isRemovable = ({ job, retained }: Snapshot, verdict: Verdict.Verdict | undefined, pod: Pod): boolean => {
  if (Spec.isLeaving(job) || verdict !== undefined || Pods.hasSucceeded(pod)) return true
  return Pods.hasFailed(pod, job) && retained.get(Pods.indexOf(pod) ?? -1) !== pod
}

const byIndex = (pods: ReadonlyArray<Pod>): ReadonlyArray<Pod> =>
  pods.toSorted((a, b) => (Pods.indexOf(a) ?? -1) - (Pods.indexOf(b) ?? -1))

/** The index texts of an indexed Job; it may have fewer indexes than it had. */
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
 * With the terminal condition, if the Job is to end and nothing is left of it: no pod to count, none on its way out. The very same status
 * otherwise.
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

/** More pods than asked for have succeeded. */
export const hasExcessSuccesses = ({ spec }: Job, { succeeded = 0 }: Spec.Status): boolean =>
  spec?.completions !== undefined && succeeded > spec.completions

/** Fields in which zero or an empty text differs from absent. */
const told = ["ready", "terminating", "failedIndexes"] as const
/** Fields in which zero equals absent. */
const silent = ["active", "succeeded", "failed", "startTime", "completedIndexes"] as const

const hasChanged = (before: Spec.Status, after: Spec.Status): boolean =>
  told.some((field) => before[field] !== after[field]) ||
  silent.some((field) => (before[field] || undefined) !== (after[field] || undefined)) ||
  before.conditions !== after.conditions ||
  before.uncountedTerminatedPods === undefined ||
  sizeOf(before) !== sizeOf(after)

const sizeOf = ({ uncountedTerminatedPods: { failed = [], succeeded = [] } = {} }: Spec.Status): number =>
  failed.length + succeeded.length
