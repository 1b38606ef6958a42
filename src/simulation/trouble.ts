/** What scheduler and kubelets say of a call that failed. They do not handle it: their queue tries again, ever more rarely. */
import * as Effect from "effect/Effect"
import * as ApiError from "../kube/ApiError.ts"

/** That an object is gone or has changed meanwhile is no trouble, and not worth a word: the next try will see it. */
export const logFailure = <A>(effect: Effect.Effect<A, ApiError.ApiError>): Effect.Effect<A, ApiError.ApiError> =>
  Effect.tapError(effect, (error) =>
    ApiError.hasReason(error, "NotFound", "Conflict")
      ? Effect.void
      : Effect.annotateLogs(Effect.logWarning("A call failed and is tried again"), ApiError.facts(error))
  )
