/**
 * replicaset: keeps the number of pods that each ReplicaSet asks for. The loop is `shared/workload/replicaLoop`; this file declares the kind, its
 * permissions, and its selector. Source: pkg/controller/replicaset.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import { Pod, ReplicaSet } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Metrics from "./shared/workload/metrics.ts"
import * as PodControl from "./shared/workload/podControl.ts"
import * as ReplicaLoop from "./shared/workload/replicaLoop.ts"
import * as Selectors from "./shared/workload/selectors.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-replicaset-syncs", 5, "ReplicaSets")
}

export type Options = Setting.Options<typeof settings>

const access = [
  Access.read(ReplicaSet),
  Access.own(ReplicaSet),
  Access.get(ReplicaSet),
  Access.update(ReplicaSet, "status"),
  Access.read(Pod),
  ...PodControl.access,
  Access.record
] as const

const kind: ReplicaLoop.Kind<ReplicaSet> = {
  resource: ReplicaSet,
  selector: Selectors.memoised((owner) => Selectors.usable(owner.spec?.selector)),
  countsTerminating: true
}

// Triggers lower the expectations that the reconcile raises.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "replicaset",
    metrics: [Metrics.ageRatio, Metrics.ofReplicaSets],
    component: "replicaset-controller",
    for: ReplicaSet,
    access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes, at most as
    // long as expectations live.
    readYourWritesLimit: "5 minutes",
    body: (context) =>
      Effect.map(Metrics.skipping(Metrics.ofReplicaSets), (onHeld) => ({
        ...ReplicaLoop.body(kind, depsOf(context)),
        onHeld
      }))
  })

const depsOf = ({
  client,
  events,
  queue,
  store
}: Controller.BodyContext<(typeof access)[number]>): ReplicaLoop.Deps<ReplicaSet> => ({
  ...PodControl.callsOf(client),
  owners: store(ReplicaSet),
  pods: store(Pod),
  live: ({ metadata }) => client.get(ReplicaSet, metadata),
  updateStatus: (owner) => client.subresource("status").update(ReplicaSet, owner),
  events,
  queue
})
