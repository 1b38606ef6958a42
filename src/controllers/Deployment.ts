/**
 * deployment: rolls out pod templates. Each template gets a ReplicaSet; the controller moves replicas from the old
 * ReplicaSets to the new one within the bounds of the strategy and reports progress. It never writes pods.
 * `deployment/` decides and applies; this file holds the watches and limits. Source: pkg/controller/deployment:
 * syncDeployment.
 */
import * as Effect from "effect/Effect"
import type { Key } from "../kube/Key.ts"
import { Deployment, Pod, ReplicaSet } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import type * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Trigger from "../streams/store/trigger.ts"
import * as Deps from "./deployment/deps.ts"
import * as Sync from "./deployment/sync.ts"
import * as Triggers from "./deployment/triggers.ts"
import * as Indexes from "./shared/workload/indexes.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-deployment-syncs", 5, "Deployments")
}

export type Options = Setting.Options<typeof settings>

// The syncs of a term share what they have learned of the server, and triggers read the stores.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "deployment",
    component: "deployment-controller",
    for: Deployment,
    access: Deps.access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes, at most as
    // long as expectations live.
    readYourWritesLimit: "5 minutes",
    retries: 15,
    body: (context) =>
      Effect.sync(() => {
        const { onDeployment, onPod, onSet, reconcile } = loopOf(Deps.depsOf(context))
        return {
          sources: [
            Controller.watch(Deployment, onDeployment),
            Controller.watch(ReplicaSet, onSet, { indexes: Indexes.both }),
            Controller.watch(Pod, onPod, { indexes: [Indexes.byController] })
          ],
          reconcile
        }
      })
  })

/** Triggers and reconcile of one leadership term, with their own state. */
interface Loop {
  /** Triggers run after the stores have changed. */
  readonly onDeployment: Trigger.Trigger<Deployment>
  readonly onSet: Trigger.Trigger<ReplicaSet>
  readonly onPod: Trigger.Trigger<Pod>
  readonly reconcile: (request: { readonly key: Key }) => Effect.Effect<Reconcile.Outcome, Sync.Failure>
}

const loopOf = (deps: Deps.Deps): Loop => {
  const sync = Sync.sync(deps)
  return {
    onDeployment: Trigger.self,
    onSet: Triggers.replicaSets(deps),
    onPod: Triggers.pods(deps),
    reconcile: ({ key }) => sync(key)
  }
}
