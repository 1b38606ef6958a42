/** Why something could not be done for a replica: the message is what users read in an event, the server's own words. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { aggregate } from "../../kube/ApiError.ts"
import * as ApiError from "../../kube/ApiError.ts"

export class Failed extends Data.TaggedError("Failed")<{
  readonly message: string
  /** What the server answered; undefined if nothing was asked of it. */
  readonly cause: ApiError.ApiError | undefined
}> {}

export interface Problem {
  readonly message: string
  readonly cause?: ApiError.ApiError | undefined
}

export const because = (message: string, cause: ApiError.ApiError): Failed => new Failed({ message, cause })

/** Fails if there are problems: with the message of the only one, or with those of all. */
export const from = (problems: ReadonlyArray<Problem>): Effect.Effect<void, Failed> => {
  if (problems.length === 0) return Effect.void
  const message = aggregate(problems.map((problem) => problem.message))
  return new Failed({ message, cause: problems.find(({ cause }) => cause !== undefined)?.cause })
}

/**
 * Tells of a failure, unless it is nothing that the set's user could mend: when this process no longer leads, the next leader does the work,
 * and what a namespace that is being terminated refuses goes with it.
 */
export const quietly = (error: ApiError.ApiError | undefined, told: Effect.Effect<void>): Effect.Effect<void> => {
  const isQuiet =
    error !== undefined && (ApiError.hasReason(error, "LeaderFenced") || ApiError.isNamespaceTerminating(error))
  return isQuiet ? Effect.void : told
}
