/** API calls of the endpoint controllers for which an error is an expected result. */
import * as Effect from "effect/Effect"
import * as ApiError from "../../../kube/ApiError.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>

/** Undefined if the namespace is terminating. */
export const unlessTerminating = <A>(create: Call<A>): Call<A | undefined> =>
  Effect.catchIf(create, ApiError.isNamespaceTerminating, () => Effect.undefined)

/** An object that does not exist counts as deleted. */
export const unlessGone = (remove: Call<unknown>): Call<unknown> =>
  Effect.catchIf(
    remove,
    (error) => ApiError.hasReason(error, "NotFound"),
    () => Effect.void
  )
