/**
 * disruption: writes to the status of each PodDisruptionBudget how many of its pods may be disrupted now; the eviction
 * API counts that number down. `disruption/` decides and applies. Source: pkg/controller/disruption.
 */
import * as Effect from "effect/Effect"
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
import * as Apply from "./disruption/apply.ts"
import * as Coverage from "./disruption/coverage.ts"
import * as Deps from "./disruption/deps.ts"
import * as Sync from "./disruption/sync.ts"
import * as Triggers from "./disruption/triggers.ts"
import * as Scales from "./shared/scale/scales.ts"
import * as Indexes from "./shared/workload/indexes.ts"

// The triggers keep the pods of each budget, and recognise the statuses that the syncs wrote.
export const make = () =>
  Controller.stateful({
    name: "disruption",
    metrics: Apply.families,
    component: "controllermanager",
    for: PodDisruptionBudget,
    access: Deps.access,
    body: Effect.fnUntraced(function* (context) {
      const deps = Deps.depsOf(context, Scales.make(yield* KubeClient, yield* Discovery))
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
