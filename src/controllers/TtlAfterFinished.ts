/**
 * ttl-after-finished: deletes finished Jobs when their TTL has expired, with foreground propagation, so that their pods are deleted first. The Job is
 * read from the server before the deletion, because the TTL in the cache may be stale. Source: pkg/controller/ttlafterfinished: processJob.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import { Job } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Plan from "./ttlafterfinished/plan.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-ttl-after-finished-syncs", 5, "Jobs that have ended")
}

export type Options = Setting.Options<typeof settings>

const access = [Access.get(Job), Access.remove(Job)]

/** The terminal condition of a Job has no transition time, so its TTL never expires. */
export class TimelessEnd extends Data.TaggedError("TimelessEnd")<{
  readonly job: string
  readonly condition: string
}> {
  override get message(): string {
    return `unable to find the time when the Job ${this.job} finished: its condition ${this.condition} has none`
  }
}

const deletionDelay = Family.histogram(
  "ttl_after_finished_controller_job_deletion_duration_seconds",
  "Seconds from the expiry of a Job's TTL to its deletion",
  Family.exponential(0.1, 2, 14)
)

export const make = (options: Options = {}) =>
  Controller.make({
    name: "ttl-after-finished",
    queue: "ttl_jobs_to_delete",
    metrics: [deletionDelay],
    for: Job,
    access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    reconcile: ({ key, name, namespace }, { cache, client }) =>
      Effect.gen(function* () {
        const cached = yield* cache.get(Job, key)
        if (cached === undefined) return Reconcile.done
        const cachedPlan = yield* planNow(cached, key)
        if (cachedPlan._tag !== "Delete") return outcome(cachedPlan)
        const job = yield* client.get(Job, { namespace, name })
        const plan = yield* planNow(job, key)
        if (plan._tag !== "Delete") return outcome(plan)
        const { uid } = job.metadata
        const preconditions = uid === undefined ? undefined : { uid }
        yield* client.delete(Job, { namespace, name }, { propagationPolicy: "Foreground", preconditions })
        yield* deletionDelay.observe(Plan.overdue(job, yield* Clock.currentTimeMillis) / 1000)
        yield* Effect.annotateLogs(Effect.logInfo("Deleted a finished Job whose TTL has expired"), {
          ttlSecondsAfterFinished: job.spec?.ttlSecondsAfterFinished
        })
        return Reconcile.done
      }).pipe(ApiError.unlessGone)
  })

const planNow = Effect.fnUntraced(function* (job: Job, key: string) {
  const plan = Plan.plan(job, yield* Clock.currentTimeMillis)
  if (plan._tag === "Timeless") return yield* new TimelessEnd({ job: key, condition: plan.condition })
  if (plan._tag === "Wait" && plan.isAhead) {
    yield* Effect.logWarning(
      "The Job finished in the future: the clock of this machine differs from the clock that set its transition time"
    )
  }
  return plan
})

const outcome = (plan: Exclude<Plan.Plan, { readonly _tag: "Timeless" }>): Reconcile.Outcome =>
  plan._tag === "Wait" ? Reconcile.after(plan.millis) : Reconcile.done
