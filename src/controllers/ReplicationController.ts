/**
 * replicationcontroller: keeps the number of pods that each ReplicationController asks for. The loop is `shared/workload/replicaLoop`; this file
 * declares the kind, its permissions, and its selector. Source: pkg/controller/replication.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import { Pod, ReplicationController } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Metrics from "./shared/workload/metrics.ts"
import * as PodControl from "./shared/workload/podControl.ts"
import * as ReplicaLoop from "./shared/workload/replicaLoop.ts"
import * as Selectors from "./shared/workload/selectors.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-rc-syncs", 5, "ReplicationControllers")
}

export type Options = Setting.Options<typeof settings>

const access = [
  Access.read(ReplicationController),
  Access.own(ReplicationController),
  Access.get(ReplicationController),
  Access.update(ReplicationController, "status"),
  Access.read(Pod),
  ...PodControl.access,
  Access.record
] as const

const kind: ReplicaLoop.Kind<ReplicationController> = {
  resource: ReplicationController,
  selector: Selectors.memoised((owner) => Selectors.usable({ matchLabels: owner.spec?.selector })),
  countsTerminating: false
}

// Triggers lower the expectations that the reconcile raises.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "replicationcontroller",
    queue: "replicationmanager",
    metrics: [Metrics.ageRatio],
    component: "replication-controller",
    for: ReplicationController,
    access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    body: (context) => Effect.sync(() => ReplicaLoop.body(kind, depsOf(context)))
  })

const depsOf = ({
  client,
  events,
  queue,
  store
}: Controller.BodyContext<(typeof access)[number]>): ReplicaLoop.Deps<ReplicationController> => ({
  ...PodControl.callsOf(client),
  owners: store(ReplicationController),
  pods: store(Pod),
  live: ({ metadata }) => client.get(ReplicationController, metadata),
  updateStatus: (owner) => client.subresource("status").update(ReplicationController, owner),
  events,
  queue
})
