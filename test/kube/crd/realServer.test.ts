/** A real API server takes the definitions, and serves the kinds. Needs `KUBEBUILDER_ASSETS`. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpTransport from "../../../src/layers/HttpTransport.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Definitions from "../../../src/layers/manager/crds/Definitions.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import * as envtest from "../../support/envtest.ts"
import { Memcached } from "./fixtures.ts"

const assets = envtest.assets()
if ("missing" in assets) process.stderr.write(`definitions on a real API server skipped: ${assets.missing}\n`)

describe.skipIf("missing" in assets)("definitions on a real API server", () => {
  it.live(
    "are taken, and what they define is served",
    () =>
      Effect.gen(function* () {
        const server = yield* envtest.start("folder" in assets ? assets.folder : "")
        const transport = Layer.succeed(Transport, yield* HttpTransport.make(server.endpoint))
        const client = Context.get(yield* Layer.build(Layer.provide(KubeClient.layer, transport)), KubeClient)
        const installed = Definitions.install([Memcached]).pipe(Effect.provideService(KubeClient, client))
        const name = "memcacheds.cache.example.com"
        assert.deepStrictEqual(yield* installed, [{ name, outcome: "created" }])
        assert.deepStrictEqual(yield* installed, [{ name, outcome: "unchanged" }])
        assert.deepStrictEqual(yield* Effect.provideService(Definitions.diff([Memcached]), KubeClient, client), [
          { name, isNew: false, differences: [], broken: [] }
        ])
        assert.isEmpty((yield* client.list(Memcached, { namespace: "default" })).items)
      }),
    60_000
  )
})
