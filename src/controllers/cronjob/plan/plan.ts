/**
 * What to do for a CronJob now: nothing, wait, or create a Job. A pure function of the CronJob, its status and the
 * time. Source: pkg/controller/cronjob: syncCronJob.
 */
import * as Result from "effect/Result"
import * as Schedule from "../../../kube/cron/Schedule.ts"
import * as Zone from "../../../kube/cron/Zone.ts"
import type { CronJob } from "../../../kube/resources.ts"
import * as Due from "./due.ts"
import * as Runs from "../runs.ts"

export interface Decision {
  readonly eventDrafts: ReadonlyArray<Runs.EventDraft>
  /** A time whose starting deadline has passed; reported once. */
  readonly missed: number | undefined
  /** The Job to create. */
  readonly run: Run | undefined
  /** Milliseconds until the next sync; undefined if only an event can change the decision. */
  readonly wait: number | undefined
}

export interface Run {
  readonly time: number
  /** Active Jobs to delete first. */
  readonly replaces: ReadonlyArray<Runs.Reference>
  /** Whether no other Job may be active beside this one. */
  readonly isAlone: boolean
}

export interface Given {
  readonly cronJob: CronJob
  readonly status: Runs.Status
  readonly now: number
  /** For schedules without a time zone: the zone of the process. */
  readonly zone: Zone.Zone
}

const stop = (...eventDrafts: ReadonlyArray<Runs.EventDraft>): Decision => ({
  eventDrafts,
  missed: undefined,
  run: undefined,
  wait: undefined
})

export const decide = (given: Given): Decision => {
  const { metadata, spec } = given.cronJob
  if (metadata.deletionTimestamp !== undefined) return stop()
  const zone = spec?.timeZone
  if (zone !== undefined && Zone.named(zone) === undefined) {
    return stop(Runs.warning("UnknownTimeZone", `invalid timeZone: ${JSON.stringify(zone)}: unknown time zone ${zone}`))
  }
  if (spec?.suspend === true) return stop()
  const text = spec?.schedule ?? ""
  const quoted = JSON.stringify(text)
  const hints = text.includes("TZ")
    ? [Runs.warning("UnsupportedSchedule", `CRON_TZ or TZ used in schedule ${quoted} ${unsupported}`)]
    : []
  const schedule = scheduleOf(given.cronJob, given.zone)
  if (Result.isFailure(schedule)) {
    return stop(...hints, Runs.warning("UnparseableSchedule", `unparseable schedule: ${quoted} : ${schedule.failure}`))
  }
  const decision = onTime(given, schedule.success)
  return { ...decision, eventDrafts: [...hints, ...decision.eventDrafts] }
}

const unsupported =
  "is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"

/**
 * A zone in the schedule takes precedence over the field. Parsed schedules are cached, because many CronJobs share them
 * and each sync reads one.
 */
export const scheduleOf = ({ spec }: CronJob, zone: Zone.Zone): Result.Result<Schedule.Schedule, string> => {
  const own = (spec?.timeZone === undefined ? undefined : Zone.named(spec.timeZone)) ?? zone
  const text = spec?.schedule ?? ""
  const key = `${own.id} ${text}`
  const known = parsedSchedules.get(key)
  if (known !== undefined) return known
  const parsed = Schedule.parse(text, own)
  if (parsedSchedules.size >= maxParsedSchedules) parsedSchedules.clear()
  parsedSchedules.set(key, parsed)
  return parsed
}

const parsedSchedules = new Map<string, Result.Result<Schedule.Schedule, string>>()

const maxParsedSchedules = 4096

const tooMany = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
const tooClose = "time difference between two schedules is less than 1 second"
const forbidden = "Not starting job because prior execution is running and concurrency policy is Forbid"

const onTime = ({ cronJob, now, status }: Given, schedule: Schedule.Schedule): Decision => {
  const { concurrencyPolicy, schedule: text } = cronJob.spec ?? {}
  const due = Due.mostRecent(schedule, cronJob, status, now)
  if (due._tag === "Never") return stop(Runs.warning("InvalidSchedule", `invalid schedule: ${text} : ${tooClose}`))
  const later = (...eventDrafts: ReadonlyArray<Runs.EventDraft>): Decision => ({
    eventDrafts,
    missed: due._tag === "Missed" ? due.time : undefined,
    run: undefined,
    wait: Due.wait(schedule, cronJob, status, now)
  })
  if (due._tag !== "Due") return later()
  const { time } = due
  const hints = due.isMany ? [Runs.warning("TooManyMissedTimes", tooMany)] : []
  const active = Runs.activeOf(status)
  const name = Runs.nameOf(cronJob, time)
  if (active.some((one) => one.name === name)) return later(...hints)
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    return later(...hints, Runs.normal("JobAlreadyActive", forbidden))
  }
  const isAlone = concurrencyPolicy === "Forbid" || concurrencyPolicy === "Replace"
  const replaces = concurrencyPolicy === "Replace" ? active : []
  return { ...later(...hints), run: { time, replaces, isAlone } }
}

/** The event for a missed time. */
export const missed = (time: number): Runs.EventDraft =>
  Runs.warning("MissSchedule", `Missed scheduled time to start a job: ${rfc1123(time)}`)

/** `Mon, 02 Jan 2006 15:04:05 +0000`. Source: Go time.RFC1123Z. */
const rfc1123 = (time: number): string => new Date(time).toUTCString().replace("GMT", "+0000")
