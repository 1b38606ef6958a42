/**
 * The events that are recorded on a CronJob. Reasons and messages are those of kube-controller-manager. Source:
 * pkg/controller/cronjob: syncCronJob, nextScheduleTimeDuration.
 */
export interface EventDraft {
  readonly type: "Normal" | "Warning"
  readonly reason: string
  readonly message: string
}

const normal = (reason: string, message: string): EventDraft => ({ type: "Normal", reason, message })

const warning = (reason: string, message: string): EventDraft => ({ type: "Warning", reason, message })

export const unknownTimeZone = (zone: string) =>
  warning("UnknownTimeZone", `invalid timeZone: ${JSON.stringify(zone)}: unknown time zone ${zone}`)

export const unsupportedSchedule = (schedule: string) =>
  warning("UnsupportedSchedule", `CRON_TZ or TZ used in schedule ${JSON.stringify(schedule)} ${unsupported}`)

const unsupported =
  "is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"

export const unparseable = (schedule: string, why: string) =>
  warning("UnparseableSchedule", `unparseable schedule: ${JSON.stringify(schedule)} : ${why}`)

/** An update brought a schedule that cannot be parsed. */
export const unparseableUpdate = (schedule: string) =>
  warning("UnParseableCronJobSchedule", `unparseable schedule for cronjob: ${schedule}`)

/** The schedule matches no time. */
export const invalidSchedule = (schedule: string | undefined) =>
  warning("InvalidSchedule", `invalid schedule: ${schedule} : ${tooClose}`)

const tooClose = "time difference between two schedules is less than 1 second"

export const tooManyMissedTimes = warning(
  "TooManyMissedTimes",
  "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
)

export const missed = (time: number) =>
  warning("MissSchedule", `Missed scheduled time to start a job: ${rfc1123(time)}`)

/** `Mon, 02 Jan 2006 15:04:05 +0000`. Source: Go time.RFC1123Z. */
const rfc1123 = (time: number): string => new Date(time).toUTCString().replace("GMT", "+0000")

export const alreadyActive = normal(
  "JobAlreadyActive",
  "Not starting job because prior execution is running and concurrency policy is Forbid"
)

export const completed = (job: string, end: string) =>
  normal("SawCompletedJob", `Saw completed job: ${job}, condition: ${end}`)

export const missing = (job: string | undefined) => normal("MissingJob", `Active job went missing: ${job}`)

export const unexpected = (job: string) =>
  warning("UnexpectedJob", `Saw a job that the controller did not create or forgot: ${job}`)

export const created = (job: string) => normal("SuccessfulCreate", `Created job ${job}`)

export const createFailed = (why: string) => warning("FailedCreate", `Error creating job: ${why}`)

export const deleted = (job: string) => normal("SuccessfulDelete", `Deleted job ${job}`)

export const deleteFailed = (why: string) => warning("FailedDelete", `Deleted job: ${why}`)

export const getFailed = (why: string) => warning("FailedGet", `Get job: ${why}`)
