/**
 * A Job and its pods, read once for all decisions of a sync: active pods, pods still to be counted, and the numbers of successes and failures
 * including these. Pure and total. Source: pkg/controller/job: syncJob.
 */
import * as PodFacts from "../../../kube/pod.ts"
import type { Job, Pod } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import * as Pods from "../pods.ts"
import * as Spec from "../spec.ts"
import * as Backoff from "./backoff.ts"
import * as Policies from "./policies.ts"
import * as Indexes from "./indexes.ts"

export interface Gathered {
  readonly job: Job
  /** The pods it controls, in every phase. */
  readonly pods: ReadonlyArray<Pod>
  /** Uids of pods that were let go; the cache may show them as if they were not. */
  readonly released: ReadonlySet<string>
  /** Failures before these pods. */
  readonly record: Backoff.Record
  /** Nothing that was asked for is missing in the cache, so pods may be made and deleted. */
  readonly isSettled: boolean
  /** Milliseconds since 1970. */
  readonly now: number
}

/** What an indexed Job has done, by index. */
export interface Progress {
  /** As the status says it. No index is among those that have succeeded and those that have failed. */
  readonly counted: Indexes.Indexes
  /** Those, and the indexes of pods that have succeeded. */
  readonly succeeded: Indexes.Indexes
  /** Undefined without a limit per index. */
  readonly failed: Indexes.Indexes | undefined
}

export interface Snapshot extends Gathered {
  /** As it is stored, with a start if the Job has just started. */
  readonly status: Spec.Status
  readonly active: ReadonlyArray<Pod>
  /** Of the active ones. */
  readonly ready: number
  /** On their way out, with containers that may run. */
  readonly terminating: ReadonlyArray<Pod>
  /** Pods that are not counted yet, or not to the end. */
  readonly tracked: ReadonlyArray<Pod>
  /** Uids whose counting has begun. */
  readonly uncounted: Uncounted
  /** Those counted, those whose counting has begun, and those that are to be counted. */
  readonly succeeded: number
  readonly failed: number
  /** Of indexed Jobs. */
  readonly progress: Progress | undefined
  /** With a limit per index: the last failed pod of each index that has no other, kept for the number of failures on it. */
  readonly retained: ReadonlyMap<number, Pod>
}

export interface Uncounted {
  readonly succeeded: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
}

export const take = (gathered: Gathered): Snapshot => {
  const { job, now, pods, released } = gathered
  const uncounted = uncountedOf(job)
  const active = pods.filter(PodFacts.isActive)
  const tracked = pods.filter((pod) => Pods.isTracked(pod) && !released.has(Pods.uidOf(pod)))
  const fresh = tracked.filter((pod) => isFresh(job, pod, uncounted))
  const succeeded = fresh.filter(Pods.hasSucceeded)
  const failed = fresh.filter((pod) => Pods.hasFailed(pod, job))
  const progress = Spec.isIndexed(job) ? progressOf(job, tracked, uncounted) : undefined
  const { succeeded: before = 0, failed: failedBefore = 0, startTime } = job.status ?? {}
  return {
    ...gathered,
    status: {
      ...job.status,
      ...(startTime === undefined && !Spec.isSuspended(job) ? { startTime: Time.format(now) } : {})
    },
    active,
    ready: active.filter(PodFacts.isReady).length,
    terminating: pods.filter(PodFacts.isTerminating),
    tracked,
    uncounted,
    succeeded:
      progress === undefined ? before + uncounted.succeeded.size + succeeded.length : Indexes.size(progress.succeeded),
    failed: failedBefore + uncounted.failed.size + failed.filter((pod) => Policies.match(job, pod).counts).length,
    record: Backoff.after(gathered.record, succeeded, failed),
    progress,
    retained: progress?.failed === undefined ? new Map() : retainedOf(job, active, tracked, progress)
  }
}

const uncountedOf = ({ status }: Job): Uncounted => ({
  succeeded: new Set(status?.uncountedTerminatedPods?.succeeded),
  failed: new Set(status?.uncountedTerminatedPods?.failed)
})

/** Its counting has not begun; one that works on no index of the Job never counts. */
const isFresh = (job: Job, pod: Pod, { failed, succeeded }: Uncounted): boolean =>
  !succeeded.has(Pods.uidOf(pod)) &&
  !failed.has(Pods.uidOf(pod)) &&
  (!Spec.isIndexed(job) || Pods.validIndexOf(pod, job) !== undefined)

const progressOf = (job: Job, tracked: ReadonlyArray<Pod>, uncounted: Uncounted): Progress => {
  const indexesOf = (done: Indexes.Indexes, holds: (pod: Pod) => boolean): Indexes.Indexes =>
    Indexes.of(
      tracked.flatMap((pod) => {
        const index = Pods.validIndexOf(pod, job)
        return index === undefined || Indexes.has(done, index) || !holds(pod) ? [] : index
      })
    )
  const count = Spec.indexCount(job)
  const limit = Spec.backoffLimitPerIndex(job)
  const counted = Indexes.parse(job.status?.completedIndexes, count)
  const given = limit === undefined ? Indexes.empty : Indexes.parse(job.status?.failedIndexes, count)
  // A pod that is counted as failed has not succeeded, however it ended after that; nor has an index that was given up.
  const isSuccess = (pod: Pod): boolean => Pods.hasSucceeded(pod) && !uncounted.failed.has(Pods.uidOf(pod))
  const succeeded = Indexes.union(counted, indexesOf(given, isSuccess))
  if (limit === undefined) return { counted, succeeded, failed: undefined }
  const failed = indexesOf(succeeded, (pod) => failsIndex(job, pod, limit))
  return { counted, succeeded, failed: Indexes.union(given, failed) }
}

/** Its failure is the last that its index may have, or the policy says so. */
const failsIndex = (job: Job, pod: Pod, limit: number): boolean => {
  if (!Pods.hasFailed(pod, job)) return false
  const { action, counts } = Policies.match(job, pod)
  return action === "FailIndex" || (counts && Pods.failuresBefore(pod) >= limit)
}

/** An index that is worked on, or done with, needs none. */
const retainedOf = (
  job: Job,
  active: ReadonlyArray<Pod>,
  tracked: ReadonlyArray<Pod>,
  { failed = Indexes.empty, succeeded }: Progress
): ReadonlyMap<number, Pod> => {
  const worked = new Set(active.map(Pods.indexOf))
  const retained = new Map<number, Pod>()
  for (const pod of tracked) {
    const index = Pods.validIndexOf(pod, job)
    if (index === undefined || worked.has(index) || !Pods.hasFailed(pod, job)) continue
    if (Indexes.has(succeeded, index) || Indexes.has(failed, index)) continue
    const known = retained.get(index)
    if (known === undefined || isLater(pod, known)) retained.set(index, pod)
  }
  return retained
}

const isLater = (pod: Pod, than: Pod): boolean =>
  Pods.allFailuresBefore(pod) - Pods.allFailuresBefore(than) >= 0 && Pods.endedAt(pod) >= Pods.endedAt(than)
