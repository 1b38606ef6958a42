/** The same test bodies on the embedded cluster in virtual time and on a real API server in real time; and what only the real one has. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Webhook from "../../../src/layers/Webhook.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { Envtest } from "../../../src/testing/envtest/Envtest.ts"
import { TestCluster } from "../../../src/testing/TestCluster.ts"
import * as envtest from "../../support/envtest.ts"
import * as Cluster from "../../manager/crds/migration/cluster.ts"

const stamp = Controller.make({
  name: "stamp",
  for: ConfigMap,
  access: [Access.patch(ConfigMap)],
  reconcile: ({ key, name, namespace }, { cache, client }) =>
    Effect.gen(function* () {
      const map = yield* cache.get(ConfigMap, key)
      if (map?.data?.["stamp"] !== "wanted") return
      yield* client.patch(ConfigMap, { name, namespace }, Patch.merge({ data: { stamp: "done" } }))
    })
})

const target = { namespace: "default", name: "one" }

const map = (data: Readonly<Record<string, string>>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: target,
  data
})

/** Refuses ConfigMaps with a word, and adds another one. */
const webhooks = [
  Webhook.defaulting(ConfigMap, (object) => Effect.succeed({ ...object, data: { ...object.data, added: "yes" } })),
  Webhook.validating(ConfigMap, ({ object }) =>
    object?.data?.["word"] === "bad" ? Webhook.deny("the word is bad") : Effect.void
  )
]

interface Given {
  readonly crds?: ReadonlyArray<object>
  readonly objects?: string | ReadonlyArray<object>
  readonly webhooks?: typeof webhooks
}

interface Able {
  readonly skip: boolean
  /** Whether webhooks may patch objects: see `envtest.lacksCustomObjects`. */
  readonly patches: boolean
}

type Built<E> = Layer.Layer<TestCluster | Controller.Services, E>

const suite = <E>(place: string, layerOf: (options: Given) => Built<E>, { patches, skip }: Able) =>
  describe.skipIf(skip)(`on ${place}`, () => {
    it.effect(
      "run starts a controller, and until waits for what it does",
      () =>
        Effect.gen(function* () {
          const cluster = yield* TestCluster
          yield* cluster.run(stamp)
          yield* cluster.apply([map({ stamp: "wanted" })])
          const done = yield* cluster.until(ConfigMap, target, (object) => object?.data?.["stamp"] === "done")
          assert.strictEqual(done?.metadata.name, "one")
          const names = (yield* cluster.snapshot(ConfigMap)).map(({ metadata }) => metadata.name)
          assert.include(names, "one")
          yield* (yield* KubeClient).delete(ConfigMap, target)
          assert.isUndefined(yield* cluster.until(ConfigMap, target, (object) => object === undefined))
        }).pipe(Effect.scoped, Effect.provide(layerOf({}))),
      180_000
    )

    it.effect(
      "until fails in time and says what the object was last",
      () =>
        Effect.gen(function* () {
          const cluster = yield* TestCluster
          const absent = cluster.until(ConfigMap, target, (object) => object !== undefined, { within: "300 millis" })
          assert.match((yield* Effect.flip(absent)).message, /default\/one within 300ms: there was no such object/)
          yield* cluster.apply([map({ colour: "blue" })])
          const never = cluster.until(ConfigMap, target, () => false, { within: "3 seconds" })
          assert.match((yield* Effect.flip(never)).message, /within 3s: it was last .*"colour":"blue"/)
        }).pipe(Effect.provide(layerOf({ objects: [] }))),
      180_000
    )

    it.effect(
      "the kinds of crds are served when the layer is ready",
      () =>
        Effect.gen(function* () {
          assert.isEmpty(yield* (yield* TestCluster).snapshot(Cluster.v1))
        }).pipe(
          Effect.provide(
            layerOf({
              crds: [Cluster.definition("v1")]
            })
          )
        ),
      180_000
    )

    it.effect(
      "webhooks are called for the first objects and for all later ones",
      () =>
        Effect.gen(function* () {
          const cluster = yield* TestCluster
          const first = (yield* cluster.snapshot(ConfigMap)).find(({ metadata }) => metadata.name === "one")
          assert.deepStrictEqual(first?.data, { word: "good", ...(patches ? { added: "yes" } : {}) })
          const failure = yield* Effect.flip(cluster.apply([map({ word: "bad" })]))
          assert.match(failure.message, /the word is bad/)
        }).pipe(
          Effect.provide(
            layerOf({ webhooks: patches ? webhooks : webhooks.slice(1), objects: [map({ word: "good" })] })
          )
        ),
      180_000
    )
  })

suite("the embedded cluster", (options) => ClusterTest.layer(options), { skip: false, patches: true })

const missing = Envtest.missing()
if (missing !== undefined) process.stderr.write(`Envtest skipped: ${missing}\n`)

suite("a real API server", (options) => Envtest.layer(options), {
  skip: !Envtest.available(),
  patches: !envtest.lacksCustomObjects
})

describe.skipIf(!Envtest.available())("Envtest", () => {
  it.effect(
    "time is real, and the API server can be killed and started again with its data",
    () =>
      Effect.gen(function* () {
        const server = yield* Envtest
        const cluster = yield* TestCluster
        assert.isAbove(yield* Clock.currentTimeMillis, Date.parse("2024-01-01"))
        assert.isAtLeast(server.version.major, 1)
        yield* cluster.apply([map({ colour: "blue" })])
        const values = yield* server.stored("/registry/configmaps/default/one")
        assert.lengthOf(values, 1)
        yield* server.kill
        yield* server.restart
        const same = yield* cluster.until(ConfigMap, target, (object) => object !== undefined)
        assert.deepStrictEqual(same?.data, { colour: "blue" })
        assert.include(yield* server.logs, "kube-apiserver")
      }).pipe(Effect.provide(Envtest.layer())),
    180_000
  )
})
