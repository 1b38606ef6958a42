/**
 * The calls of a controller's client without the grants in their types: for the functions in this folder, whose own types require the grants
 * that they use.
 */
import * as Effect from "effect/Effect"
import * as Duration from "effect/Duration"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../../kube/ApiError.ts"
import type { Draft, KubeObject } from "../../../kube/Meta.ts"
import type * as Patch from "../../../kube/Patch.ts"
import type * as Resource from "../../../kube/Resource.ts"
import type * as KubeClient from "../../KubeClient.ts"
import type { Client } from "../reconcileContext.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>

type SendPatch = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  target: KubeClient.Target,
  patch: Patch.Patch,
  options?: KubeClient.PatchOptions
) => Call<A>

export interface Calls {
  readonly create: <A extends KubeObject>(resource: Resource.Resource<A>, object: Draft<A>) => Call<A>
  readonly update: <A extends KubeObject>(resource: Resource.Resource<A>, object: A) => Call<A>
  readonly patch: SendPatch
  readonly subresource: (name: string) => { readonly patch: SendPatch }
}

/** `Client<A>` is these calls with fewer resources allowed, which generic method types cannot express: hence the cast. */
export const of = <A>(client: Client<A>): Calls => client as unknown as Calls

/** The namespace and name of an object. */
export const targetOf = ({ metadata }: KubeObject): KubeClient.Target => ({
  namespace: metadata.namespace,
  name: metadata.name
})

/**
 * Retries a write that conflicts with another writer: five attempts, 10 ms ± 10 % apart, while they fail with `Conflict`; then it fails with
 * the last error. The effect must read the object from the server each time, because the cache may be behind. Most reconciles do not need
 * this: they fail, and run again when the cache is up to date. Source: client-go's util/retry: DefaultRetry.
 */
export const retryOnConflict = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  retryWhile(effect, (error) => ApiError.isApiError(error) && ApiError.hasReason(error, "Conflict"))

/** The same attempts, while they fail with such an error. */
export const retryWhile = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  again: (error: E) => boolean
): Effect.Effect<A, E, R> => Effect.retry(effect, { while: again, times: attempts - 1, schedule: pause })

const attempts = 5

const pause = Schedule.modifyDelay(Schedule.spaced("10 millis"), ({ duration }) =>
  Effect.map(Random.nextBetween(0.9, 1.1), (factor) => Duration.millis(Duration.toMillis(duration) * factor))
)
