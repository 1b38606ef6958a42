/** A real API server takes the definitions, and serves the kinds. Needs `KUBEBUILDER_ASSETS`. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as HttpTransport from "../../../src/layers/HttpTransport.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import * as envtest from "../../support/envtest.ts"
import { Memcached } from "./fixtures.ts"

const assets = envtest.assets()
if ("missing" in assets) process.stderr.write(`definitions on a real API server skipped: ${assets.missing}\n`)

interface Defined extends Crd.CustomResourceDefinition {
  readonly status?: { readonly conditions?: ReadonlyArray<{ readonly type: string; readonly status: string }> }
}
const Definition = Resource.make<Defined>()({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
})

describe.skipIf("missing" in assets)("definitions on a real API server", () => {
  it.live(
    "are taken, and what they define is served",
    () =>
      Effect.gen(function* () {
        const server = yield* envtest.start("folder" in assets ? assets.folder : "")
        const transport = Layer.succeed(Transport, yield* HttpTransport.make(server.endpoint))
        const client = Context.get(yield* Layer.build(Layer.provide(KubeClient.layer, transport)), KubeClient)
        yield* client.create(Definition, Result.getOrThrow(Crd.make(Memcached)))
        yield* client.watch(Definition, {}).pipe(
          Stream.filter(({ object }) =>
            ((object as Defined).status?.conditions ?? []).some(
              ({ status, type }) => type === "Established" && status === "True"
            )
          ),
          Stream.take(1),
          Stream.runDrain
        )
        assert.isEmpty((yield* client.list(Memcached, { namespace: "default" })).items)
      }),
    60_000
  )
})
