/**
 * A limit of our own on how often the server is asked: a call waits for its turn before it leaves, and none is refused. Watches are not
 * counted. Off unless somebody sets it, because servers share themselves out fairly. Source: client-go's util/flowcontrol and rest.Request.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Monotonic from "../../streams/monotonic.ts"
import * as TokenBucket from "../../streams/queue/tokenBucket.ts"
import type { Method, Request, Transport } from "../../layers/Transport.ts"

export type Limit = TokenBucket.Options

/** Waits for the turn of a request. */
export type Pace = (request: Request) => Effect.Effect<void>

/** Of those who share it. `observe` is told how long each request will have waited, in milliseconds. */
export const make = (limit: Limit, observe: (method: Method, millis: number) => void = () => {}): Effect.Effect<Pace> =>
  Effect.map(Clock.Clock, (clock) => {
    const take = TokenBucket.make(limit, Monotonic.millis(clock))
    return ({ method }) =>
      Effect.suspend(() => {
        const millis = take()
        observe(method, millis)
        return millis === 0 ? Effect.void : Effect.sleep(millis)
      })
  })

/** In place of the limit that the transport had; undefined is none. */
export const through = (transport: Transport["Service"], pace: Pace | undefined): Transport["Service"] => ({
  ...transport,
  pace
})
