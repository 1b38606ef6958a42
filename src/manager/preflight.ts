/**
 * Checks before the first write: the server responds and accepts our credentials. What a retry cannot fix is one clear failure now; other failures
 * are retried for a short time.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../kube/ApiError.ts"
import type * as Resource from "../kube/Resource.ts"
import { Cache } from "../layers/Cache.ts"
import { KubeClient } from "../layers/KubeClient.ts"

/** Nothing was started and nothing written; the message names the error and the remedy. */
export class PreflightError extends Data.TaggedError("PreflightError")<{ readonly message: string }> {}

/** Time between two attempts. */
const interval = Duration.millis(250)

/** Waits for the first response. A failed connection is retried until the timeout; a rejection is final. */
export const reachable = Effect.fnUntraced(function* (timeout: Duration.Input) {
  const client = yield* KubeClient
  const limit = Duration.fromInputUnsafe(timeout)
  const started = yield* Clock.monotonicTimeNanos
  const ask = client.raw({ method: "GET", path: "/version", context: { verb: "get", path: "/version" } })
  let last: ApiError.ApiError | undefined
  yield* ask.pipe(
    // Any response shows that the server is there, even if we may not read its version.
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
 * Waits until each of these kinds has synced or failed once, but no longer than the timeout. So a standby has warm caches before it takes part in
 * the election. Kinds that are later are left to the informers, which retry.
 */
export const tried = Effect.fnUntraced(function* (kinds: ReadonlyArray<Resource.Any>, timeout: Duration.Input) {
  const cache = yield* Cache
  const informers = yield* Effect.forEach(kinds, (resource) => cache.subscribe(resource))
  const synced = Effect.forEach(informers, (informer) => informer.synced, { discard: true })
  const settled = Effect.gen(function* () {
    while (true) {
      const statuses = (yield* Effect.forEach(informers, (informer) => informer.status)).flat()
      if (statuses.every((status) => status.synced || status.lastError !== undefined)) return
      yield* Effect.sleep(interval)
    }
  })
  yield* Effect.timeoutOption(Effect.raceFirst(synced, settled), timeout)
}, Effect.scoped)
