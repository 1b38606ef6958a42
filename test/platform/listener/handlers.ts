/** Handlers that let a test wait until they are called. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { type Handler, text } from "../../../src/layers/http/handler.ts"

/** Responds with the body; `reading` succeeds when the handler begins to read it. */
export const echo = Effect.map(Deferred.make<void>(), (reading) => {
  const handle: Handler = ({ body }) =>
    Effect.andThen(
      Deferred.succeed(reading, undefined),
      Effect.map(body, (said) => (typeof said === "string" ? text(200, said) : said))
    )
  return { handle, reading: Deferred.await(reading) }
})

/** Responds with "late" after `release`; `received` succeeds when the handler has been called. */
export const held = Effect.map(Effect.all([Deferred.make<void>(), Deferred.make<void>()]), ([received, released]) => {
  const handle: Handler = () =>
    Deferred.succeed(received, undefined).pipe(Effect.andThen(Deferred.await(released)), Effect.as(text(200, "late")))
  return { handle, received: Deferred.await(received), release: Deferred.succeed(released, undefined) }
})
