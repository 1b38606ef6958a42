/**
 * Waiting for what is about to be there. A request is answered in one synchronous section; where the answer is a refusal that
 * a controller is expected to mend in moments, the whole request is tried again a few times before the client is told. Source: the
 * ServiceAccount plugin of the reference server, which looks ten times for an account that is made for every namespace.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { ApiResponse } from "./Api.ts"

const tries = 10

/** Milliseconds between two tries: drawn once, so that clients that were refused together do not come back together. */
const [least, most] = [100, 199] as const

/** Asks once; `isLastTry` says that nobody will ask again. */
type Ask = (isLastTry: boolean) => Effect.Effect<ApiResponse>

/** Every try is a request of its own to the rules: it sees the state of its time, and may be refused for another reason. */
export const patient = (ask: Ask): Effect.Effect<ApiResponse> =>
  Effect.filterOrElse(
    ask(false),
    (first) => !isTemporary(first),
    (first) => Effect.flatMap(Random.nextIntBetween(least, most), (interval) => again(ask, interval, tries - 1, first))
  )

const again = (ask: Ask, interval: number, left: number, last: ApiResponse): Effect.Effect<ApiResponse> =>
  left === 0 || !isTemporary(last)
    ? Effect.succeed(last)
    : Effect.flatMap(Effect.delay(ask(left === 1), interval), (next) => again(ask, interval, left - 1, next))

const isTemporary = (response: ApiResponse): boolean => response._tag === "Answer" && response.isTemporary === true
