/** Metrics of the workload loops, under the names of kube-controller-manager. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as PodFacts from "../../../kube/pod.ts"
import type * as Resource from "../../../kube/Resource.ts"
import type { Pod } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import * as Family from "../../../streams/reconcile/metricFamily.ts"

/** Of ReplicaSets and of ReplicationControllers. */
export const ageRatio = Family.histogram(
  "replicaset_controller_sorting_deletion_age_ratio",
  "How many times as old as the youngest ready pod each ready one was that was chosen to go when there were too many",
  Family.exponential(0.25, 2, 6)
)

/** Syncs of a kind that were put off, where kube-controller-manager skips them and tries again; `subsystem`: `job_controller`. */
export const staleSkips = (subsystem: string): Family.Counter<"group" | "resource"> =>
  Family.counter(
    `${subsystem}_stale_sync_skips_total`,
    "Syncs that were put off because the cache did not show yet what the last one wrote, by the kind of that",
    ["group", "resource"]
  )

export const ofReplicaSets = staleSkips("replicaset_controller")

/** Counts one, in the registry of whoever makes it. */
export const skipping = (
  skips: Family.Counter<"group" | "resource">
): Effect.Effect<(resource: Resource.Any) => void> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.succeed(({ group, plural }) => skips.addUnsafe(context, 1, { group, resource: plural }))
  )

/** Some of the active pods were chosen; whole numbers, as there. Source: pkg/controller/replicaset: reportSortingDeletionAgeRatioMetric. */
export const chosen = (active: ReadonlyArray<Pod>, pods: ReadonlyArray<Pod>, now: number): Effect.Effect<void> => {
  if (pods.length >= active.length) return Effect.void
  const ageOf = ({ metadata }: Pod): number => Math.max(1, now - (Time.parse(metadata.creationTimestamp) ?? now))
  const youngest = active.filter(PodFacts.isReady).reduce((least, pod) => Math.min(least, ageOf(pod)), Infinity)
  return Effect.forEach(pods.filter(PodFacts.isReady), (pod) => ageRatio.observe(Math.floor(ageOf(pod) / youngest)), {
    discard: true
  })
}
