/**
 * Decides what happens to the pods of a Job that has not ended: which pods are deleted, how many are created and for which indexes, or how long the
 * creation waits for the backoff. One sync deletes or creates, never both. A pure function of the snapshot. Source: pkg/controller/job: manageJob.
 */
import type { Pod } from "../../../kube/resources.ts"
import * as Ranking from "../../shared/workload/ranking.ts"
import * as Pods from "../pods.ts"
import * as Spec from "../spec.ts"
import * as Backoff from "./backoff.ts"
import * as Indexes from "./indexes.ts"
import type { Snapshot } from "../snapshot.ts"
import * as Verdict from "./verdict.ts"

export type Step =
  | { readonly _tag: "Nothing" }
  /** At least one pod. Their finalizer is removed first, so that they do not count as failed. */
  | { readonly _tag: "Delete"; readonly pods: ReadonlyArray<Pod> }
  /** From 1 to `Spec.maxPodsPerSync` pods, for these indexes if the Job is indexed. */
  | { readonly _tag: "Create"; readonly count: number; readonly indexes: ReadonlyArray<number> | undefined }
  /** Pods are missing, and the backoff does not allow to create them yet. */
  | { readonly _tag: "Wait"; readonly millis: number }

export const nothing: Step = { _tag: "Nothing" }

/** The action of a sync, as a metric label. */
export type Action = "reconciling" | "tracking" | "pods_created" | "pods_deleted"

export interface Plan {
  /** Source: pkg/controller/job: syncJob, manageJob. */
  readonly action: Action
  /** Set when the Job ends. */
  readonly verdict: Verdict.Verdict | undefined
  readonly step: Step
  /** The step brings the pods to what the Job specifies, so the sync may write the Suspended condition. */
  readonly wasManaged: boolean
}

export const plan = (snapshot: Snapshot): Plan => {
  const verdict = Verdict.of(snapshot)
  const wasManaged = verdict === undefined && snapshot.isSettled && !Spec.isBeingDeleted(snapshot.job)
  if (!wasManaged) return { action: "reconciling", verdict, wasManaged, step: nothing }
  const next = step(snapshot)
  return { action: actionOf(snapshot, next), verdict, wasManaged, step: next }
}

/** A step that waits for the backoff counts as creation; a suspended Job counts as deletion even without pods. */
const actionOf = (snapshot: Snapshot, { _tag }: Step): Action =>
  Spec.isSuspended(snapshot.job) || _tag === "Delete"
    ? "pods_deleted"
    : missing(snapshot) > 0
      ? "pods_created"
      : "tracking"

export const step = (snapshot: Snapshot): Step => {
  if (Spec.isSuspended(snapshot.job)) return deletion(snapshot.active)
  const excess = surplus(snapshot)
  return excess.length > 0 ? deletion(excess.slice(0, Spec.maxPodsPerSync)) : creation(snapshot)
}

const deletion = (pods: ReadonlyArray<Pod>): Step => (pods.length === 0 ? nothing : { _tag: "Delete", pods })

/** The number of pods that should be active. */
const wanted = ({ active, job, succeeded }: Snapshot): number => {
  const completions = job.spec?.completions
  // After the first success no pod is created and none is deleted.
  if (completions === undefined) return succeeded > 0 ? active.length : Spec.parallelism(job)
  return Math.max(0, Math.min(completions - succeeded, Spec.parallelism(job)))
}

/** The pods to delete: first those with an invalid or duplicate index, then as many as are above the wanted number. */
const surplus = (snapshot: Snapshot): ReadonlyArray<Pod> => {
  const { active, job } = snapshot
  const count = Math.max(0, active.length - wanted(snapshot))
  const misplaced = Spec.isIndexed(job) ? invalidOrDuplicate(snapshot) : []
  if (misplaced.length >= count) return misplaced
  const others = active.filter((pod) => !misplaced.includes(pod))
  return [...misplaced, ...Ranking.byDeletionOrder(others).slice(0, count - misplaced.length)]
}

/** Source: pkg/controller/job: appendDuplicatedIndexPodsForRemoval. */
const invalidOrDuplicate = ({ active, job }: Snapshot): ReadonlyArray<Pod> => {
  const misplaced: Array<Pod> = []
  const byIndex = new Map<number, Array<Pod>>()
  for (const pod of active) {
    const index = Pods.validIndexOf(pod, job)
    if (index === undefined) misplaced.push(pod)
    else if (byIndex.get(index)?.push(pod) === undefined) byIndex.set(index, [pod])
  }
  for (const pods of byIndex.values())
    if (pods.length > 1) misplaced.push(...Ranking.byDeletionOrder(pods).slice(0, -1))
  return misplaced
}

/** The number of pods to create; zero or less for none. */
const missing = (snapshot: Snapshot): number =>
  wanted(snapshot) - snapshot.active.length - (Spec.replacesOnlyFailed(snapshot.job) ? snapshot.terminating.length : 0)

const creation = (snapshot: Snapshot): Step => {
  const { job, now, record } = snapshot
  const count = Math.min(missing(snapshot), Spec.maxPodsPerSync)
  if (count <= 0) return nothing
  if (Spec.backoffLimitPerIndex(job) !== undefined) return perIndex(snapshot, count)
  const millis = Backoff.remaining(record, now)
  if (millis > 0) return { _tag: "Wait", millis }
  return Spec.isIndexed(job) ? forIndexes(pending(snapshot, count)) : { _tag: "Create", count, indexes: undefined }
}

/** Each index has a backoff of its own. */
const perIndex = (snapshot: Snapshot, count: number): Step => {
  const indexes = pending(snapshot, count)
  const waits = indexes.map((index) => Backoff.remainingOf(snapshot.retained.get(index), snapshot.now))
  const due = indexes.filter((_, i) => waits[i] === 0)
  return due.length === 0 && indexes.length > 0 ? { _tag: "Wait", millis: Math.min(...waits) } : forIndexes(due)
}

const forIndexes = (indexes: ReadonlyArray<number>): Step =>
  indexes.length === 0 ? nothing : { _tag: "Create", count: indexes.length, indexes }

/** The lowest indexes that have no active pod and have neither succeeded nor failed. Source: pkg/controller/job: firstPendingIndexes. */
const pending = ({ active, job, progress, terminating }: Snapshot, limit: number): ReadonlyArray<number> => {
  const busy = Spec.replacesOnlyFailed(job) ? [...active, ...terminating] : active
  const taken = Indexes.of(busy.flatMap((pod) => Pods.indexOf(pod) ?? []))
  const done = Indexes.union(progress?.succeeded ?? Indexes.empty, progress?.failed ?? Indexes.empty)
  return Indexes.firstMissing(Indexes.union(taken, done), Spec.indexCount(job), limit)
}
