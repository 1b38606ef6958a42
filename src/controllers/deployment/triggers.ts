/**
 * Which Deployments a watch event enqueues: a ReplicaSet its controller, or, as an orphan, every Deployment whose
 * selector matches; a deleted pod only a Recreate Deployment that waits for its last old pod. Source:
 * pkg/controller/deployment: addReplicaSet, updateReplicaSet, deletePod.
 */
import * as Key from "../../kube/Key.ts"
import { Deployment, type Pod, ReplicaSet } from "../../kube/resources.ts"
import type { Trigger } from "../../streams/store/trigger.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import * as Owners from "../shared/workload/owners.ts"
import * as Selectors from "../shared/workload/selectors.ts"
import type { Deps } from "./deps.ts"

type Stores = Pick<Deps, "deployments" | "sets" | "pods">

export const replicaSets = (stores: Stores): Trigger<ReplicaSet> => {
  const owners: Owners.Owners<Deployment> = {
    resource: Deployment,
    store: stores.deployments,
    selects: Selectors.selecting(Selectors.memoised(({ spec }) => Selectors.usable(spec?.selector)))
  }
  return (delta) =>
    // A resync of the ReplicaSet enqueues nothing, because every Deployment is resynced as well.
    delta._tag === "Updated" && delta.previous === delta.object ? [] : Owners.concerned(owners, delta).map(Key.of)
}

export const pods =
  (stores: Stores): Trigger<Pod> =>
  (delta) => {
    if (delta._tag !== "Deleted") return []
    const set = Owners.resolve({ resource: ReplicaSet, store: stores.sets }, delta.object)
    if (set === undefined) return []
    const deployment = Owners.resolve({ resource: Deployment, store: stores.deployments }, set)
    if (deployment?.spec?.strategy?.type !== "Recreate") return []
    const sets = stores.sets.byIndex(Indexes.byController.name, deployment.metadata.uid ?? "")
    return sets.every((one) => podsOf(stores, one).length === 0) ? [Key.of(deployment)] : []
  }

/** The pods that a ReplicaSet controls, in every phase. */
export const podsOf = ({ pods }: Pick<Deps, "pods">, set: ReplicaSet): ReadonlyArray<Pod> =>
  pods.byIndex(Indexes.byController.name, set.metadata.uid ?? "")
