/** Every active namespace has the ConfigMap `kube-root-ca.crt`. Source: pkg/controller/certificates/rootcacertpublisher. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as RootCa from "../../src/controllers/RootCa.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap, Namespace } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterAuthority } from "../../src/layers/ClusterAuthority.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"

const name = "kube-root-ca.crt"
const description = "kubernetes.io/description"
const data = { "ca.crt": "the authorities of the test cluster" }

const published = Effect.flatMap(ClusterTest, (cluster) =>
  Effect.map(cluster.snapshot(ConfigMap), (all) =>
    all.filter(({ metadata }) => metadata.name === name).map(({ metadata }) => metadata.namespace)
  )
)

const get = (namespace: string) => Effect.flatMap(KubeClient, (client) => client.get(ConfigMap, { namespace, name }))

const standard = ["default", "kube-node-lease", "kube-public", "kube-system"]

describe("root-ca-cert-publisher", () => {
  it.effect("publishes the CA bundle in every existing and every new namespace", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(RootCa.make())
      yield* cluster.settle
      assert.deepStrictEqual(yield* published, standard)
      yield* (yield* KubeClient).create(Namespace, { metadata: { name: "app" } })
      yield* cluster.settle
      assert.deepStrictEqual(yield* published, ["app", ...standard])
      const found = yield* get("app")
      assert.deepStrictEqual(found.data, data)
      assert.match(found.metadata.annotations?.[description] ?? "", /^Contains a CA bundle that can be used to verify/)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("recreates a deleted ConfigMap and restores a changed one; labels stay", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* cluster.run(RootCa.make())
      yield* cluster.settle
      yield* client.delete(ConfigMap, { namespace: "default", name })
      yield* cluster.settle
      assert.deepStrictEqual((yield* get("default")).data, data)
      const target = { namespace: "default", name }
      const changed = { data: { "ca.crt": "others", more: "x" }, metadata: { labels: { a: "b" }, annotations: null } }
      yield* client.patch(ConfigMap, target, Patch.merge(changed))
      yield* cluster.settle
      const found = yield* get("default")
      assert.deepStrictEqual([found.data, found.metadata.labels], [data, { a: "b" }])
      assert.isDefined(found.metadata.annotations?.[description])
      // Another description is kept.
      yield* client.patch(ConfigMap, target, Patch.merge({ metadata: { annotations: { [description]: "ours" } } }))
      yield* cluster.settle
      assert.strictEqual((yield* get("default")).metadata.annotations?.[description], "ours")
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("creates nothing in terminating namespaces, and writes nothing while nothing changes", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* client.create(Namespace, { metadata: { name: "app" } })
      yield* cluster.run(RootCa.make())
      yield* cluster.settle
      yield* client.delete(Namespace, { name: "app" })
      yield* client.delete(ConfigMap, { namespace: "app", name })
      yield* cluster.settle
      const { revision } = yield* ApiServer
      const before = yield* revision
      yield* cluster.advance("1 day")
      assert.deepStrictEqual([yield* published, yield* revision], [standard, before])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("restores the ConfigMap in a terminating namespace", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* cluster.run(RootCa.make())
      yield* client.create(Namespace, { metadata: { name: "app" } })
      yield* cluster.settle
      yield* client.delete(Namespace, { name: "app" })
      yield* client.patch(ConfigMap, { namespace: "app", name }, Patch.merge({ data: { "ca.crt": "others" } }))
      yield* cluster.settle
      assert.deepStrictEqual((yield* get("app")).data, data)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  for (const [reason, code, outcome] of [
    ["NotFound", 404, { isPublished: false, codes: ["200 4"] }],
    ["AlreadyExists", 409, { isPublished: true, codes: ["200 4", "409 1"] }]
  ] as const)
    it.effect(`a create that fails with ${reason} is ${outcome.isPublished ? "" : "not "}retried`, () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const match = { verb: "create", path: "/api/v1/namespaces/default/configmaps" } as const
        yield* (yield* ApiServer).setFaults([{ match, fault: { _tag: "Status", code, reason }, times: 1 }])
        yield* cluster.run(RootCa.make())
        yield* cluster.advance("1 minute")
        assert.strictEqual((yield* published).includes("default"), outcome.isPublished)
        const counted = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
          id === "root_ca_cert_publisher_sync_total"
            ? [`${attributes?.["code"]} ${(state as { readonly count?: number }).count}`]
            : []
        )
        assert.sameMembers(counted, [...outcome.codes])
      }).pipe(
        Effect.scoped,
        Effect.provide(ClusterTest.layer()),
        Effect.provideService(Metric.MetricRegistry, new Map())
      )
    )

  it.effect("counts its syncs by result, and measures their duration", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const server = yield* ApiServer
      const refusal = {
        match: { verb: "create", resource: "configmaps" },
        fault: { _tag: "Status", code: 500 },
        times: 1
      } as const
      yield* server.setFaults([refusal])
      yield* cluster.run(RootCa.make())
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* published, standard)
      // Four ConfigMaps are created, one of them after a failed request.
      const counted = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
        id.startsWith("root_ca_cert_publisher_")
          ? [`${id} ${attributes?.["code"]} ${(state as { readonly count?: number }).count}`]
          : []
      )
      assert.sameMembers(counted, [
        "root_ca_cert_publisher_sync_total 200 4",
        "root_ca_cert_publisher_sync_duration_seconds 200 4",
        "root_ca_cert_publisher_sync_total 500 1",
        "root_ca_cert_publisher_sync_duration_seconds 500 1"
      ])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()), Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("publishes nothing without a CA bundle", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* Effect.provide(cluster.run(RootCa.make()), ClusterAuthority.layerNoop)
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* published, [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )
})
