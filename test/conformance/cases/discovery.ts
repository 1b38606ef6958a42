/** Discovery, OpenAPI, health and version. */
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventsEvent, Lease } from "../../../src/kube/resources.ts"
import { Discovery } from "../../../src/layers/Discovery.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Transport } from "../../../src/layers/Transport.ts"
import { done } from "../assertions.ts"
import type { Case } from "../Case.ts"

const raw = (transport: Transport["Service"], path: string, accept?: string) =>
  transport.send({ method: "GET", path, accept, context: { verb: "raw", path } })

export const discovery: ReadonlyArray<Case> = [
  {
    title: "discovery lists groups, versions and resources",
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
    title: "Discovery finds resources, their scope and subresources, and reports those that are not served",
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
    title: "aggregated discovery lists all groups",
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
  },
  {
    title: "legacy discovery: groups with their versions, a group alone, and its resources",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      const group = done(yield* ask("GET", "/apis/apps"))
      assert.deepStrictEqual(
        [group.kind, group.name, group.preferredVersion],
        ["APIGroup", "apps", { groupVersion: "apps/v1", version: "v1" }]
      )
      const list = done(yield* ask("GET", "/apis/apps/v1"))
      assert.deepStrictEqual([list.kind, list.groupVersion], ["APIResourceList", "apps/v1"])
      const deployment = list.resources.find((one: any) => one.name === "deployments")
      assert.deepStrictEqual(
        [deployment.kind, deployment.namespaced, deployment.shortNames, deployment.categories],
        ["Deployment", true, ["deploy"], ["all"]]
      )
      const scale = list.resources.find((one: any) => one.name === "deployments/scale")
      assert.deepStrictEqual([scale.kind, scale.group, scale.version], ["Scale", "autoscaling", "v1"])
      assert.sameMembers(scale.verbs, ["get", "patch", "update"])
    })
  },
  {
    title: "resources have the short names of kubectl",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      const { resources } = done(yield* ask("GET", "/api/v1"))
      const shortNames = Object.fromEntries(
        resources.filter((one: any) => one.shortNames).map((one: any) => [one.name, one.shortNames])
      )
      for (const [name, short] of Object.entries({
        pods: "po",
        services: "svc",
        configmaps: "cm",
        nodes: "no",
        namespaces: "ns",
        serviceaccounts: "sa",
        events: "ev",
        endpoints: "ep"
      })) {
        assert.deepStrictEqual(shortNames[name], [short], name)
      }
    })
  },
  {
    title: "every listed group version has a resource list",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      const { groups } = done(yield* ask("GET", "/apis"))
      assert.isAbove(groups.length, 5)
      for (const { name, versions } of groups) {
        assert.strictEqual(done(yield* ask("GET", `/apis/${name}`)).kind, "APIGroup")
        for (const { groupVersion } of versions) {
          const list = done(yield* ask("GET", `/apis/${groupVersion}`))
          assert.deepStrictEqual([list.kind, list.groupVersion], ["APIResourceList", groupVersion])
        }
      }
    })
  },
  {
    title: "aggregated discovery of the core group: resources with scope, verbs and subresources",
    since: 30,
    rule: "KEP-3352: aggregated discovery, v2 from 1.30",
    run: Effect.fnUntraced(function* ({ ask }) {
      const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
      const reply = yield* ask("GET", "/api", undefined, { accept })
      assert.match(reply.contentType, /as=APIGroupDiscoveryList/)
      const [{ versions }] = done(reply).items
      assert.strictEqual(versions[0].version, "v1")
      const pods = versions[0].resources.find((one: any) => one.resource === "pods")
      assert.deepStrictEqual([pods.responseKind.kind, pods.scope, pods.singularResource], ["Pod", "Namespaced", "pod"])
      assert.include(
        pods.subresources.map((one: any) => one.subresource),
        "status"
      )
    })
  },
  {
    title: "OpenAPI v2 describes the kinds that are served",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      const { definitions, paths, swagger } = done(yield* ask("GET", "/openapi/v2"))
      assert.strictEqual(swagger, "2.0")
      const deployment = definitions["io.k8s.api.apps.v1.Deployment"]
      assert.deepStrictEqual(deployment["x-kubernetes-group-version-kind"], [
        { group: "apps", kind: "Deployment", version: "v1" }
      ])
      assert.containsAllKeys(deployment.properties, ["apiVersion", "kind", "metadata", "spec", "status"])
      assert.property(paths, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
      const { containers } = definitions["io.k8s.api.core.v1.PodSpec"].properties
      assert.deepStrictEqual(
        [containers["x-kubernetes-patch-merge-key"], containers["x-kubernetes-patch-strategy"]],
        ["name", "merge"]
      )
    })
  },
  {
    title: "OpenAPI v3: an index with a path for every group and version, and documents behind it",
    since: 27,
    rule: "KEP-2896: OpenAPI v3 is stable from 1.27",
    run: Effect.fnUntraced(function* ({ ask }) {
      const { paths } = done(yield* ask("GET", "/openapi/v3"))
      assert.containsAllKeys(paths, ["api/v1", "apis/apps/v1"])
      const document = done(yield* ask("GET", paths["apis/apps/v1"].serverRelativeURL))
      assert.match(document.openapi, /^3\.0/)
      assert.property(document.components.schemas, "io.k8s.api.apps.v1.Deployment")
    })
  },
  {
    title: "livez, readyz and healthz report all checks or one; an unknown check is NotFound",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      for (const path of ["/livez", "/readyz", "/healthz", "/livez/ping", "/readyz/ping", "/healthz/ping"]) {
        const reply = yield* ask("GET", path)
        assert.deepStrictEqual([reply.status, reply.text], [200, "ok"], path)
        assert.match(reply.contentType, /^text\/plain/)
      }
      const verbose = yield* ask("GET", "/readyz?verbose")
      assert.match(verbose.text, /^\[\+\]ping ok\n(?:.*\n)*readyz check passed\n$/)
      assert.strictEqual((yield* ask("GET", "/healthz/none")).status, 404)
    })
  },
  {
    title: "/version is the version of Kubernetes",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, minor }) {
      const body = done(yield* ask("GET", "/version"))
      for (const key of ["major", "minor", "gitVersion", "gitCommit", "buildDate", "goVersion", "platform"]) {
        assert.isString(body[key], key)
      }
      assert.match(body.gitVersion, new RegExp(`^v1\\.${minor}\\.`))
    })
  }
]
