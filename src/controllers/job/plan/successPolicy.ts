/** `successPolicy`: when an indexed Job has done enough although not all of its indexes have succeeded. Source: spec D.4. */
import type { Job } from "../../../kube/resources.ts"
import * as Spec from "../spec.ts"
import * as Indexes from "./indexes.ts"

/** The position of the first rule that is met; undefined if none is, or there is no policy. */
export const matched = (job: Job, succeeded: Indexes.Indexes): number | undefined => {
  if (succeeded.length === 0) return undefined
  const position = (job.spec?.successPolicy?.rules ?? []).findIndex(({ succeededCount, succeededIndexes }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && Indexes.size(succeeded) >= succeededCount
    // Of indexes that the Job has not, or not any more, none can succeed.
    const wanted = Indexes.parse(succeededIndexes, Spec.indexCount(job))
    const enough = Math.min(succeededCount ?? Infinity, Indexes.size(wanted))
    return wanted.length > 0 && Indexes.common(wanted, succeeded) >= enough
  })
  return position === -1 ? undefined : position
}
