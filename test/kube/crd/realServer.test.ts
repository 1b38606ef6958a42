/** A real API server accepts the definitions and serves the kinds. Needs `KUBEBUILDER_ASSETS`. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Resource from "../../../src/kube/Resource.ts"
import * as HttpTransport from "../../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Definitions from "../../../src/manager/crds/Definitions.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import * as envtest from "../../support/envtest.ts"
import { Memcached } from "./fixtures.ts"
import { recipes } from "./recipes.ts"

const isMissing = envtest.isMissing("definitions on a real API server")

describe.skipIf(isMissing)("definitions on a real API server", () => {
  it.live("are accepted, and their kinds are served", () =>
    Effect.gen(function* () {
      const server = yield* envtest.start()
      const transport = Layer.succeed(Transport, yield* HttpTransport.make(server.endpoint))
      const client = Context.get(yield* Layer.build(Layer.provide(KubeClient.layer, transport)), KubeClient)
      const installed = Definitions.install([Memcached]).pipe(Effect.provideService(KubeClient, client))
      const name = "memcacheds.cache.example.com"
      assert.deepStrictEqual(yield* installed, [{ name, outcome: "created" }])
      assert.deepStrictEqual(yield* installed, [{ name, outcome: "unchanged" }])
      assert.deepStrictEqual(yield* Effect.provideService(Definitions.diff([Memcached]), KubeClient, client), [
        { name, isNew: false, differences: [], broken: [] }
      ])
      // A kind is served a moment after its definition is established.
      const listed = Effect.retry(client.list(Memcached, { namespace: "default" }), Schedule.spaced("50 millis"))
      assert.isEmpty((yield* listed).items)
      // Definitions of random Schemas too, each replacing the one before: the stored one equals the one sent.
      const random = yield* Arbitrary.sampleEffect(recipes, { count: 30, seed: 1 })
      for (const { schema: spec } of random) {
        const kind = Resource.make({ group: "example.com", version: "v1", kind: "Random", plural: "randoms", spec })
        const put = Effect.provideService(Definitions.install([kind]), KubeClient, client)
        yield* put
        assert.deepStrictEqual(yield* put, [{ name: "randoms.example.com", outcome: "unchanged" }])
      }
    })
  )
})
