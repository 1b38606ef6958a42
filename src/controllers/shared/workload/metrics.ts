/** Metrics of the workload loops, under the names of kube-controller-manager. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as PodFacts from "../../../kube/pod.ts"
import type * as Resource from "../../../kube/Resource.ts"
import type { Pod } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import * as Family from "../../../streams/reconcile/metricFamily.ts"

/** Observed for ReplicaSets and for ReplicationControllers. */
export const ageRatio = Family.histogram(
  "replicaset_controller_sorting_deletion_age_ratio",
  "Age of each ready pod that is chosen for deletion, divided by the age of the youngest ready pod",
  Family.exponential(0.25, 2, 6)
)

/** Delayed syncs of a kind, which kube-controller-manager skips and retries; `subsystem`: for example `job_controller`. */
export const staleSkips = (subsystem: string): Family.Counter<"group" | "resource"> =>
  Family.counter(
    `${subsystem}_stale_sync_skips_total`,
    "Syncs that were delayed because the cache did not yet show the writes of the last sync, by the resource written",
    ["group", "resource"]
  )

export const ofReplicaSets = staleSkips("replicaset_controller")

/** Returns a function that counts one, in the metric registry of the caller. */
export const skipping = (
  skips: Family.Counter<"group" | "resource">
): Effect.Effect<(resource: Resource.Any) => void> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.succeed(({ group, plural }) => skips.addUnsafe(context, 1, { group, resource: plural }))
  )

/** Records the age ratios of the pods chosen for deletion, rounded down as upstream. Source: pkg/controller/replicaset: reportSortingDeletionAgeRatioMetric. */
export const chosen = (active: ReadonlyArray<Pod>, pods: ReadonlyArray<Pod>, now: number): Effect.Effect<void> => {
  if (pods.length >= active.length) return Effect.void
  const ageOf = ({ metadata }: Pod): number => Math.max(1, now - (Time.parse(metadata.creationTimestamp) ?? now))
  const youngest = active.filter(PodFacts.isReady).reduce((least, pod) => Math.min(least, ageOf(pod)), Infinity)
  return Effect.forEach(pods.filter(PodFacts.isReady), (pod) => ageRatio.observe(Math.floor(ageOf(pod) / youngest)), {
    discard: true
  })
}
