/** The servers that the conformance suite runs on. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as HttpTransport from "../../src/layers/HttpTransport.ts"
import type { Transport } from "../../src/layers/Transport.ts"
import * as envtest from "../support/envtest.ts"

export interface Backend {
  readonly name: string
  /** Why it cannot run here. */
  readonly skip?: string | undefined
  readonly start: Effect.Effect<
    { readonly transport: Transport["Service"]; readonly compact: Effect.Effect<void> | undefined },
    unknown,
    Scope.Scope
  >
}

const assets = envtest.assets()

const real: Backend = {
  name: "a real API server",
  skip: "missing" in assets ? assets.missing : undefined,
  start: Effect.gen(function* () {
    const server = yield* envtest.start("folder" in assets ? assets.folder : "")
    return { transport: yield* HttpTransport.make(server.endpoint), compact: server.compact }
  })
}

export const backends: ReadonlyArray<Backend> = [real]
