/** The servers that the conformance suite runs on. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { ApiServer } from "../../src/layers/apiserver/ApiServer.ts"
import * as Certificate from "../../src/layers/apiserver/http/certificate.ts"
import * as Front from "../../src/layers/apiserver/http/Front.ts"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../src/layers/HttpTransport.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as envtest from "../support/envtest.ts"
import type { Part, Subject } from "./Case.ts"

export interface Backend {
  readonly name: string
  /** Why it cannot run here. */
  readonly skip?: string | undefined
  /** What it does not do yet; cases that need it are skipped with this as the reason. */
  readonly lacks: ReadonlyArray<Part>
  readonly start: Effect.Effect<Pick<Subject, "transport" | "compact" | "as">, unknown, Scope.Scope>
}

const caller = (server: string, ca: string) => (token: string | undefined) =>
  HttpTransport.make(Endpoint.fixed({ server, tls: { ca }, token }))

const assets = envtest.assets()

const real: Backend = {
  name: "a real API server",
  skip: "missing" in assets ? assets.missing : undefined,
  lacks: [],
  start: Effect.gen(function* () {
    const server = yield* envtest.start("folder" in assets ? assets.folder : "")
    const transport = yield* HttpTransport.make(server.endpoint)
    return { transport, compact: server.compact, as: caller(server.url, server.ca) }
  })
}

/** Parts of the API that the embedded server is still to learn. */
const notYet: ReadonlyArray<Part> = ["applyRemoval", "managedFields", "fieldValidation"]

/** The embedded server, on its own. */
const embedded = Layer.build(ApiServer.layer()).pipe(Effect.map((context) => Context.get(context, ApiServer)))

const inProcess: Backend = {
  name: "the embedded server, in process",
  lacks: [...notYet, "credentials"],
  start: Effect.gen(function* () {
    const server = yield* embedded
    const context = yield* Layer.build(ApiServer.layerTransport.pipe(Layer.provide(Layer.succeed(ApiServer, server))))
    const transport = Context.get(context, Transport)
    // Whoever is in the process is the administrator.
    return { transport, compact: server.compact(), as: () => Effect.succeed(transport) }
  })
}

const overHttps: Backend = {
  name: "the embedded server, over HTTPS",
  lacks: notYet,
  start: Effect.gen(function* () {
    const server = yield* embedded
    const { ca, certificate, key } = yield* Effect.promise(() => Certificate.make(Date.now()))
    const token = Redacted.make("conformance")
    const { port } = yield* Front.listen({ api: server, certificate, key, token })
    const url = `https://${Front.host}:${port}`
    const transport = yield* HttpTransport.make(Endpoint.fixed({ server: url, tls: { ca }, token }))
    return { transport, compact: server.compact(), as: caller(url, ca) }
  })
}

export const backends: ReadonlyArray<Backend> = [inProcess, overHttps, real]
