/** One term of the StatefulSet loop: triggers and reconcile. It remembers nothing between two syncs: what a replica is called is what it is. */
import type * as Effect from "effect/Effect"
import type { Key } from "../../kube/Key.ts"
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../kube/resources.ts"
import type * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import type { Trigger } from "../../streams/store/trigger.ts"
import type { Ports } from "./ports.ts"
import * as Sync from "./sync.ts"
import * as Triggers from "./triggers.ts"
import * as Work from "./work.ts"

export interface Loop {
  /** They run after the stores have changed. */
  readonly onSet: Trigger<StatefulSet>
  readonly onPod: Trigger<Pod>
  readonly onClaim: Trigger<PersistentVolumeClaim>
  readonly onRevision: Trigger<ControllerRevision>
  readonly reconcile: (request: { readonly key: Key }) => Effect.Effect<Reconcile.Outcome | void, Sync.Failure>
}

/** `severalAtOnce`: whether a set may say how many replicas are replaced at a time. */
export const make = (ports: Ports, severalAtOnce: boolean): Loop => {
  const sync = Sync.sync(Work.make({ ports, severalAtOnce }))
  return {
    onSet: Triggers.statefulSet,
    onPod: Triggers.pod(ports),
    onClaim: Triggers.claim(ports),
    onRevision: Triggers.revision(ports),
    reconcile: ({ key }) => sync(key)
  }
}
