/**
 * Waiting for what is about to be there. A request is answered in one synchronous section; where the answer is a refusal that
 * a controller is expected to mend in moments, the whole request is tried again a few times before the client is told. Source: the
 * ServiceAccount plugin of the reference server, which looks ten times for an account that is made for every namespace.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { ApiResponse } from "./Api.ts"

const tries = 10

/** Milliseconds between two tries: drawn once, so that clients that were refused together do not come back together. */
const [least, most] = [100, 199] as const

/** Asks once, in the time and chance of whoever waits; `isLastTry` says that nobody will ask again. */
type Attempt = (services: Services, isLastTry: boolean) => ApiResponse

interface Services {
  readonly clock: Clock.Clock
  readonly random: Random.Random
}

/**
 * Every try is a request of its own to the rules: it sees the state of its time, and may be refused for another reason. A request
 * that need not wait is one step.
 */
export const retrying = (attempt: Attempt): Effect.Effect<ApiResponse> =>
  Effect.withFiber((fiber) => {
    const services = { clock: fiber.getRef(Clock.Clock), random: fiber.getRef(Random.Random) }
    const first = attempt(services, false)
    if (!isTemporary(first)) return Effect.succeed(first)
    return later((isLastTry) => Effect.sync(() => attempt(services, isLastTry)), first)
  })

/** The same for a request that takes time to be answered. */
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
