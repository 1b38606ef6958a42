/**
 * When a finished Job is to be deleted: `ttlSecondsAfterFinished` after its terminal condition became true. A total function of the Job and the
 * time. Source: pkg/controller/ttlafterfinished: processTTL, timeLeft.
 */
import type { Job } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

export type Plan =
  /** It has not finished, has no TTL, or is being deleted already. */
  | { readonly _tag: "Keep" }
  /** The TTL expires in `millis`, which is above zero. `isAhead`: the Job's end lies in the future, because clocks differ. */
  | { readonly _tag: "Wait"; readonly millis: number; readonly isAhead: boolean }
  | { readonly _tag: "Delete" }
  /** It has finished, but its condition has no transition time. */
  | { readonly _tag: "Timeless"; readonly condition: string }

const keep: Plan = { _tag: "Keep" }

const endOf = ({ status }: Job) =>
  status?.conditions?.find(
    (condition) => (condition.type === "Complete" || condition.type === "Failed") && condition.status === "True"
  )

/** `now`: milliseconds since 1970. */
export const plan = (job: Job, now: number): Plan => {
  const { metadata, spec } = job
  const seconds = spec?.ttlSecondsAfterFinished
  const terminal = endOf(job)
  if (seconds === undefined || terminal === undefined || metadata.deletionTimestamp !== undefined) return keep
  const end = Time.parse(terminal.lastTransitionTime)
  if (end === undefined) return { _tag: "Timeless", condition: terminal.type }
  const millis = end + seconds * 1000 - now
  return millis > 0 ? { _tag: "Wait", millis, isAhead: end > now } : { _tag: "Delete" }
}

/** Milliseconds since the TTL expired; zero before that. */
export const overdue = (job: Job, now: number): number => {
  const end = Time.parse(endOf(job)?.lastTransitionTime)
  return end === undefined ? 0 : Math.max(0, now - end - (job.spec?.ttlSecondsAfterFinished ?? 0) * 1000)
}
