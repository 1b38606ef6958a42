/**
 * One term of the Job loop: triggers and reconcile with books of their own. Keys are those of Jobs, and beside them those of pods that are
 * held for nobody.
 */
import type * as Effect from "effect/Effect"
import type { Key } from "../../kube/Key.ts"
import type { Job, Pod } from "../../kube/resources.ts"
import type * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import type * as Trigger from "../../streams/store/trigger.ts"
import * as Books from "./books.ts"
import * as Handover from "./handover.ts"
import * as Orphans from "./orphans.ts"
import type { Ports } from "./ports.ts"
import * as Sync from "./sync.ts"
import * as Triggers from "./triggers.ts"

export interface Loop {
  /** They run after the stores have changed. */
  readonly onJob: Trigger.Trigger<Job>
  readonly onPod: Trigger.Trigger<Pod>
  readonly reconcile: (request: { readonly key: Key }) => Effect.Effect<Reconcile.Outcome | void, Sync.Failure>
}

export const make = (given: Ports): Loop => {
  const books = Books.make()
  const ports = Handover.doubting(given, books)
  const sync = Sync.sync(ports, books)
  const letGo = Orphans.sync(ports, books)
  return {
    onJob: Triggers.job(ports, books),
    onPod: Triggers.pod(ports, books),
    reconcile: ({ key }) => {
      const pod = Orphans.podOf(key)
      return pod === undefined ? sync(key) : letGo(pod)
    }
  }
}
