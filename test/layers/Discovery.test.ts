import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import * as ApiError from "../../src/kube/ApiError.ts"
import { Lease, Pod } from "../../src/kube/resources.ts"
import { Discovery } from "../../src/layers/Discovery.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Transport } from "../../src/layers/Transport.ts"

/** A server with a table of documents, and the paths that were requested. */
const server = (documents: Record<string, unknown>) => {
  const requests: Array<string> = []
  const transport = Transport.of({
    send: (request) =>
      Effect.suspend(() => {
        requests.push(request.path)
        const body = documents[request.path]
        return body === undefined
          ? Effect.fail(ApiError.fromStatus({ context: request.context, status: 404, body: undefined }))
          : body instanceof Error
            ? Effect.fail(ApiError.fromStatus({ context: request.context, status: 403, body: undefined }))
            : Effect.succeed({ status: 200, body, warnings: [] })
      }),
    watch: () => {
      throw new Error("discovery does not watch")
    }
  })
  const layer = Discovery.layer.pipe(
    Layer.provideMerge(KubeClient.layer),
    Layer.provide(Layer.succeed(Transport, transport))
  )
  return { requests, documents, layer }
}

const resource = (name: string, kind: string, namespaced = true) => ({
  name,
  kind,
  namespaced,
  verbs: ["get", "list", "watch"],
  shortNames: ["x"]
})

const legacy = () =>
  server({
    "/api": { kind: "APIVersions", versions: ["v1"] },
    "/api/v1": {
      kind: "APIResourceList",
      resources: [resource("pods", "Pod"), resource("pods/status", "Pod"), resource("nodes", "Node", false)]
    },
    "/apis": {
      kind: "APIGroupList",
      groups: [
        {
          name: "shop.example",
          versions: [{ version: "v2" }, { version: "v1" }],
          preferredVersion: { version: "v1" }
        },
        { name: "coordination.k8s.io", versions: [{ version: "v1" }] }
      ]
    },
    "/apis/shop.example/v1": { kind: "APIResourceList", resources: [resource("carts", "Cart")] },
    "/apis/shop.example/v2": {
      kind: "APIResourceList",
      resources: [resource("carts", "Cart"), resource("tills", "Till")]
    },
    "/apis/coordination.k8s.io/v1": { kind: "APIResourceList", resources: [resource("leases", "Lease")] }
  })

const aggregated = () => {
  const kind = (plural: string, name: string, scope = "Namespaced") => ({
    resource: plural,
    responseKind: { group: "", version: "v1", kind: name },
    scope,
    verbs: ["list"],
    subresources: [{ subresource: "status" }]
  })
  const list = (...items: ReadonlyArray<object>) => ({ kind: "APIGroupDiscoveryList", items })
  return server({
    "/api": list({
      metadata: {},
      versions: [{ version: "v1", resources: [kind("pods", "Pod"), kind("nodes", "Node", "Cluster")] }]
    }),
    "/apis": list(
      {
        metadata: { name: "shop.example" },
        versions: [
          { version: "v2", resources: [kind("tills", "Till")] },
          { version: "v1", resources: [kind("carts", "Cart")] }
        ]
      },
      { metadata: { name: "coordination.k8s.io" }, versions: [{ version: "v1", resources: [kind("leases", "Lease")] }] }
    )
  })
}

describe("Discovery", () => {
  it.effect("sends no request before the first use, and reads each document once", () => {
    const { requests, layer } = legacy()
    return Effect.gen(function* () {
      const discovery = yield* Discovery
      assert.deepStrictEqual(requests, [])
      const pod = yield* discovery.resourceFor({ group: "", kind: "Pod" })
      const { id, plural, scope, subresources, verbs, version } = pod
      assert.deepStrictEqual(
        { id, plural, scope, subresources, verbs, version },
        {
          id: "v1/pods",
          plural: "pods",
          scope: "Namespaced",
          subresources: ["status"],
          verbs: ["get", "list", "watch"],
          version: "v1"
        }
      )
      assert.strictEqual((yield* discovery.resourceFor({ group: "", kind: "Node" })).scope, "Cluster")
      assert.deepStrictEqual(requests, ["/api", "/api/v1"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a legacy group is read one version after the other, the preferred one first", () => {
    const { requests, layer } = legacy()
    return Effect.gen(function* () {
      const { resourceFor } = yield* Discovery
      assert.strictEqual((yield* resourceFor({ group: "shop.example", kind: "Cart" })).version, "v1")
      assert.deepStrictEqual(requests, ["/apis", "/apis/shop.example/v1"])
      assert.strictEqual((yield* resourceFor({ group: "shop.example", kind: "Till" })).id, "shop.example/v2/tills")
      assert.strictEqual((yield* resourceFor({ group: "shop.example", version: "v2", kind: "Cart" })).version, "v2")
      assert.deepStrictEqual(requests, ["/apis", "/apis/shop.example/v1", "/apis/shop.example/v2"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("aggregated discovery reads all groups with one request", () => {
    const { requests, layer } = aggregated()
    return Effect.gen(function* () {
      const { resourceFor, serves } = yield* Discovery
      assert.strictEqual((yield* resourceFor({ group: "shop.example", kind: "Cart" })).id, "shop.example/v1/carts")
      assert.strictEqual((yield* resourceFor({ group: "shop.example", kind: "Till" })).version, "v2")
      assert.isTrue(yield* serves(Lease))
      assert.deepStrictEqual(requests, ["/apis"])
      const node = yield* resourceFor({ group: "", kind: "Node" })
      assert.deepStrictEqual([node.scope, node.subresources], ["Cluster", ["status"]])
      assert.deepStrictEqual(requests, ["/apis", "/api"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a kind that was not found is looked up again at most every ten seconds, and then found", () => {
    const { requests, documents, layer } = aggregated()
    return Effect.gen(function* () {
      const { resourceFor } = yield* Discovery
      const groupKind = { group: "new.example", kind: "Widget" }
      const error = yield* Effect.flip(resourceFor(groupKind))
      assert.strictEqual(error._tag, "NotServed")
      assert.include(error.message, "does not serve kind Widget of new.example")
      yield* Effect.flip(resourceFor(groupKind))
      assert.strictEqual(requests.length, 1)
      const resources = [{ resource: "widgets", responseKind: { kind: "Widget" }, scope: "Cluster", verbs: [] }]
      const { items } = documents["/apis"] as { items: ReadonlyArray<object> }
      documents["/apis"] = {
        kind: "APIGroupDiscoveryList",
        items: [...items, { metadata: { name: "new.example" }, versions: [{ version: "v1", resources }] }]
      }
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual((yield* Effect.flip(resourceFor(groupKind)))._tag, "NotServed")
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* resourceFor(groupKind)).plural, "widgets")
      assert.strictEqual(requests.length, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("concurrent lookups send one request", () => {
    const { requests, layer } = legacy()
    return Effect.gen(function* () {
      const { resourceFor } = yield* Discovery
      const ask = resourceFor({ group: "", kind: "Pod" })
      yield* Effect.all([ask, ask, ask], { concurrency: "unbounded" })
      assert.deepStrictEqual(requests, ["/api", "/api/v1"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("lists every resource once, in the preferred version, with aggregated and legacy discovery", () =>
    Effect.gen(function* () {
      const listed = ({ layer }: ReturnType<typeof server>) =>
        Effect.gen(function* () {
          const { failed, resources } = yield* (yield* Discovery).resources
          assert.deepStrictEqual(failed, [])
          return resources.map(({ id, scope }) => [id, scope])
        }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(yield* listed(legacy()), [
        ["v1/pods", "Namespaced"],
        ["v1/nodes", "Cluster"],
        ["shop.example/v1/carts", "Namespaced"],
        ["shop.example/v2/tills", "Namespaced"],
        ["coordination.k8s.io/v1/leases", "Namespaced"]
      ])
      const one = aggregated()
      assert.deepStrictEqual(yield* listed(one), [
        ["v1/pods", "Namespaced"],
        ["v1/nodes", "Cluster"],
        ["shop.example/v2/tills", "Namespaced"],
        ["shop.example/v1/carts", "Namespaced"],
        ["coordination.k8s.io/v1/leases", "Namespaced"]
      ])
      assert.sameMembers(one.requests, ["/api", "/apis"])
    })
  )

  it.effect("a group whose discovery fails is reported, and the others are listed", () => {
    const { documents, layer } = legacy()
    documents["/apis/shop.example/v1"] = new Error("forbidden")
    return Effect.gen(function* () {
      const { failed, resources } = yield* (yield* Discovery).resources
      assert.deepStrictEqual(
        failed.map(({ error, group, version }) => [group, version, error.reason._tag]),
        [["shop.example", "v1", "Forbidden"]]
      )
      assert.deepStrictEqual(
        resources.map(({ id }) => id),
        ["v1/pods", "v1/nodes", "shop.example/v2/carts", "shop.example/v2/tills", "coordination.k8s.io/v1/leases"]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("a version that aggregated discovery calls stale is read by itself, and failed if that fails", () => {
    const { documents, layer } = aggregated()
    const { items } = documents["/apis"] as { items: ReadonlyArray<object> }
    const stale = {
      metadata: { name: "metrics.k8s.io" },
      versions: [
        { version: "v1beta1", freshness: "Stale", resources: [{ resource: "old", responseKind: { kind: "Old" } }] }
      ]
    }
    documents["/apis"] = { kind: "APIGroupDiscoveryList", items: [stale, ...items] }
    documents["/apis/metrics.k8s.io/v1beta1"] = new Error("unavailable")
    return Effect.gen(function* () {
      const { resources } = yield* Discovery
      const before = yield* resources
      assert.deepStrictEqual(
        before.failed.map(({ group, version }) => [group, version]),
        [["metrics.k8s.io", "v1beta1"]]
      )
      assert.strictEqual(before.resources.length, 5)
      documents["/apis/metrics.k8s.io/v1beta1"] = {
        kind: "APIResourceList",
        resources: [resource("nodes", "NodeMetrics")]
      }
      const after = yield* resources
      assert.deepStrictEqual([after.failed, after.resources.length], [[], 6])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a listing replaces what lookups have cached, and fails if the groups cannot be listed", () => {
    const { requests, documents, layer } = legacy()
    return Effect.gen(function* () {
      const { resourceFor, resources } = yield* Discovery
      yield* resources
      const count = requests.length
      assert.strictEqual((yield* resourceFor({ group: "shop.example", kind: "Cart" })).version, "v1")
      assert.strictEqual(requests.length, count, "the listing has cached it already")
      const index = documents["/apis"]
      documents["/apis"] = { kind: "APIGroupList", groups: [] }
      assert.deepStrictEqual(
        (yield* resources).resources.map(({ id }) => id),
        ["v1/pods", "v1/nodes"]
      )
      assert.strictEqual((yield* Effect.flip(resourceFor({ group: "shop.example", kind: "Cart" })))._tag, "NotServed")
      documents["/apis"] = new Error("forbidden")
      assert.strictEqual((yield* Effect.flip(resources)).reason._tag, "Forbidden")
      documents["/apis"] = index
      yield* resources
      assert.strictEqual((yield* resourceFor({ group: "shop.example", kind: "Cart" })).version, "v1")
    }).pipe(Effect.provide(layer))
  })

  it.effect("a cached result is returned while another request is in flight", () => {
    const { layer } = legacy()
    return Effect.gen(function* () {
      const client = yield* KubeClient
      const held = Latch.makeUnsafe(false)
      const slow = KubeClient.of({
        ...client,
        raw: (request) =>
          request.path === "/apis" ? Effect.andThen(held.await, client.raw(request)) : client.raw(request)
      })
      const { resourceFor } = yield* Effect.provide(
        Discovery,
        Discovery.layerWith({}).pipe(Layer.provide(Layer.succeed(KubeClient, slow)))
      )
      yield* resourceFor({ group: "", kind: "Pod" })
      const waiting = yield* Effect.forkChild(resourceFor({ group: "shop.example", kind: "Cart" }), {
        startImmediately: true
      })
      assert.strictEqual((yield* resourceFor({ group: "", kind: "Pod" })).plural, "pods")
      assert.isUndefined(waiting.pollUnsafe())
      yield* held.open
      assert.strictEqual((yield* Fiber.join(waiting)).plural, "carts")
    }).pipe(Effect.provide(layer))
  })

  it.effect("failures are typed, affect only their group, and are not cached", () => {
    const { documents, layer } = legacy()
    const index = documents["/api"]
    documents["/api"] = new Error("forbidden")
    return Effect.gen(function* () {
      const { resourceFor, serves } = yield* Discovery
      const error = yield* Effect.flip(serves(Pod))
      assert.strictEqual(error.reason._tag, "Forbidden")
      assert.isTrue(yield* serves(Lease))
      documents["/api"] = { kind: "Surprise" }
      const surprise = yield* Effect.flip(resourceFor({ group: "", kind: "Pod" }))
      assert.strictEqual(surprise._tag === "ApiError" && surprise.reason._tag, "Decode")
      documents["/api"] = index
      assert.isTrue(yield* serves(Pod))
    }).pipe(Effect.provide(layer))
  })
})
