/**
 * What is checked before anything is written: that the server answers, that it knows us, and that it lets us read what the
 * controllers read. What a later retry cannot mend is one clear failure now; the rest is given a little time.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../kube/ApiError.ts"
import type * as Resource from "../../kube/Resource.ts"
import { Cache, type InformerStatus } from "../Cache.ts"
import { KubeClient } from "../KubeClient.ts"

/** Nothing was started and nothing written; the message says what is wrong and what to do. */
export class PreflightError extends Data.TaggedError("PreflightError")<{ readonly message: string }> {}

/** How often a wait looks again. */
const interval = Duration.millis(250)

/** Waits for the first answer. A connection that fails is tried again until the patience is over; a refusal is final. */
export const reachable = Effect.fnUntraced(function* (patience: Duration.Input) {
  const client = yield* KubeClient
  const limit = Duration.fromInputUnsafe(patience)
  const started = yield* Clock.monotonicTimeNanos
  const ask = client.raw({ method: "GET", path: "/version", context: { verb: "get", path: "/version" } })
  let last: ApiError.ApiError | undefined
  yield* ask.pipe(
    // Whoever answers is there; whether we may read its version is another question.
    Effect.catchIf(
      (error) => error.status !== undefined && !ApiError.isTransient(error) && error.status !== 401,
      () => Effect.void
    ),
    Effect.tapError((error) => Effect.sync(() => (last = error))),
    Effect.retry({
      while: (error) =>
        Effect.map(
          Clock.monotonicTimeNanos,
          (now) =>
            ApiError.isTransient(error) && !ApiError.isUntrusted(error) && now - started < Duration.toNanosUnsafe(limit)
        ),
      schedule: Schedule.spaced(interval)
    }),
    Effect.mapError((error) => new PreflightError({ message: advice(error, limit) })),
    Effect.timeoutOrElse({
      duration: limit,
      orElse: () =>
        Effect.fail(
          new PreflightError({
            message: silence(limit, last?.detail ?? "it accepts the connection and says nothing")
          })
        )
    })
  )
})

const advice = (error: ApiError.ApiError, limit: Duration.Duration): string => {
  if (ApiError.isUntrusted(error)) return error.detail
  switch (error.reason._tag) {
    case "Unauthorized":
      return `the API server does not accept our credentials (401): ${error.detail}; check the user in the kubeconfig`
    case "Credentials":
      return error.detail
    default:
      return silence(limit, error.detail)
  }
}

const silence = (limit: Duration.Duration, detail: string): string =>
  `the API server did not answer within ${Duration.format(limit)}, check its address: ${detail}`

/**
 * Waits until every kind has synced, but no longer than the patience; then kinds that the server refuses are a failure, and
 * those that are late for other reasons are left to the informers, which go on trying.
 */
export const permitted = Effect.fnUntraced(function* (kinds: ReadonlyArray<Resource.Any>, patience: Duration.Input) {
  const cache = yield* Cache
  const all = Effect.forEach(kinds, (resource) => Effect.orDie(cache.synced(resource)), { discard: true })
  yield* Effect.timeoutOption(all, patience)
  const refused = (yield* cache.status).find(isRefused)
  if (refused?.lastError !== undefined) {
    return yield* new PreflightError({
      message: `${refused.lastError.message}; grant list and watch on ${refused.resource}, or leave the controller out with --controllers`
    })
  }
})

const isRefused = (status: InformerStatus): boolean =>
  !status.synced && (status.lastError?.status === 403 || status.lastError?.status === 401)
