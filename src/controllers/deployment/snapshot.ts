/**
 * A Deployment and its ReplicaSets, sorted into the new one and the old ones. Source: pkg/controller/deployment/util:
 * FindNewReplicaSet, FindOldReplicaSets.
 */
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as ReplicaSets from "./replicaSets.ts"

/** During a sync each object is as last written, else as cached. */
export interface Snapshot {
  readonly deployment: Deployment
  readonly sets: Sets
  /** Start of the sync, in milliseconds since 1970. */
  readonly now: number
}

/** Disjoint; together all ReplicaSets that the Deployment controls. */
export interface Sets {
  /** Undefined while no ReplicaSet has the Deployment's template. */
  readonly current: ReplicaSet | undefined
  /** Oldest first. */
  readonly old: ReadonlyArray<ReplicaSet>
}

/** `owned`: all ReplicaSets that the Deployment controls. */
export const take = (deployment: Deployment, owned: ReadonlyArray<ReplicaSet>, now: number): Snapshot => ({
  deployment,
  sets: find(deployment, owned),
  now
})

/** The new ReplicaSet is the oldest whose template equals the Deployment's. */
export const find = (deployment: Deployment, owned: ReadonlyArray<ReplicaSet>): Sets => {
  const sorted = [...owned].sort(ReplicaSets.byAge)
  const current = sorted.find((set) => ReplicaSets.sameTemplate(set.spec?.template, deployment.spec?.template))
  return { current, old: sorted.filter((set) => set !== current) }
}

/** The old ReplicaSets, then the new one. */
export const all = ({ current, old }: Sets): ReadonlyArray<ReplicaSet> =>
  current === undefined ? old : [...old, current]

/** Replaces a ReplicaSet by its written state; one that is not among the old becomes the new one. */
export const replace = (sets: Sets, written: ReplicaSet): Sets => {
  const isOld = sets.old.some((set) => ReplicaSets.isSame(set, written))
  return isOld
    ? { ...sets, old: sets.old.map((set) => (ReplicaSets.isSame(set, written) ? written : set)) }
    : { ...sets, current: written }
}
