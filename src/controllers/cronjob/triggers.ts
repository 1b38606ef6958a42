/**
 * When a watch event enqueues a CronJob: its own events at once, but a changed schedule at the next time of the new
 * schedule, so that past times of the new schedule are not run. A Job enqueues its controller and its previous controller.
 * Triggers run after the stores have changed. Source: pkg/controller/cronjob: updateCronJob, addJob, updateJob,
 * deleteJob.
 */
import type * as Clock from "effect/Clock"
import * as Result from "effect/Result"
import * as Key from "../../kube/Key.ts"
import { CronJob, type Job } from "../../kube/resources.ts"
import type * as Trigger from "../../streams/store/trigger.ts"
import * as Owners from "../shared/workload/owners.ts"
import type { State } from "./state.ts"
import * as Plan from "./plan/plan.ts"
import * as Due from "./plan/due.ts"
import * as Runs from "./runs.ts"
import type { Deps } from "./deps.ts"

const none: ReadonlyArray<Key.Key> = []

export const cronJob =
  ({ queue, zone }: Pick<Deps, "queue" | "zone">, state: State, clock: Clock.Clock): Trigger.Trigger<CronJob> =>
  (delta) => {
    const { object } = delta
    const key = Key.of(object)
    const { uid = "" } = object.metadata
    if (delta._tag === "Deleted") {
      state.forget(key, uid)
      return none
    }
    if (delta._tag === "Created") {
      if (!delta.initial) state.trust(uid)
      return [key]
    }
    const { metadata, spec } = delta.previous
    if (metadata.uid !== uid) state.forget(key, metadata.uid ?? "")
    else if (spec?.schedule !== object.spec?.schedule || spec?.timeZone !== object.spec?.timeZone) {
      const schedule = Plan.scheduleOf(object, zone)
      if (Result.isSuccess(schedule)) {
        const after = Due.wait(schedule.success, object, Runs.statusOf(object), clock.currentTimeMillisUnsafe())
        if (after === undefined) return [key]
        queue.addWithUnsafe(key, { after })
        return none
      }
      state.markUnparseable(key)
    }
    return [key]
  }

export const job =
  ({ cronJobs }: Pick<Deps, "cronJobs">, state: State): Trigger.Trigger<Job> =>
  (delta) => {
    const { object } = delta
    if (delta._tag === "Updated" && delta.previous === object) return none
    if (delta._tag === "Deleted") state.forgetJob(object.metadata.uid ?? "")
    const owners = { resource: CronJob, store: cronJobs }
    const now = Owners.resolve(owners, object)
    const before = delta._tag === "Updated" ? Owners.resolve(owners, delta.previous) : undefined
    return [now, before].flatMap((one, i, all) => (one === undefined || all.indexOf(one) !== i ? none : [Key.of(one)]))
  }
