/**
 * What is said of a pod before it is taken away. Servers before 1.25 do not grant the loops of nodes the right to say it; then the pods go without
 * it, and one line tells so, once a term. Not for other failures: those are the caller's.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../../kube/ApiError.ts"

/** Passes a mark on, and does without it where it is forbidden. */
export const make = (): (<A, R>(
  mark: Effect.Effect<A, ApiError.ApiError, R>
) => Effect.Effect<void, ApiError.ApiError, R>) => {
  let isTold = false
  return (mark) =>
    Effect.asVoid(mark).pipe(
      Effect.catchIf(
        (error) => ApiError.hasReason(error, "Forbidden"),
        (error) => {
          if (isTold) return Effect.void
          isTold = true
          return Effect.logWarning(
            `Pods are removed without saying why in their status, because that is forbidden: ${error.message}`
          )
        }
      )
    )
}
