/** Logs failed calls of scheduler and kubelets. They do not handle a failure: their queue retries it, with increasing delays. */
import * as Effect from "effect/Effect"
import * as ApiError from "../kube/ApiError.ts"

/** An object that is gone or has changed meanwhile is not logged: the next try reads its present state. */
export const logFailure = <A>(effect: Effect.Effect<A, ApiError.ApiError>): Effect.Effect<A, ApiError.ApiError> =>
  Effect.tapError(effect, (error) =>
    ApiError.hasReason(error, "NotFound", "Conflict")
      ? Effect.void
      : Effect.annotateLogs(Effect.logWarning("A call failed and is tried again"), ApiError.facts(error))
  )
