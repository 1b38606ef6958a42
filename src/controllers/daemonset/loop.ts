/** One term of the DaemonSet loop: triggers and reconcile with books of their own. */
import type * as Effect from "effect/Effect"
import type { Key } from "../../kube/Key.ts"
import type { ControllerRevision, DaemonSet, Node, Pod } from "../../kube/resources.ts"
import type * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import type { Trigger } from "../../streams/store/trigger.ts"
import * as Expectations from "../shared/workload/expectations.ts"
import * as Handover from "../shared/workload/handover.ts"
import * as Backoff from "./backoff.ts"
import * as DaemonHandover from "./handover.ts"
import type { Ports } from "./ports.ts"
import * as Sync from "./sync.ts"
import * as Triggers from "./triggers.ts"
import * as Work from "./work.ts"

export interface Loop {
  /** They run after the stores have changed. */
  readonly onSet: Trigger<DaemonSet>
  readonly onPod: Trigger<Pod>
  readonly onNode: Trigger<Node>
  readonly onRevision: Trigger<ControllerRevision>
  readonly reconcile: (request: { readonly key: Key }) => Effect.Effect<Reconcile.Outcome | void, Sync.Failure>
}

export const make = (given: Ports): Loop => {
  const books = Expectations.make()
  const trust = Handover.trust()
  const ports = DaemonHandover.doubting(given, trust)
  const sync = Sync.sync(Work.make({ ports, books, trust, backoff: Backoff.make() }))
  return {
    onSet: Triggers.daemonSet(books, trust),
    onPod: Triggers.pod(ports, books),
    onNode: Triggers.node(ports),
    onRevision: Triggers.revision(ports),
    reconcile: ({ key }) => sync(key)
  }
}
