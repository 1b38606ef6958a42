/**
 * Decides what happens to the pods of a Job that has not ended: which are deleted, how many are created and for which indexes, or how long creation
 * waits for the backoff. One sync deletes or creates, never both. Pure and total. Source: pkg/controller/job: manageJob.
 */
import type { Pod } from "../../../kube/resources.ts"
import * as Ranking from "../../shared/workload/ranking.ts"
import * as Pods from "../pods.ts"
import * as Spec from "../spec.ts"
import * as Backoff from "./backoff.ts"
import * as Indexes from "./indexes.ts"
import type { Snapshot } from "./snapshot.ts"
import * as Verdict from "./verdict.ts"

export type Step =
  | { readonly _tag: "Nothing" }
  /** At least one. Their finalizer is removed first, so that they do not count as failed. */
  | { readonly _tag: "Delete"; readonly pods: ReadonlyArray<Pod> }
  /** From 1 to `Spec.limit`, for these indexes if the Job is indexed. */
  | { readonly _tag: "Create"; readonly count: number; readonly indexes: ReadonlyArray<number> | undefined }
  /** Pods are missing and may not be made yet. */
  | { readonly _tag: "Wait"; readonly millis: number }

export const nothing: Step = { _tag: "Nothing" }

/** The action of a sync, as a metric label. */
export type Action = "reconciling" | "tracking" | "pods_created" | "pods_deleted"

export interface Decision {
  /** Source: pkg/controller/job: syncJob, manageJob. */
  readonly action: Action
  /** Set when the Job ends. */
  readonly verdict: Verdict.Verdict | undefined
  readonly step: Step
  /** The step is what the Job wants, and not only what can be done at the time. */
  readonly wasManaged: boolean
}

export const decide = (snapshot: Snapshot): Decision => {
  const verdict = Verdict.of(snapshot)
  const wasManaged = verdict === undefined && snapshot.isSettled && !Spec.isLeaving(snapshot.job)
  if (!wasManaged) return { action: "reconciling", verdict, wasManaged, step: nothing }
  const wants = step(snapshot)
  return { action: actionOf(snapshot, wants), verdict, wasManaged, step: wants }
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
  const victims = surplus(snapshot)
  return victims.length > 0 ? deletion(victims.slice(0, Spec.limit)) : creation(snapshot)
}

const deletion = (pods: ReadonlyArray<Pod>): Step => (pods.length === 0 ? nothing : { _tag: "Delete", pods })

/** The number of pods that should be active. */
const wanted = ({ active, job, succeeded }: Snapshot): number => {
  const completions = job.spec?.completions
  // After the first success no pod is created and none is deleted.
  if (completions === undefined) return succeeded > 0 ? active.length : Spec.parallelism(job)
  return Math.max(0, Math.min(completions - succeeded, Spec.parallelism(job)))
}

/** First pods with an invalid or duplicate index, then as many as are surplus. */
const surplus = (snapshot: Snapshot): ReadonlyArray<Pod> => {
  const { active, job } = snapshot
  const tooMany = Math.max(0, active.length - wanted(snapshot))
  const useless = Spec.isIndexed(job) ? duplicates(snapshot) : []
  if (useless.length >= tooMany) return useless
  const left = active.filter((pod) => !useless.includes(pod))
  return [...useless, ...Ranking.byDeletionOrder(left).slice(0, tooMany - useless.length)]
}

const duplicates = ({ active, job }: Snapshot): ReadonlyArray<Pod> => {
  const useless: Array<Pod> = []
  const workers = new Map<number, Array<Pod>>()
  for (const pod of active) {
    const index = Pods.validIndexOf(pod, job)
    if (index === undefined) useless.push(pod)
    else if (workers.get(index)?.push(pod) === undefined) workers.set(index, [pod])
  }
  for (const pods of workers.values()) if (pods.length > 1) useless.push(...Ranking.byDeletionOrder(pods).slice(0, -1))
  return useless
}

/** The number of pods to create; zero or less for none. */
const missing = (snapshot: Snapshot): number =>
  wanted(snapshot) - snapshot.active.length - (Spec.replacesOnlyFailed(snapshot.job) ? snapshot.terminating.length : 0)

const creation = (snapshot: Snapshot): Step => {
  const { job, now, record } = snapshot
  const count = Math.min(missing(snapshot), Spec.limit)
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

/** The lowest indexes without an active pod that have neither succeeded nor failed. */
const pending = ({ active, job, progress, terminating }: Snapshot, most: number): ReadonlyArray<number> => {
  const busy = Spec.replacesOnlyFailed(job) ? [...active, ...terminating] : active
  const taken = Indexes.of(busy.flatMap((pod) => Pods.indexOf(pod) ?? []))
  const done = Indexes.union(progress?.succeeded ?? Indexes.empty, progress?.failed ?? Indexes.empty)
  return Indexes.firstMissing(Indexes.union(taken, done), Spec.indexCount(job), most)
}
