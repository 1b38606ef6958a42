/**
 * Tries again what lost a race against another writer. The effect must read what it writes anew each time, from the server: what the
 * cache shows is as old as it was. Most reconciles need none of this: they fail, and run again when the cache has caught up.
 * Source: client-go util/retry, DefaultRetry.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../../kube/ApiError.ts"

/** Five attempts, 10 ms ± 10 % apart, for as long as they fail with `Conflict`; then it fails with the last one. */
export const retryOnConflict = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  retryWhile(effect, (error) => ApiError.isApiError(error) && ApiError.hasReason(error, "Conflict"))

/** The same number of attempts, for as long as they fail in such a way. */
export const retryWhile = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  again: (error: E) => boolean
): Effect.Effect<A, E, R> => Effect.retry(effect, { while: again, times: attempts - 1, schedule: pause })

const attempts = 5

const pause = Schedule.modifyDelay(Schedule.spaced("10 millis"), ({ duration }) =>
  Effect.map(Random.nextBetween(0.9, 1.1), (factor) => Duration.millis(Duration.toMillis(duration) * factor))
)
