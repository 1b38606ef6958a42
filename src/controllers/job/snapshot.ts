/**
 * A Job and its pods, read once for all decisions of a sync: the active pods, the pods that are not counted yet, and the numbers of successes and
 * failures including these. A pure function. Source: pkg/controller/job: syncJob.
 */
import * as PodFacts from "../../kube/pod.ts"
import type { Job, Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Pods from "./pods.ts"
import * as Spec from "./spec.ts"
import * as Backoff from "./plan/backoff.ts"
import * as Policies from "./plan/policies.ts"
import * as Indexes from "./plan/indexes.ts"

export interface Gathered {
  readonly job: Job
  /** The pods that the Job controls, in any phase. */
  readonly pods: ReadonlyArray<Pod>
  /** Uids of pods whose finalizer was removed; the cache may still show it. */
  readonly released: ReadonlySet<string>
  /** The backoff before this sync. */
  readonly record: Backoff.Record
  /** Whether the cache shows all expected creations and deletions, so that pods may be created and deleted. */
  readonly isSettled: boolean
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The finished indexes of an indexed Job. No index has both succeeded and failed. */
export interface Progress {
  /** Indexes that have succeeded according to the status. */
  readonly counted: Indexes.Indexes
  /** `counted`, and the indexes of pods that have succeeded. */
  readonly succeeded: Indexes.Indexes
  /** Undefined without a limit per index. */
  readonly failed: Indexes.Indexes | undefined
}

export interface Snapshot extends Gathered {
  /** The stored status, with a start time if the Job has just started. */
  readonly status: Spec.Status
  readonly active: ReadonlyArray<Pod>
  /** The number of active pods that are ready. */
  readonly ready: number
  /** Pods that are being deleted and have not ended. */
  readonly terminating: ReadonlyArray<Pod>
  /** Pods with the finalizer: not counted yet, or their uid is still in the status. */
  readonly tracked: ReadonlyArray<Pod>
  /** The uids in `uncountedTerminatedPods`. */
  readonly uncounted: Uncounted
  /** The counter of the status, plus the uids in `uncountedTerminatedPods`, plus newly finished pods. */
  readonly succeeded: number
  readonly failed: number
  /** Undefined unless the Job is indexed. */
  readonly progress: Progress | undefined
  /** With a limit per index: the last failed pod of each pending index without an active pod. Its annotations hold the number of failures. */
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

/** Whether the pod's uid is not in the status yet. A pod without a valid index of an indexed Job never counts. */
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
  const failedBefore = limit === undefined ? Indexes.empty : Indexes.parse(job.status?.failedIndexes, count)
  // A pod that was counted as failed does not succeed later, nor does an index that has failed.
  const isSuccess = (pod: Pod): boolean => Pods.hasSucceeded(pod) && !uncounted.failed.has(Pods.uidOf(pod))
  const succeeded = Indexes.union(counted, indexesOf(failedBefore, isSuccess))
  if (limit === undefined) return { counted, succeeded, failed: undefined }
  const failed = indexesOf(succeeded, (pod) => failsIndex(job, pod, limit))
  return { counted, succeeded, failed: Indexes.union(failedBefore, failed) }
}

/** Whether the pod's failure makes its index fail: by the limit per index, or by a FailIndex rule. */
const failsIndex = (job: Job, pod: Pod, limit: number): boolean => {
  if (!Pods.hasFailed(pod, job)) return false
  const { action, counts } = Policies.match(job, pod)
  return action === "FailIndex" || (counts && Pods.failuresBefore(pod) >= limit)
}

/** Source: pkg/controller/job: getPodsWithDelayedDeletionPerIndex. */
const retainedOf = (
  job: Job,
  active: ReadonlyArray<Pod>,
  tracked: ReadonlyArray<Pod>,
  { failed = Indexes.empty, succeeded }: Progress
): ReadonlyMap<number, Pod> => {
  const activeIndexes = new Set(active.map(Pods.indexOf))
  const retained = new Map<number, Pod>()
  for (const pod of tracked) {
    const index = Pods.validIndexOf(pod, job)
    if (index === undefined || activeIndexes.has(index) || !Pods.hasFailed(pod, job)) continue
    if (Indexes.has(succeeded, index) || Indexes.has(failed, index)) continue
    const known = retained.get(index)
    if (known === undefined || isLater(pod, known)) retained.set(index, pod)
  }
  return retained
}

const isLater = (pod: Pod, than: Pod): boolean =>
  Pods.allFailuresBefore(pod) - Pods.allFailuresBefore(than) >= 0 && Pods.endedAt(pod) >= Pods.endedAt(than)
