/**
 * Which path a sync takes, the first that applies; and the steps of the strategy Recreate, which starts no new pod
 * before the last old one has ended. Source: pkg/controller/deployment: syncDeployment, rolloutRecreate.
 */
import * as PodState from "../../../kube/pod.ts"
import type { Deployment, Pod, ReplicaSet } from "../../../kube/resources.ts"
import * as Bounds from "./bounds.ts"
import * as ReplicaSets from "../replicaSets.ts"
import type * as Snapshot from "../snapshot.ts"
import * as Rollback from "./rollback.ts"
import * as Scaling from "./scaling.ts"

export type Plan =
  /** The Deployment is being deleted: only the status is written. */
  | { readonly _tag: "Report" }
  /** The Deployment is paused or was scaled: only sizes change. */
  | { readonly _tag: "Scale" }
  /** Restores the template of this revision; zero is the previous one. */
  | { readonly _tag: "Rollback"; readonly revision: bigint }
  | { readonly _tag: "Recreate" }
  | { readonly _tag: "Rolling" }
  | { readonly _tag: "UnknownStrategy"; readonly type: string }

export const plan = ({ deployment, sets }: Pick<Snapshot.Snapshot, "deployment" | "sets">): Plan => {
  if (deployment.metadata.deletionTimestamp !== undefined) return { _tag: "Report" }
  if (deployment.spec?.paused === true) return { _tag: "Scale" }
  const revision = Rollback.requested(deployment)
  if (revision !== undefined) return { _tag: "Rollback", revision }
  if (Scaling.isDue(deployment, sets)) return { _tag: "Scale" }
  const type = deployment.spec?.strategy?.type ?? ""
  switch (type) {
    case "Recreate":
      return { _tag: "Recreate" }
    case "RollingUpdate":
      return { _tag: "Rolling" }
    default:
      return { _tag: "UnknownStrategy", type }
  }
}

/** An empty selector selects every pod. Current servers reject it. */
export const selectsEverything = (deployment: Deployment): boolean => {
  const { matchExpressions = [], matchLabels = {} } = deployment.spec?.selector ?? {}
  return matchExpressions.length === 0 && Object.keys(matchLabels).length === 0
}

/** Scales every old ReplicaSet with replicas to zero. */
export const shrinkToZero = ({ old }: Snapshot.Sets): ReadonlyArray<Scaling.Resize> =>
  old.filter(ReplicaSets.isActive).map((set) => Scaling.to(set, 0))

/** Scales the new ReplicaSet to its full size. */
export const growAtOnce = (deployment: Deployment, { current }: Snapshot.Sets): ReadonlyArray<Scaling.Resize> =>
  current === undefined ? [] : [Scaling.to(current, Bounds.replicasOf(deployment))]

/** Whether an old ReplicaSet reports replicas or has a pod that is not terminal; a terminating pod counts. */
export const isWaitingForPods = ({ old }: Snapshot.Sets, podsOf: (set: ReplicaSet) => ReadonlyArray<Pod>): boolean =>
  old.some((set) => ReplicaSets.replicas(set) > 0 || podsOf(set).some((pod) => !PodState.isTerminal(pod)))
