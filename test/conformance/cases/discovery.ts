/** Discovery, OpenAPI, health and version. */
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventsEvent, Lease } from "../../../src/kube/resources.ts"
import { Discovery } from "../../../src/layers/Discovery.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Transport } from "../../../src/layers/Transport.ts"
import type { Case } from "../Case.ts"

const raw = (transport: Transport["Service"], path: string, accept?: string) =>
  transport.send({ method: "GET", path, accept, context: { verb: "raw", path } })

export const discovery: ReadonlyArray<Case> = [
  {
    title: "discovery names groups, versions and resources",
    since: 20,
    run: Effect.fnUntraced(function* ({ transport }) {
      const api = (yield* raw(transport, "/api")).body as { kind: string; versions: Array<string> }
      assert.deepStrictEqual([api.kind, api.versions], ["APIVersions", ["v1"]])
      const apis = (yield* raw(transport, "/apis")).body as { kind: string; groups: Array<{ name: string }> }
      assert.strictEqual(apis.kind, "APIGroupList")
      assert.includeMembers(
        apis.groups.map((group) => group.name),
        ["coordination.k8s.io", "events.k8s.io"]
      )
      interface Resources {
        readonly resources: ReadonlyArray<{ name: string; kind: string; namespaced: boolean; verbs: Array<string> }>
      }
      const { resources } = (yield* raw(transport, "/api/v1")).body as Resources
      const pods = resources.find((one) => one.name === "pods")
      assert.deepStrictEqual([pods?.kind, pods?.namespaced], ["Pod", true])
      assert.includeMembers(pods?.verbs ?? [], ["create", "delete", "get", "list", "patch", "update", "watch"])
      assert.isDefined(resources.find((one) => one.name === "pods/status"))
      assert.isFalse(resources.find((one) => one.name === "nodes")?.namespaced)
      const group = (yield* raw(transport, "/apis/coordination.k8s.io")).body as {
        preferredVersion: { version: string }
      }
      assert.strictEqual(group.preferredVersion.version, "v1")
    })
  },
  {
    title: "the discovery service finds kinds, their scope and their subresources, and says what is not served",
    since: 20,
    run: Effect.fnUntraced(function* ({ client }) {
      const layer = Discovery.layer.pipe(Layer.provide(Layer.succeed(KubeClient, client)))
      const { resourceFor, serves } = Context.get(yield* Layer.build(layer), Discovery)
      const found = yield* resourceFor({ group: "", kind: "Pod" })
      assert.deepStrictEqual([found.id, found.scope], ["v1/pods", "Namespaced"])
      assert.include(found.subresources, "status")
      assert.strictEqual((yield* resourceFor({ group: "", kind: "Node" })).scope, "Cluster")
      assert.strictEqual((yield* resourceFor({ group: "coordination.k8s.io", kind: "Lease" })).id, Lease.id)
      assert.isTrue(yield* serves(EventsEvent))
      const missing = yield* Effect.flip(resourceFor({ group: "none.example", kind: "Widget" }))
      assert.strictEqual(missing._tag, "NotServed")
    })
  },
  {
    title: "aggregated discovery answers for all groups at once",
    since: 30,
    rule: "KEP-3352: aggregated discovery, v2 from 1.30",
    run: Effect.fnUntraced(function* ({ transport }) {
      const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
      const body = (yield* raw(transport, "/apis", accept)).body as { kind: string; items: ReadonlyArray<unknown> }
      assert.strictEqual(body.kind, "APIGroupDiscoveryList")
    })
  },
  {
    title: "version is JSON, readyz and healthz are text",
    since: 20,
    run: Effect.fnUntraced(function* ({ transport }) {
      const version = (yield* raw(transport, "/version")).body as { major: string; gitVersion: string }
      assert.strictEqual(version.major, "1")
      assert.match(version.gitVersion, /^v1\.\d+\.\d+/)
      assert.strictEqual((yield* raw(transport, "/readyz")).body, "ok")
      assert.strictEqual((yield* raw(transport, "/healthz")).body, "ok")
    })
  }
]
