import { assert, it } from "@effect/vitest"
import { ConfigMap, KubeClient, Patch } from "effect-controller-manager"
import { ApiServer, ClusterTest } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Edge } from "../src/Edge.ts"
import { Mirror } from "../src/Mirror.ts"

/** Two API servers in one process and one virtual time; `fresh` makes the other cluster a second server. */
const edge = Layer.fresh(Edge.layer.pipe(Layer.provide(ApiServer.layerTransport), Layer.provide(ApiServer.layer())))
const clusters = edge.pipe(Layer.provideMerge(ClusterTest.layer()))

const target = { namespace: "default", name: "prices" }

const prices = (data: Record<string, string>, mirror = "edge") => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { ...target, labels: { mirror } },
  data
})

it.effect("mirrors a ConfigMap after changes in either cluster, and deletes it with the original", () =>
  Effect.gen(function* () {
    const { apply, run, settle } = yield* ClusterTest
    const here = yield* KubeClient
    const { client: there } = yield* Edge
    const data = Effect.map(there.get(ConfigMap, target), (one) => one.data)
    yield* run(Mirror)

    yield* apply([prices({ apple: "1" })])
    yield* settle
    assert.deepStrictEqual(yield* data, { apple: "1" })
    yield* apply([prices({ apple: "2", pear: "3" })])
    yield* settle
    assert.deepStrictEqual(yield* data, { apple: "2", pear: "3" })
    yield* there.patch(ConfigMap, target, Patch.merge({ data: { apple: "0" } }))
    yield* settle
    assert.deepStrictEqual(yield* data, { apple: "2", pear: "3" })

    yield* here.delete(ConfigMap, target)
    yield* settle
    const gone = yield* Effect.flip(data)
    assert.strictEqual(gone.reason._tag, "NotFound")
  }).pipe(Effect.provide(clusters))
)

it.effect("keeps ConfigMaps without the label", () =>
  Effect.gen(function* () {
    const { apply, run, settle } = yield* ClusterTest
    const { client: there } = yield* Edge
    yield* there.create(ConfigMap, { metadata: target, data: { mine: "yes" } })
    yield* run(Mirror)
    yield* apply([prices({ apple: "1" })])
    yield* settle
    assert.deepStrictEqual((yield* there.get(ConfigMap, target)).data, { mine: "yes" })
  }).pipe(Effect.provide(clusters))
)
