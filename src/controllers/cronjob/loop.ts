/** One term of the CronJob loop: triggers and reconcile with books of their own. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Key } from "../../kube/Key.ts"
import type { CronJob, Job } from "../../kube/resources.ts"
import type * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import type * as Trigger from "../../streams/store/trigger.ts"
import * as Books from "./books.ts"
import * as Handover from "./handover.ts"
import type { Ports } from "./ports.ts"
import * as Sync from "./sync.ts"
import * as Triggers from "./triggers.ts"

export interface Loop {
  /** They run after the stores have changed. */
  readonly onCronJob: Trigger.Trigger<CronJob>
  readonly onJob: Trigger.Trigger<Job>
  readonly reconcile: (request: { readonly key: Key }) => Effect.Effect<Reconcile.Outcome, Sync.Failure>
}

export const make = (given: Ports): Effect.Effect<Loop> =>
  Effect.map(Clock.Clock, (clock) => {
    const books = Books.make()
    const ports = Handover.doubting(given, books)
    const sync = Sync.sync(ports, books)
    return {
      onCronJob: Triggers.cronJob(ports, books, clock),
      onJob: Triggers.job(ports, books),
      reconcile: ({ key }) => sync(key)
    }
  })
