/** Conditions of a Job: how they are set, and in what form. Source: spec D.5. */
import * as Time from "../../../kube/time.ts"
import type { Condition } from "../spec.ts"

/** A condition that holds, or does not any more, without its times. */
export interface Claim {
  readonly type: string
  readonly reason: string
  readonly message: string
}

export const make = ({ message, reason, type }: Claim, status: "True" | "False", now: number): Condition => {
  const at = Time.format(now)
  return { type, status, lastProbeTime: at, lastTransitionTime: at, reason, message }
}

/**
 * The list with the condition as it is now: in its place with new times if it says something else, at the end if it is missing. That
 * something never was is not worth a condition. The very same list if nothing changes.
 */
export const ensure = (
  before: ReadonlyArray<Condition> | undefined,
  claim: Claim,
  status: "True" | "False",
  now: number
): ReadonlyArray<Condition> | undefined => {
  const found = before?.find(({ type }) => type === claim.type)
  if (found === undefined) return status === "False" ? before : [...(before ?? []), make(claim, status, now)]
  if (found.status === status && found.reason === claim.reason && found.message === claim.message) return before
  return before?.map((condition) => (condition === found ? make(claim, status, now) : condition))
}
