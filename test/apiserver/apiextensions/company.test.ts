/** Custom resources with RBAC, quotas, namespace deletion and the garbage collector. */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import * as Namespaces from "../../../src/controllers/Namespace.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Namespace } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { askAs, master, person, rbac, ref } from "../users.ts"
import { get, layer, patch, post, refused, same } from "../client.ts"
import { definition, memcached, memcacheds } from "./memcached.ts"

const Memcached = Resource.make<any>()({
  group: "cache.example.com",
  version: "v1alpha1",
  kind: "Memcached",
  plural: "memcacheds"
})

const amy = person("amy")

describe("custom resources and controllers", () => {
  it.effect("RBAC grants access by group and plural", () =>
    Effect.gen(function* () {
      same((yield* askAs(amy, "GET", memcacheds)).status, 403)
      const rules = [{ apiGroups: ["cache.example.com"], resources: ["memcacheds"], verbs: ["get", "list"] }]
      yield* askAs(master, "POST", `${rbac}/clusterroles`, { metadata: { name: "r" }, rules })
      const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "amy" }]
      const binding = { metadata: { name: "b" }, roleRef: ref("ClusterRole", "r"), subjects }
      yield* askAs(master, "POST", `${rbac}/clusterrolebindings`, binding)
      same((yield* askAs(amy, "GET", memcacheds)).status, 200)
      same((yield* askAs(amy, "POST", memcacheds, memcached("a"))).status, 403)
    }).pipe(Effect.provide(ApiServer.layer({ authorization: "RBAC", crds: [definition()] })))
  )

  it.effect("ResourceQuota counts them", () =>
    Effect.gen(function* () {
      const quotas = "/api/v1/namespaces/default/resourcequotas"
      const hard = { "count/memcacheds.cache.example.com": "1" }
      yield* post(quotas, { metadata: { name: "q" }, spec: { hard } })
      yield* patch(`${quotas}/q/status`, "merge", {
        status: { hard, used: { "count/memcacheds.cache.example.com": "0" } }
      })
      yield* post(memcacheds, memcached("a"))
      same((yield* refused(post(memcacheds, memcached("b")))).status, 403)
      same((yield* get(`${quotas}/q`)).status.used, hard)
    }).pipe(Effect.provide(layer({ admission: { resourceQuota: true }, crds: [definition()] })))
  )

  it.effect("deleting a namespace deletes them, even if the namespace is older than the definition", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(Namespaces.make())
      yield* cluster.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "app" } }])
      yield* cluster.apply([definition()])
      yield* cluster.advance("1 minute")
      yield* cluster.apply([{ ...memcached("a"), metadata: { name: "a", namespace: "app" } }])
      yield* (yield* KubeClient).delete(Namespace, { name: "app" })
      yield* cluster.advance("2 minutes")
      same(yield* cluster.snapshot(Memcached), [])
      same(
        (yield* cluster.snapshot(Namespace)).filter((one) => one.metadata.name === "app"),
        []
      )
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("the garbage collector deletes them with their owner, and their dependents with them", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* cluster.run(GarbageCollector.make())
      yield* cluster.apply([definition()])
      yield* cluster.advance("2 minutes")
      const [owner] = yield* cluster.apply([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner" } }])
      const of = (object: any) => [
        { apiVersion: object.apiVersion, kind: object.kind, name: object.metadata.name, uid: object.metadata.uid }
      ]
      const [made] = yield* cluster.apply([
        {
          ...memcached("a"),
          metadata: { name: "a", ownerReferences: of({ ...owner, apiVersion: "v1", kind: "ConfigMap" }) }
        }
      ])
      yield* cluster.apply([
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "owned", ownerReferences: of({ ...memcached("a"), metadata: made!.metadata }) }
        }
      ])
      yield* cluster.advance("1 minute")
      same((yield* cluster.snapshot(Memcached)).length, 1)
      yield* client.delete(ConfigMap, { namespace: "default", name: "owner" })
      yield* cluster.advance("2 minutes")
      same(yield* cluster.snapshot(Memcached), [])
      same(yield* cluster.snapshot(ConfigMap), [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )
})
