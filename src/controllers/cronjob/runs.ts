/**
 * The Jobs of a CronJob. A Job's name consists of the CronJob's name and the scheduled time, so no time can be run
 * twice; an annotation has the time in the CronJob's zone. Times are milliseconds since 1970. Source:
 * pkg/controller/cronjob: getJobFromTemplate2.
 */
import * as Zone from "../../kube/cron/Zone.ts"
import * as Key from "../../kube/Key.ts"
import type { Draft } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import { CronJob, type Job } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import type { Index } from "../../layers/Cache.ts"

export const timestamp = "batch.kubernetes.io/cronjob-scheduled-timestamp"

/**
 * Index value: the key of the CronJob that the controller reference names, whatever the uid; a recreated CronJob finds
 * the Jobs that are left.
 */
export const byParent: Index<Job> = {
  name: "cronjob/parent",
  of: (job) => {
    const reference = Owner.controllerOf(job)
    return reference?.kind === CronJob.kind && reference.apiVersion.startsWith(`${CronJob.group}/`)
      ? [Key.make(job.metadata.namespace, reference.name)]
      : []
  }
}

const minute = 60_000

export const nameOf = ({ metadata }: CronJob, time: number): string => `${metadata.name}-${Math.floor(time / minute)}`

/** The Job for that time. */
export const draft = (cronJob: CronJob, time: number): Draft<Job> => {
  const { metadata, spec } = cronJob
  const template = spec?.jobTemplate
  const written = inZone(time, Zone.named(spec?.timeZone ?? "") ?? Zone.utc)
  return {
    metadata: {
      name: nameOf(cronJob, time),
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      ...(template?.metadata?.labels === undefined ? {} : { labels: template.metadata.labels }),
      annotations: { ...template?.metadata?.annotations, [timestamp]: written },
      ownerReferences: [Owner.reference(CronJob, cronJob)]
    },
    ...(template?.spec === undefined ? {} : { spec: template.spec })
  }
}

/** RFC 3339 with the zone's offset. */
const inZone = (time: number, zone: Zone.Zone): string => {
  const offset = zone.offsetAt(time)
  if (offset === 0) return Time.format(time)
  const shown = Time.format(time + offset).slice(0, -1)
  const minutes = Math.floor(Math.abs(offset) / minute)
  const two = (value: number) => String(value).padStart(2, "0")
  return `${shown}${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** The time for which this CronJob created the Job; undefined for any other Job. */
export const timeOf = (cronJob: CronJob, job: Job): number | undefined => {
  if (!Owner.controlledBy(job, cronJob.metadata.uid)) return undefined
  const time = Time.parse(job.metadata.annotations?.[timestamp])
  return time !== undefined && nameOf(cronJob, time) === job.metadata.name ? time : undefined
}

/** The type of the terminal condition, if there is one. */
export const endOf = ({ status }: Job): "Complete" | "Failed" | undefined => {
  for (const { status: holds, type } of status?.conditions ?? [])
    if (holds === "True" && (type === "Complete" || type === "Failed")) return type
  return undefined
}

export type Reference = NonNullable<NonNullable<CronJob["status"]>["active"]>[number]

export const reference = ({ metadata }: Job): Reference => ({
  apiVersion: "batch/v1",
  kind: "Job",
  name: metadata.name,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
  ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion })
})

/** Fields are absent rather than empty. */
export type Status = NonNullable<CronJob["status"]>

export const statusOf = (cronJob: CronJob): Status => cronJob.status ?? {}

export const activeOf = (status: Status): ReadonlyArray<Reference> => status.active ?? []

/** Returns the same object if the active list is equal. */
export const withActive = (status: Status, active: ReadonlyArray<Reference>): Status => {
  const before = activeOf(status)
  if (before.length === active.length && active.every((one, i) => one === before[i])) return status
  const { active: _, ...rest } = status
  return active.length === 0 ? rest : { ...rest, active }
}

export const isActive = (status: Status, uid: string | undefined): boolean =>
  activeOf(status).some((one) => one.uid === uid)

/** The last recorded schedule time. */
export const lastTimeOf = (status: Status): number | undefined => Time.parse(status.lastScheduleTime)

/** Sets the last schedule time unless it would go back. */
export const withTime = (status: Status, time: number): Status =>
  time > (lastTimeOf(status) ?? -Infinity) ? { ...status, lastScheduleTime: Time.format(time) } : status

/**
 * Finished Jobs above the history limits, oldest first; none that is being deleted. A Job that is not recorded in the
 * status yet stays, because only its name keeps its time from being run again. Source: pkg/controller/cronjob:
 * cleanupFinishedJobs.
 */
export const surplus = (cronJob: CronJob, runs: ReadonlyArray<Job>): ReadonlyArray<Job> => {
  const { failedJobsHistoryLimit, successfulJobsHistoryLimit } = cronJob.spec ?? {}
  return [
    ...beyond(cronJob, runs, "Complete", successfulJobsHistoryLimit),
    ...beyond(cronJob, runs, "Failed", failedJobsHistoryLimit)
  ]
}

const beyond = (
  cronJob: CronJob,
  runs: ReadonlyArray<Job>,
  end: "Complete" | "Failed",
  limit: number | undefined
): ReadonlyArray<Job> => {
  if (limit === undefined) return []
  const ended = runs.filter((job) => job.metadata.deletionTimestamp === undefined && endOf(job) === end)
  if (ended.length <= limit) return []
  const last = lastTimeOf(statusOf(cronJob)) ?? -Infinity
  const oldest = ended.toSorted(byStart).slice(0, ended.length - limit)
  return oldest.filter((job) => (timeOf(cronJob, job) ?? -Infinity) <= last)
}

/** Jobs without a start time last; then by name. */
const byStart = (a: Job, b: Job): number => {
  const [x, y] = [startOf(a), startOf(b)]
  if (x !== y) return x < y ? -1 : 1
  return a.metadata.name < b.metadata.name ? -1 : 1
}

const startOf = ({ status }: Job): number => Time.parse(status?.startTime) ?? Infinity
