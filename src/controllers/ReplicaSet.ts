/**
 * replicaset: keeps as many pods of a template as each ReplicaSet asks for. What it does is `workload/replicaLoop`; here is what is its
 * own: the kind, its permissions, and how its objects select pods. Source: spec C.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import { Pod, ReplicaSet } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Metrics from "./shared/workload/metrics.ts"
import * as ReplicaLoop from "./shared/workload/replicaLoop.ts"
import * as Selectors from "./shared/workload/selectors.ts"

export interface Options {
  /** How many ReplicaSets are synced at once; 5 unless said otherwise. */
  readonly concurrency?: number | undefined
}

const kind: ReplicaLoop.Kind<ReplicaSet> = {
  resource: ReplicaSet,
  selector: Selectors.memoised((owner) => Selectors.usable(owner.spec?.selector)),
  countsTerminating: true
}

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "replicaset",
    metrics: [Metrics.ageRatio, Metrics.ofReplicaSets],
    component: "replicaset-controller",
    for: ReplicaSet,
    access: [
      Access.read(ReplicaSet),
      Access.own(ReplicaSet),
      Access.get(ReplicaSet),
      Access.update(ReplicaSet, "status"),
      Access.read(Pod),
      Access.create(Pod),
      Access.patch(Pod),
      Access.remove(Pod),
      Access.record
    ],
    concurrency: options.concurrency ?? 5,
    // A decision on a stale cache is a wrong one: as long as expectations, a sync waits for what the last one wrote.
    ownWritesLimit: "5 minutes",
    body: ({ client, events, queue, store }) =>
      Effect.map(Metrics.skipping(Metrics.ofReplicaSets), (onHeld) => ({
        ...ReplicaLoop.body(kind, {
          owners: store(ReplicaSet),
          pods: store(Pod),
          live: ({ metadata }) => client.get(ReplicaSet, metadata),
          updateStatus: (owner) => client.subresource("status").update(ReplicaSet, owner),
          create: (pod, namespace) => client.create(Pod, pod, { namespace }),
          patch: (pod, patch) => client.patch(Pod, pod.metadata, patch),
          remove: (pod) => client.delete(Pod, pod.metadata),
          events,
          queue
        }),
        onHeld
      }))
  })
