/**
 * disruption: writes to the status of each PodDisruptionBudget how many of its pods may be disrupted now; the eviction
 * API counts that number down. `disruption/` decides and applies; this file holds the watches, the permissions and the
 * API calls. Source: pkg/controller/disruption.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as Resource from "../kube/Resource.ts"
import {
  Deployment,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  StatefulSet
} from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import { Discovery } from "../layers/Discovery.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import * as Coverage from "./disruption/coverage.ts"
import * as Sync from "./disruption/sync.ts"
import * as Triggers from "./disruption/triggers.ts"
import * as Scales from "./shared/scale/scales.ts"
import * as Indexes from "./shared/workload/indexes.ts"

export const make = () =>
  Controller.stateful({
    name: "disruption",
    metrics: Sync.families,
    component: "controllermanager",
    for: PodDisruptionBudget,
    access: [
      Access.read(PodDisruptionBudget),
      Access.update(PodDisruptionBudget, "status"),
      Access.read(Pod),
      Access.patch(Pod, "status"),
      Access.read(ReplicationController),
      Access.read(ReplicaSet),
      Access.read(Deployment),
      Access.read(StatefulSet),
      Access.get(Resource.anything, "scale"),
      Access.record
    ],
    body: Effect.fnUntraced(function* ({ client, events, store }) {
      const scales = Scales.make(yield* KubeClient, yield* Discovery)
      const deps: Sync.Deps = {
        budgets: store(PodDisruptionBudget),
        pods: store(Pod),
        replicationControllers: store(ReplicationController),
        replicaSets: store(ReplicaSet),
        deployments: store(Deployment),
        statefulSets: store(StatefulSet),
        scaleOf: scales.get,
        updateStatus: (budget) => client.subresource("status").update(PodDisruptionBudget, budget),
        patchPodStatus: ({ metadata }, patch) => client.subresource("status").patch(Pod, metadata, patch),
        events
      }
      const state: Triggers.State = { coverage: Coverage.make(), written: new Map() }
      const sync = Sync.sync(deps, state)
      const ofController = Triggers.controller(deps.pods, state)
      return {
        sources: [
          Controller.watch(PodDisruptionBudget, Triggers.budget(deps.pods, state)),
          Controller.watch(Pod, Triggers.pod(state), { indexes: [Indexes.byController] }),
          Controller.watch(ReplicationController, ofController),
          Controller.watch(ReplicaSet, ofController, { indexes: [Indexes.byController] }),
          Controller.watch(Deployment, Triggers.deployment(deps.replicaSets, deps.pods, state)),
          Controller.watch(StatefulSet, ofController)
        ],
        reconcile: ({ key }) => sync(key)
      }
    })
  })
