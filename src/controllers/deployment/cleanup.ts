/** Which old ReplicaSets the revision history no longer needs. Source: spec B.8.2. */
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as ReplicaSets from "./replicaSets.ts"
import * as Revisions from "./revisions.ts"

/**
 * The sets to delete, lowest revision first. One among the lowest that is still in use is left for later; no other is deleted in its
 * place, or the history would lose the newer revision.
 */
export const plan = (deployment: Deployment, old: ReadonlyArray<ReplicaSet>): ReadonlyArray<ReplicaSet> => {
  // The largest int32, which stands for no limit, is never exceeded.
  const limit = deployment.spec?.revisionHistoryLimit ?? Infinity
  const present = old.filter((set) => set.metadata.deletionTimestamp === undefined)
  const excess = present.length - limit
  return excess <= 0 ? [] : present.sort(Revisions.byRevision).slice(0, excess).filter(isIdle)
}

/** No pods wanted, none there, and the set's loop has seen that. */
const isIdle = (set: ReplicaSet): boolean =>
  ReplicaSets.size(set) === 0 &&
  ReplicaSets.replicas(set) === 0 &&
  (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0)
