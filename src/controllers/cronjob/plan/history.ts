/**
 * Which runs that have ended are too old to be kept: beyond so many that succeeded, and so many that failed, the oldest go. A run that is not written
 * down yet stays until it is, because its name is all that keeps its time from being run again. Source: spec G.7.
 */
import type { CronJob, Job } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import * as Runs from "./runs.ts"

/** In the order in which they are to go; none that is going already. */
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
  const ended = runs.filter((job) => job.metadata.deletionTimestamp === undefined && Runs.endOf(job) === end)
  if (ended.length <= limit) return []
  const last = Runs.lastTimeOf(Runs.statusOf(cronJob)) ?? -Infinity
  const oldest = ended.toSorted(byStart).slice(0, ended.length - limit)
  return oldest.filter((job) => (Runs.timeOf(cronJob, job) ?? -Infinity) <= last)
}

/** Those that never began last; of the same time by their names. */
const byStart = (a: Job, b: Job): number => {
  const [x, y] = [startOf(a), startOf(b)]
  if (x !== y) return x < y ? -1 : 1
  return a.metadata.name < b.metadata.name ? -1 : 1
}

const startOf = ({ status }: Job): number => Time.parse(status?.startTime) ?? Infinity
