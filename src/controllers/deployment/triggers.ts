/**
 * Which Deployments a change concerns. A ReplicaSet concerns its owner, and everybody who may want it while it has none; a pod concerns
 * nobody, except that the last one to go is what a Recreate waits for. Synchronous reads of the cache, nothing else. Source: spec B.1.
 */
import * as Key from "../../kube/Key.ts"
import { Deployment, type Pod, ReplicaSet } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type * as Store from "../../streams/store/Store.ts"
import type { Trigger } from "../../streams/store/trigger.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import * as Owners from "../shared/workload/owners.ts"
import * as Selectors from "../shared/workload/selectors.ts"

export interface Stores {
  readonly deployments: Store.Readable<Deployment>
  readonly sets: Store.Readable<ReplicaSet>
  readonly pods: Store.Readable<Pod>
}

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
    // A resync says nothing: every Deployment has one of its own.
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

/** The pods a set controls, in every phase. */
export const podsOf = ({ pods }: Pick<Stores, "pods">, set: ReplicaSet): ReadonlyArray<Pod> =>
  pods.byIndex(Indexes.byController.name, set.metadata.uid ?? "")
