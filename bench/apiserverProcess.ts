/** The embedded API server over HTTPS, alone in a process: prints where it listens as one line of JSON, and serves until killed. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { ApiServer } from "../src/apiserver/ApiServer.ts"
import * as Certificate from "../src/apiserver/server/certificate.ts"
import * as HttpsServer from "../src/apiserver/server/HttpsServer.ts"

const token = "bench"

await Effect.gen(function* () {
  const api = yield* ApiServer
  const { ca, certificate, key } = yield* Effect.promise(() => Certificate.make(Date.now()))
  const { port } = yield* HttpsServer.listen({ api, certificate, key, token: Redacted.make(token) })
  process.stdout.write(`${JSON.stringify({ port, ca, token })}\n`)
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.provide(ApiServer.layer()), Effect.runPromise)
