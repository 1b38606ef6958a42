/**
 * A limit of our own on how often the server is asked: a call waits for its turn before it leaves, and none is refused. Off unless
 * somebody sets it, because servers share themselves out fairly. Source: framework.md 2.14, client-go's flowcontrol.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Monotonic from "../../../streams/monotonic.ts"
import * as TokenBucket from "../../../streams/tokenBucket.ts"
import type { Method, Request, Transport } from "../../Transport.ts"

/** Calls and watches take from the same bucket: each is one request. */
export const through = (
  transport: Transport["Service"],
  options: TokenBucket.Options,
  /** Told how long each request will have waited, in milliseconds. */
  observe: (method: Method, millis: number) => void = () => {}
): Effect.Effect<Transport["Service"]> =>
  Effect.map(Clock.Clock, (clock) => {
    const take = TokenBucket.make(options, Monotonic.millis(clock))
    const turn = ({ method }: Request) =>
      Effect.suspend(() => {
        const millis = take()
        observe(method, millis)
        return millis === 0 ? Effect.void : Effect.sleep(millis)
      })
    return {
      send: (request) => Effect.andThen(turn(request), transport.send(request)),
      watch: (request) => Stream.unwrap(Effect.as(turn(request), transport.watch(request)))
    }
  })
