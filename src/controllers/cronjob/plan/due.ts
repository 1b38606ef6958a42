/**
 * The most recent time of a schedule that is due, and the delay until the next. Of several missed times only the latest
 * is run. Times are milliseconds since 1970. Source: pkg/controller/cronjob: mostRecentScheduleTime,
 * nextScheduleTimeDuration.
 */
import * as Schedule from "../../../kube/cron/Schedule.ts"
import type { CronJob } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import * as Runs from "../runs.ts"

export type Due =
  | { readonly _tag: "NotYet" }
  /** `isMany`: more than about a hundred times were missed. */
  | { readonly _tag: "Due"; readonly time: number; readonly isMany: boolean }
  /** Nothing is due; the starting deadline of this time has passed. */
  | { readonly _tag: "Missed"; readonly time: number }
  /** The schedule matches no time. */
  | { readonly _tag: "Never" }

/**
 * More missed times than this are reported as TooManyMissedTimes. Source: pkg/controller/cronjob:
 * mostRecentScheduleTime.
 */
const many = 100

/** Times count from the last schedule time, or from the creation of the CronJob. */
const since = (cronJob: CronJob, status: Runs.Status, now: number): number =>
  Runs.lastTimeOf(status) ?? Time.parse(cronJob.metadata.creationTimestamp) ?? now

export const mostRecent = (schedule: Schedule.Schedule, cronJob: CronJob, status: Runs.Status, now: number): Due => {
  const begin = since(cronJob, status, now)
  const deadline = cronJob.spec?.startingDeadlineSeconds
  const earliest = deadline === undefined ? begin : Math.max(begin, now - deadline * 1000)
  const first = Schedule.next(schedule, earliest)
  if (first === undefined) return { _tag: "Never" }
  if (first > now) {
    const missed = earliest > begin ? Schedule.latest(schedule, begin, now) : undefined
    return missed === undefined ? { _tag: "NotYet" } : { _tag: "Missed", time: missed }
  }
  const second = Schedule.next(schedule, first)
  const missed = second === undefined || second > now ? 0 : Math.floor((now - first) / (second - first)) + 1
  const time = missed === 0 ? first : (Schedule.latest(schedule, earliest, now) ?? first)
  return { _tag: "Due", time, isMany: missed > many }
}

/**
 * The next sync is this much later than the schedule time, because clocks differ. Source: pkg/controller/cronjob:
 * nextScheduleDelta.
 */
const allowance = 100

/** Milliseconds until the next schedule time. */
export const wait = (
  schedule: Schedule.Schedule,
  cronJob: CronJob,
  status: Runs.Status,
  now: number
): number | undefined => {
  const begin = since(cronJob, status, now)
  const next = Schedule.next(schedule, Schedule.latest(schedule, begin, now) ?? begin)
  return next === undefined ? undefined : next + allowance - now
}
