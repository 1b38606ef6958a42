/**
 * ttl-after-finished: deletes finished Jobs when their TTL has passed, in the foreground, so that their pods go first. The Job is read from the
 * server before the deletion, because the TTL in the cache may be out of date. Source: pkg/controller/ttlafterfinished.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import { Job } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Plan from "./ttlafterfinished/plan.ts"

export interface Options {
  /** How many Jobs are looked at at once; 5 unless said otherwise. */
  readonly concurrency?: number | undefined
}

/** A Job that has ended and does not say when can never be over for long enough. */
export class TimelessEnd extends Data.TaggedError("TimelessEnd")<{
  readonly job: string
  readonly condition: string
}> {
  override get message(): string {
    return `unable to find the time when the Job ${this.job} finished: its condition ${this.condition} has none`
  }
}

const late = Family.histogram(
  "ttl_after_finished_controller_job_deletion_duration_seconds",
  "How long after its time a Job was deleted",
  Family.exponential(0.1, 2, 14)
)

export const make = (options: Options = {}) =>
  Controller.make({
    name: "ttl-after-finished",
    queue: "ttl_jobs_to_delete",
    metrics: [late],
    for: Job,
    access: [Access.get(Job), Access.remove(Job)],
    concurrency: options.concurrency ?? 5,
    reconcile: ({ key, name, namespace }, { cache, client }) =>
      Effect.gen(function* () {
        const cached = yield* cache.get(Job, key)
        if (cached === undefined) return Reconcile.done
        const early = yield* look(cached, key)
        if (early._tag !== "Delete") return outcome(early)
        const job = yield* client.get(Job, { namespace, name })
        const plan = yield* look(job, key)
        if (plan._tag !== "Delete") return outcome(plan)
        const { uid } = job.metadata
        const preconditions = uid === undefined ? undefined : { uid }
        yield* client.delete(Job, { namespace, name }, { propagationPolicy: "Foreground", preconditions })
        yield* late.observe(Plan.overdue(job, yield* Clock.currentTimeMillis) / 1000)
        yield* Effect.annotateLogs(Effect.logInfo("Deleted a Job whose time after its end is over"), {
          ttlSecondsAfterFinished: job.spec?.ttlSecondsAfterFinished
        })
        return Reconcile.done
      }).pipe(
        Effect.catchIf(
          (error) => ApiError.isApiError(error) && ApiError.hasReason(error, "NotFound"),
          () => Effect.succeed(Reconcile.done)
        )
      )
  })

const look = Effect.fnUntraced(function* (job: Job, key: string) {
  const plan = Plan.plan(job, yield* Clock.currentTimeMillis)
  if (plan._tag === "Timeless") return yield* new TimelessEnd({ job: key, condition: plan.condition })
  if (plan._tag === "Wait" && plan.isAhead) {
    yield* Effect.logWarning("The Job ended in the future: the clocks of this machine and of who ended it differ")
  }
  return plan
})

const outcome = (plan: Exclude<Plan.Plan, { readonly _tag: "Timeless" }>): Reconcile.Outcome =>
  plan._tag === "Wait" ? Reconcile.after(plan.millis) : Reconcile.done
