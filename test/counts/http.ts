/**
 * The bytes of requests on the wire, heads included: all but watches are sent once more, one after the other, to a server on loopback that counts what it
 * receives.
 */
import * as Effect from "effect/Effect"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import type { Request } from "../../src/layers/Transport.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import * as HttpsServer from "../support/httpsServer.ts"

export const make = Effect.gen(function* () {
  const server = yield* HttpsServer.start((_request, response) => response.end("{}"))
  const transport = yield* HttpTransport.make(Endpoint.fixed({ server: server.url }))
  const received = () => [...server.sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0)
  return (requests: ReadonlyArray<Request>) =>
    Effect.gen(function* () {
      const before = received()
      yield* Effect.forEach(
        requests.filter(({ context }) => context.verb !== "watch"),
        transport.send,
        { discard: true }
      )
      return received() - before
    })
})
