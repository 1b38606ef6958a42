/**
 * What a migration relies on, on a real API server: a merge patch without content has an object stored again if its stored form is not the one in which the
 * server stores objects now, and writes nothing otherwise. The forms are JSON and protobuf here, because every server can store built-in kinds.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../../../src/kube/Patch.ts"
import * as Resource from "../../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../../src/kube/resources.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import { Transport } from "../../../../src/layers/Transport.ts"
import * as HttpTransport from "../../../../src/platform/HttpTransport.ts"
import * as envtest from "../../../support/envtest.ts"

describe.skipIf(envtest.isMissing("writes without a change on a real API server"))("a real API server", () => {
  it.live(
    "stores an object again after a patch without content only if its stored form is another one",
    () =>
      Effect.gen(function* () {
        // The server reads them at each start.
        const flags = ["--storage-media-type=application/json"]
        const server = yield* envtest.start(flags)
        const transport = yield* HttpTransport.make(server.endpoint)
        yield* Effect.gen(function* () {
          const client = yield* KubeClient
          const target = { namespace: "default", name: "one" }
          const form = Effect.map(server.stored("/registry/configmaps/default/one"), ([value = ""]) =>
            value.slice(0, 3)
          )
          const patched = Effect.map(
            client.patch(Resource.metadataOnly(ConfigMap), target, Patch.merge({})),
            ({ metadata }) => metadata.resourceVersion
          )
          const { metadata } = yield* client.create(ConfigMap, { metadata: target, data: { colour: "blue" } })
          assert.strictEqual((yield* form)[0], "{")
          assert.strictEqual(yield* patched, metadata.resourceVersion)
          flags.length = 0
          yield* server.kill
          yield* server.restart
          assert.strictEqual((yield* form)[0], "{")
          const rewritten = yield* patched
          assert.notStrictEqual(rewritten, metadata.resourceVersion)
          assert.strictEqual(yield* form, "k8s")
          assert.strictEqual(yield* patched, rewritten)
        }).pipe(Effect.provide(KubeClient.layer), Effect.provideService(Transport, transport))
      }).pipe(Effect.scoped),
    180_000
  )
})
