/**
 * statefulset: keeps replicas with stable names and claims, creates them in ordinal order and replaces them in reverse order. Each template is kept
 * as a ControllerRevision. `statefulset/` decides and applies; this file holds the watches and limits. Source:
 * pkg/controller/statefulset.
 */
import * as Effect from "effect/Effect"
import type { Key } from "../kube/Key.ts"
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import type * as Reconcile from "../streams/reconcile/Reconcile.ts"
import type { Trigger } from "../streams/store/trigger.ts"
import * as Deps from "./statefulset/deps.ts"
import * as Metrics from "./statefulset/metrics.ts"
import * as Sync from "./statefulset/sync.ts"
import * as Triggers from "./statefulset/triggers.ts"
import * as Indexes from "./shared/workload/indexes.ts"
import * as Skips from "./shared/workload/metrics.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-statefulset-syncs", 5, "StatefulSets"),
  maxUnavailable: Setting.gate({
    name: "MaxUnavailableStatefulSet",
    stage: "BETA",
    byDefault: false,
    summary: "As many replicas of a StatefulSet are replaced at a time as its maxUnavailable allows"
  })
}

export type Options = Setting.Options<typeof settings>

// The syncs of a term share a limit of calls in flight and what they have learned of the server, and triggers read the stores.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "statefulset",
    metrics: Metrics.families,
    component: "statefulset-controller",
    for: StatefulSet,
    access: Deps.access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    // A decision on a stale cache is wrong, so a sync waits until the cache shows the last sync's writes.
    readYourWritesLimit: "5 minutes",
    body: (context) =>
      Effect.map(Skips.skipping(Metrics.skips), (onHeld) => {
        const { onClaim, onPod, onRevision, onSet, reconcile } = loopOf(
          Deps.depsOf(context),
          Setting.orDefault(options.maxUnavailable, settings.maxUnavailable)
        )
        return {
          sources: [
            Controller.watch(StatefulSet, onSet),
            Controller.watch(Pod, onPod, { indexes: Indexes.both }),
            Controller.watch(PersistentVolumeClaim, onClaim),
            Controller.watch(ControllerRevision, onRevision, { indexes: Indexes.both })
          ],
          reconcile,
          onHeld
        }
      })
  })

/** Triggers and reconcile of one leadership term. No expectations are needed, because the names of replicas are stable. */
export interface Loop {
  /** Triggers run after the stores have changed. */
  readonly onSet: Trigger<StatefulSet>
  readonly onPod: Trigger<Pod>
  readonly onClaim: Trigger<PersistentVolumeClaim>
  readonly onRevision: Trigger<ControllerRevision>
  readonly reconcile: (request: { readonly key: Key }) => Effect.Effect<Reconcile.Outcome | void, Sync.Failure>
}

/** `severalAtOnce`: whether `maxUnavailable` of a set is used. */
export const loopOf = (deps: Deps.Deps, severalAtOnce: boolean): Loop => {
  const sync = Sync.sync(deps, severalAtOnce)
  return {
    onSet: Triggers.statefulSet,
    onPod: Triggers.pod(deps),
    onClaim: Triggers.claim(deps),
    onRevision: Triggers.revision(deps),
    reconcile: ({ key }) => sync(key)
  }
}
