/** With a dry run no write is stored, and every write gets the same response as without. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Patch from "../../../src/kube/Patch.ts"
import { ConfigMap, Namespace } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { dry, withDryRun } from "../../../src/cli/cluster/transports.ts"
import type { Request } from "../../../src/layers/Transport.ts"

const cluster = KubeClient.layer.pipe(
  Layer.provideMerge(ApiServer.layerTransport),
  Layer.provideMerge(ApiServer.layer())
)

describe("dry run", () => {
  it.effect("leaves the server unchanged after every kind of write", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* client.create(Namespace, { metadata: { name: "app" } })
      yield* client.create(ConfigMap, { metadata: { name: "a", namespace: "app" }, data: { x: "1" } })
      const target = { namespace: "app", name: "a" }
      const before = yield* client.list(ConfigMap, { namespace: "app" })
      const revision = yield* (yield* ApiServer).revision
      const careful = client.through(withDryRun)

      const created = yield* careful.create(ConfigMap, { metadata: { name: "b", namespace: "app" } })
      const patched = yield* careful.patch(ConfigMap, target, Patch.merge({ data: { x: "2" } }))
      const updated = yield* careful.update(ConfigMap, { ...before.items[0]!, data: { x: "3" } })
      yield* careful.delete(ConfigMap, target)
      yield* careful.delete(ConfigMap, target, { propagationPolicy: "Background" })
      yield* careful.deleteCollection(ConfigMap, { namespace: "app" })
      yield* careful.raw({
        method: "DELETE",
        path: "/api/v1/namespaces/app/configmaps/a",
        context: { verb: "delete", path: "" }
      })

      assert.strictEqual(created.metadata.name, "b")
      assert.deepStrictEqual(patched.data, { x: "2" })
      assert.deepStrictEqual(updated.data, { x: "3" })
      assert.strictEqual(yield* (yield* ApiServer).revision, revision)
      assert.deepStrictEqual((yield* client.list(ConfigMap, { namespace: "app" })).items, before.items)
    }).pipe(Effect.provide(cluster))
  )

  it("sets dryRun where the server reads it, and leaves reads unchanged", () => {
    const request = (method: Request["method"], body?: unknown): Request => ({
      method,
      path: "/x",
      query: { a: "b" },
      body,
      context: { verb: "", path: "/x" }
    })
    assert.deepStrictEqual(dry(request("GET")), request("GET"))
    for (const method of ["POST", "PUT", "PATCH"] as const) {
      assert.deepStrictEqual(dry(request(method, {})).query, { a: "b", dryRun: "All" })
    }
    assert.deepStrictEqual(dry(request("DELETE")).query, { a: "b", dryRun: "All" })
    assert.deepStrictEqual(dry(request("DELETE", { kind: "DeleteOptions" })).body, {
      kind: "DeleteOptions",
      dryRun: ["All"]
    })
  })
})
