/** Recreate: no new pod before the last old one is gone. Source: spec B.7. */
import * as PodState from "../../kube/pod.ts"
import type { Deployment, Pod, ReplicaSet } from "../../kube/resources.ts"
import * as Bounds from "./bounds.ts"
import * as ReplicaSets from "./replicaSets.ts"
import * as Scaling from "./scaling.ts"

/** Every old set with pods goes to zero. */
export const shrink = ({ old }: ReplicaSets.Sets): ReadonlyArray<Scaling.Resize> =>
  old.filter(ReplicaSets.isActive).map((set) => Scaling.to(set, 0))

/** The new set gets everything at once. */
export const grow = (deployment: Deployment, { current }: ReplicaSets.Sets): ReadonlyArray<Scaling.Resize> =>
  current === undefined ? [] : [Scaling.to(current, Bounds.replicasOf(deployment))]

/** Whether an old set still reports pods, or a pod of one has not ended. A pod that is terminating or lost has not. */
export const isWaiting = ({ old }: ReplicaSets.Sets, podsOf: (set: ReplicaSet) => ReadonlyArray<Pod>): boolean =>
  old.some((set) => ReplicaSets.replicas(set) > 0 || podsOf(set).some((pod) => !PodState.isTerminal(pod)))
