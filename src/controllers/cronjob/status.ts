/**
 * Brings the status in line with the Jobs: the active ones, `lastScheduleTime`, `lastSuccessfulTime`. A Job that was
 * created but never recorded, because the process ended in between, is recorded now. Pure. Source:
 * pkg/controller/cronjob: syncCronJob.
 */
import type { CronJob, Job } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Events from "./events.ts"
import * as Runs from "./runs.ts"

export interface Gathered {
  readonly cronJob: CronJob
  /** The status after surplus Jobs were deleted. */
  readonly status: Runs.Status
  /** The Jobs in the cache. */
  readonly runs: ReadonlyArray<Job>
  /** Active Jobs that the cache lacks, read from the server, by uid; undefined if deleted. */
  readonly live: ReadonlyMap<string, Job | undefined>
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Account {
  /** The same object if nothing changed. */
  readonly status: Runs.Status
  readonly eventDrafts: ReadonlyArray<Events.EventDraft>
  /**
   * Unfinished Jobs that are not in the status and were not created for a recorded time; none that is being deleted.
   */
  readonly unexpected: ReadonlyArray<Job>
}

/** References to active Jobs that the cache lacks; the caller reads them from the server. */
export const unknown = (status: Runs.Status, runs: ReadonlyArray<Job>): ReadonlyArray<Runs.Reference> => {
  const active = Runs.activeOf(status)
  if (active.length === 0) return active
  const known = new Set(runs.map(({ metadata }) => metadata.uid))
  return active.filter(({ uid }) => !known.has(uid))
}

export const status = ({ live, cronJob, now, runs, status: before }: Gathered): Account => {
  const eventDrafts: Array<Events.EventDraft> = []
  const unexpected: Array<Job> = []
  let status = before
  for (const job of [...runs, ...[...live.values()].filter((one) => one !== undefined)]) {
    const { name, uid } = job.metadata
    const end = Runs.endOf(job)
    const isActive = Runs.isActive(status, uid)
    const time = Runs.timeOf(cronJob, job)
    const isUnrecorded = time !== undefined && time <= now && time > (Runs.lastTimeOf(before) ?? -Infinity)
    if (isUnrecorded) status = Runs.withTime(status, time)
    if (end !== undefined && isActive) {
      status = Runs.withActive(
        status,
        Runs.activeOf(status).filter((one) => one.uid !== uid)
      )
      eventDrafts.push(Events.completed(name, end))
    }
    if (end === undefined && !isActive) {
      if (isUnrecorded) status = Runs.withActive(status, [...Runs.activeOf(status), Runs.reference(job)])
      else if (job.metadata.deletionTimestamp === undefined) unexpected.push(job)
    }
    if (end === "Complete") status = succeededAt(status, job)
  }
  const missing = Runs.activeOf(status).filter(({ uid = "" }) => live.has(uid) && live.get(uid) === undefined)
  for (const { name } of missing) eventDrafts.push(Events.missing(name))
  return {
    status: Runs.withActive(
      status,
      Runs.activeOf(status).filter((one) => !missing.includes(one))
    ),
    eventDrafts,
    unexpected
  }
}

const succeededAt = (status: Runs.Status, { status: of }: Job): Runs.Status => {
  const at = Time.parse(of?.completionTime)
  if (at === undefined || at <= (Time.parse(status.lastSuccessfulTime) ?? -Infinity)) return status
  return { ...status, lastSuccessfulTime: Time.format(at) }
}
