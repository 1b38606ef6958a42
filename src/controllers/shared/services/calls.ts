/** What a call to the server may come to without anything being wrong, for loops that keep slices. */
import * as Effect from "effect/Effect"
import * as ApiError from "../../../kube/ApiError.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>

/** Undefined where the namespace is being deleted. */
export const unlessTerminating = <A>(create: Call<A>): Call<A | undefined> =>
  Effect.catchIf(create, ApiError.isNamespaceTerminating, () => Effect.undefined)

/** To delete what is gone is done. */
export const unlessGone = (remove: Call<unknown>): Call<unknown> =>
  Effect.catchIf(
    remove,
    (error) => ApiError.hasReason(error, "NotFound"),
    () => Effect.void
  )
