/**
 * daemonset: keeps one pod of the template on each eligible node and updates them node by node. Each template is kept
 * as a ControllerRevision. `daemonset/` decides and applies; this file holds the watches and limits. Source:
 * pkg/controller/daemon: syncDaemonSet.
 */
import * as Effect from "effect/Effect"
import type { Key } from "../kube/Key.ts"
import { ControllerRevision, DaemonSet, Node, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import type * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type { Trigger } from "../streams/store/trigger.ts"
import * as Apply from "./daemonset/apply.ts"
import * as Deps from "./daemonset/deps.ts"
import * as Pods from "./daemonset/pods.ts"
import * as State from "./daemonset/state.ts"
import * as Sync from "./daemonset/sync.ts"
import * as Triggers from "./daemonset/triggers.ts"
import * as Indexes from "./shared/workload/indexes.ts"
import * as Skips from "./shared/workload/metrics.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-daemonset-syncs", 2, "DaemonSets")
}

export type Options = Setting.Options<typeof settings>

// Triggers lower the expectations that the reconcile raises, and mark the DaemonSets that the cache is fresh for.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "daemonset",
    metrics: Apply.families,
    component: "daemonset-controller",
    for: DaemonSet,
    access: Deps.access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes, at most as
    // long as expectations live.
    readYourWritesLimit: "5 minutes",
    body: (context) =>
      Effect.map(Skips.skipping(Apply.skips), (onHeld) => {
        const { onNode, onPod, onRevision, onSet, reconcile } = loopOf(Deps.depsOf(context))
        return {
          sources: [
            Controller.watch(DaemonSet, onSet),
            Controller.watch(Pod, onPod, { indexes: [...Indexes.both, Pods.byPlace] }),
            Controller.watch(ControllerRevision, onRevision, { indexes: Indexes.both }),
            Controller.watch(Node, onNode)
          ],
          reconcile,
          onHeld
        }
      })
  })

/** Triggers and reconcile of one leadership term, with their own state. */
export interface Loop {
  /** Triggers run after the stores have changed. */
  readonly onSet: Trigger<DaemonSet>
  readonly onPod: Trigger<Pod>
  readonly onNode: Trigger<Node>
  readonly onRevision: Trigger<ControllerRevision>
  readonly reconcile: (request: { readonly key: Key }) => Effect.Effect<Reconcile.Outcome | void, Sync.Failure>
}

export const loopOf = (given: Deps.Deps): Loop => {
  const state = State.make()
  const deps = Deps.distrustOnUnknownOutcome(given, state)
  const sync = Sync.sync(deps, state)
  return {
    onSet: Triggers.daemonSet(state),
    onPod: Triggers.pod(deps, state),
    onNode: Triggers.node(deps),
    onRevision: Triggers.revision(deps),
    reconcile: ({ key }) => sync(key)
  }
}
