/**
 * Which Deployments a watch event enqueues: a ReplicaSet its controller, or, as an orphan, every Deployment whose
 * selector matches; a deleted pod only a Recreate Deployment that waits for its last old pod. Source:
 * pkg/controller/deployment: addReplicaSet, updateReplicaSet, deletePod.
 */
import * as Key from "../../kube/Key.ts"
import { Deployment, type Pod, ReplicaSet } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Trigger } from "../../streams/store/trigger.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import * as Owners from "../shared/workload/owners.ts"
import * as Selectors from "../shared/workload/selectors.ts"
import { type Deps, podsOf } from "./deps.ts"

type Stores = Pick<Deps, "deployments" | "sets" | "pods">

export const replicaSets = (stores: Stores): Trigger<ReplicaSet> => {
  const selectorOf = Selectors.memoised((deployment: Deployment) => Selectors.usable(deployment.spec?.selector))
  const owners: Owners.Owners<Deployment> = {
    resource: Deployment,
    store: stores.deployments,
    selects: (deployment, labels) => {
      const selector = selectorOf(deployment)
      return selector !== undefined && Selector.matchesLabels(selector, labels)
    }
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
