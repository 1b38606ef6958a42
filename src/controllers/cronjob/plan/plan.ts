/**
 * What to do for a CronJob now: nothing, wait, or create a Job. A pure function of the CronJob, its status and the
 * time. Source: pkg/controller/cronjob: syncCronJob.
 */
import * as Result from "effect/Result"
import * as Schedule from "../../../kube/cron/Schedule.ts"
import * as Zone from "../../../kube/cron/Zone.ts"
import type { CronJob } from "../../../kube/resources.ts"
import * as Events from "../events.ts"
import * as Due from "./due.ts"
import * as Runs from "../runs.ts"

export interface Plan {
  readonly eventDrafts: ReadonlyArray<Events.EventDraft>
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

const stop = (...eventDrafts: ReadonlyArray<Events.EventDraft>): Plan => ({
  eventDrafts,
  missed: undefined,
  run: undefined,
  wait: undefined
})

export const plan = (given: Given): Plan => {
  const { metadata, spec } = given.cronJob
  if (metadata.deletionTimestamp !== undefined) return stop()
  const zone = spec?.timeZone
  if (zone !== undefined && Zone.named(zone) === undefined) {
    return stop(Events.unknownTimeZone(zone))
  }
  if (spec?.suspend === true) return stop()
  const text = spec?.schedule ?? ""
  const hints = text.includes("TZ") ? [Events.unsupportedSchedule(text)] : []
  const schedule = scheduleOf(given.cronJob, given.zone)
  if (Result.isFailure(schedule)) return stop(...hints, Events.unparseable(text, schedule.failure))
  const planned = onTime(given, schedule.success)
  return { ...planned, eventDrafts: [...hints, ...planned.eventDrafts] }
}

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

const onTime = ({ cronJob, now, status }: Given, schedule: Schedule.Schedule): Plan => {
  const { concurrencyPolicy, schedule: text } = cronJob.spec ?? {}
  const due = Due.mostRecent(schedule, cronJob, status, now)
  if (due._tag === "Never") return stop(Events.invalidSchedule(text))
  const later = (...eventDrafts: ReadonlyArray<Events.EventDraft>): Plan => ({
    eventDrafts,
    missed: due._tag === "Missed" ? due.time : undefined,
    run: undefined,
    wait: Due.wait(schedule, cronJob, status, now)
  })
  if (due._tag !== "Due") return later()
  const { time } = due
  const hints = due.isMany ? [Events.tooManyMissedTimes] : []
  const active = Runs.activeOf(status)
  const name = Runs.nameOf(cronJob, time)
  if (active.some((one) => one.name === name)) return later(...hints)
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    return later(...hints, Events.alreadyActive)
  }
  const isAlone = concurrencyPolicy === "Forbid" || concurrencyPolicy === "Replace"
  const replaces = concurrencyPolicy === "Replace" ? active : []
  return { ...later(...hints), run: { time, replaces, isAlone } }
}
