/**
 * Retries a request whose error is temporary. A request is handled in one synchronous section; where it fails for the lack of an object
 * that a controller is about to create, the whole request is retried a few times before the client gets the error. Source:
 * plugin/pkg/admission/serviceaccount, which looks ten times for the `default` service account of a new namespace.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { ApiResponse } from "./Api.ts"

const tries = 10

/** Milliseconds between two tries, drawn once per request, so that clients that failed together do not retry together. */
const [least, most] = [100, 199] as const

/** Handles the request once, with the clock and randomness of the calling fiber; `isLastTry` says that no retry follows. */
type Attempt = (services: Services, isLastTry: boolean) => ApiResponse

interface Services {
  readonly clock: Clock.Clock
  readonly random: Random.Random
}

/** Each try sees the state of its time, and may fail for another reason. A request that does not wait takes one step. */
export const retrying = (attempt: Attempt): Effect.Effect<ApiResponse> =>
  Effect.withFiber((fiber) => {
    const services = { clock: fiber.getRef(Clock.Clock), random: fiber.getRef(Random.Random) }
    const first = attempt(services, false)
    if (!isTemporary(first)) return Effect.succeed(first)
    return later((isLastTry) => Effect.sync(() => attempt(services, isLastTry)), first)
  })

/** The same for a request that is handled asynchronously. */
export const retryingEffect = (
  attempt: (isLastTry: boolean) => Effect.Effect<ApiResponse>
): Effect.Effect<ApiResponse> =>
  Effect.flatMap(attempt(false), (first) => (isTemporary(first) ? later(attempt, first) : Effect.succeed(first)))

const later = (attempt: (isLastTry: boolean) => Effect.Effect<ApiResponse>, first: ApiResponse) =>
  Effect.flatMap(Random.nextIntBetween(least, most), (interval) => again(attempt, interval, tries - 1, first))

const again = (
  attempt: (isLastTry: boolean) => Effect.Effect<ApiResponse>,
  interval: number,
  left: number,
  last: ApiResponse
): Effect.Effect<ApiResponse> => {
  if (left === 0 || !isTemporary(last)) return Effect.succeed(last)
  const next = Effect.suspend(() => attempt(left === 1))
  return Effect.flatMap(Effect.delay(next, interval), (response) => again(attempt, interval, left - 1, response))
}

const isTemporary = (response: ApiResponse): boolean => response._tag === "Answer" && response.isTemporary === true
