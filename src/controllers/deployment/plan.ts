/**
 * Which way a sync goes: the first that applies; and the steps of the strategy Recreate, in which no new pod starts before the last old one
 * has ended. Source: pkg/controller/deployment: syncDeployment, rolloutRecreate.
 */
import * as PodState from "../../kube/pod.ts"
import type { Deployment, Pod, ReplicaSet } from "../../kube/resources.ts"
import * as Bounds from "./bounds.ts"
import * as ReplicaSets from "./replicaSets.ts"
import * as Rollback from "./rollback.ts"
import * as Scaling from "./scaling.ts"

export type Path =
  /** It is on its way out: nothing but the status. */
  | { readonly _tag: "Report" }
  /** It is paused or was scaled: sizes change, templates do not. */
  | { readonly _tag: "Scale" }
  /** Back to the template of this revision; zero stands for the one before. */
  | { readonly _tag: "Rollback"; readonly revision: bigint }
  | { readonly _tag: "Recreate" }
  | { readonly _tag: "Rolling" }
  | { readonly _tag: "UnknownStrategy"; readonly type: string }

export const pathOf = (deployment: Deployment, sets: ReplicaSets.Sets): Path => {
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

/** Nothing in it says which pods are meant, so every pod is. No server stores such a selector any more. */
export const selectsEverything = (deployment: Deployment): boolean => {
  const { matchExpressions = [], matchLabels = {} } = deployment.spec?.selector ?? {}
  return matchExpressions.length === 0 && Object.keys(matchLabels).length === 0
}

/** Every old set with pods goes to zero. */
export const shrinkToZero = ({ old }: ReplicaSets.Sets): ReadonlyArray<Scaling.Resize> =>
  old.filter(ReplicaSets.isActive).map((set) => Scaling.to(set, 0))

/** The new set gets everything at once. */
export const growAtOnce = (deployment: Deployment, { current }: ReplicaSets.Sets): ReadonlyArray<Scaling.Resize> =>
  current === undefined ? [] : [Scaling.to(current, Bounds.replicasOf(deployment))]

/** Whether an old set still reports pods, or a pod of one has not ended. A pod that is terminating or lost has not. */
export const isWaitingForPods = ({ old }: ReplicaSets.Sets, podsOf: (set: ReplicaSet) => ReadonlyArray<Pod>): boolean =>
  old.some((set) => ReplicaSets.replicas(set) > 0 || podsOf(set).some((pod) => !PodState.isTerminal(pod)))
