/** The paths of endpoints: by group, version, scope and subresource. */
import { assert, describe, it } from "@effect/vitest"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Resource from "../../src/kube/Resource.ts"

const core = "/api/v1"
const apps = "/apis/apps/v1"
const inB = "namespaces/b"

const kinds: ReadonlyArray<
  readonly [of: string, path: string, subresource?: string | undefined, scope?: Resource.Scope]
> = [
  ["v1 pods", `${core}/${inB}/pods/a`],
  ["v1 pods", `${core}/${inB}/pods/a/status`, "status"],
  ["v1 pods", `${core}/${inB}/pods/a/eviction`, "eviction"],
  ["v1 pods", `${core}/${inB}/pods/a/binding`, "binding"],
  ["v1 pods", `${core}/${inB}/pods/a/ephemeralcontainers`, "ephemeralcontainers"],
  ["v1 nodes", `${core}/nodes/a`, undefined, "Cluster"],
  ["v1 nodes", `${core}/nodes/a/status`, "status", "Cluster"],
  ["v1 namespaces", `${core}/namespaces/a`, undefined, "Cluster"],
  ["v1 namespaces", `${core}/namespaces/a/finalize`, "finalize", "Cluster"],
  ["v1 persistentvolumes", `${core}/persistentvolumes/a`, undefined, "Cluster"],
  ["v1 persistentvolumeclaims", `${core}/${inB}/persistentvolumeclaims/a`],
  ["v1 configmaps", `${core}/${inB}/configmaps/a`],
  ["v1 secrets", `${core}/${inB}/secrets/a`],
  ["v1 services", `${core}/${inB}/services/a`],
  ["v1 endpoints", `${core}/${inB}/endpoints/a`],
  ["v1 events", `${core}/${inB}/events/a`],
  ["v1 serviceaccounts", `${core}/${inB}/serviceaccounts/a`],
  ["v1 serviceaccounts", `${core}/${inB}/serviceaccounts/a/token`, "token"],
  ["v1 replicationcontrollers", `${core}/${inB}/replicationcontrollers/a/scale`, "scale"],
  ["apps/v1 deployments", `${apps}/${inB}/deployments/a`],
  ["apps/v1 deployments", `${apps}/${inB}/deployments/a/scale`, "scale"],
  ["apps/v1 replicasets", `${apps}/${inB}/replicasets/a/status`, "status"],
  ["apps/v1 statefulsets", `${apps}/${inB}/statefulsets/a`],
  ["apps/v1 daemonsets", `${apps}/${inB}/daemonsets/a`],
  ["apps/v1 controllerrevisions", `${apps}/${inB}/controllerrevisions/a`],
  ["batch/v1 jobs", `/apis/batch/v1/${inB}/jobs/a`],
  ["batch/v1 cronjobs", `/apis/batch/v1/${inB}/cronjobs/a`],
  ["autoscaling/v2 horizontalpodautoscalers", `/apis/autoscaling/v2/${inB}/horizontalpodautoscalers/a`],
  ["policy/v1 poddisruptionbudgets", `/apis/policy/v1/${inB}/poddisruptionbudgets/a`],
  ["coordination.k8s.io/v1 leases", `/apis/coordination.k8s.io/v1/${inB}/leases/a`],
  ["discovery.k8s.io/v1 endpointslices", `/apis/discovery.k8s.io/v1/${inB}/endpointslices/a`],
  ["events.k8s.io/v1 events", `/apis/events.k8s.io/v1/${inB}/events/a`],
  ["networking.k8s.io/v1 ingresses", `/apis/networking.k8s.io/v1/${inB}/ingresses/a`],
  ["rbac.authorization.k8s.io/v1 roles", `/apis/rbac.authorization.k8s.io/v1/${inB}/roles/a`],
  [
    "rbac.authorization.k8s.io/v1 clusterroles",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/a",
    undefined,
    "Cluster"
  ],
  ["storage.k8s.io/v1 storageclasses", "/apis/storage.k8s.io/v1/storageclasses/a", undefined, "Cluster"],
  ["apiextensions.k8s.io/v1 crds", "/apis/apiextensions.k8s.io/v1/crds/a", undefined, "Cluster"],
  ["example.com/v1alpha1 widgets", `/apis/example.com/v1alpha1/${inB}/widgets/a/status`, "status"]
]

const resource = (of: string, scope: Resource.Scope): Resource.Any => {
  const [, group = "", version = "", plural = ""] = /^(?:(.*)\/)?(\S+) (\S+)$/.exec(of) ?? []
  return Resource.make<KubeObject>()({ group, version, plural, kind: plural, scope })
}

describe("the path of an endpoint", () => {
  for (const [of, path, subresource, scope = "Namespaced"] of kinds) {
    it(`of ${of}: ${path}`, () => {
      const kind = resource(of, scope)
      assert.strictEqual(Resource.path(kind, { namespace: "b", name: "a", subresource }), path)
      // The path for all namespaces serves lists and watches; cluster-scoped kinds have no other.
      const everywhere = path.split(scope === "Cluster" ? "/a" : `/${inB}/`)[0]
      assert.isTrue(Resource.path(kind).startsWith(everywhere ?? ""))
      assert.isTrue(Resource.path(kind).endsWith(`/${kind.plural}`))
      assert.strictEqual(Resource.path(kind, { namespace: "b" }).includes(inB), scope === "Namespaced")
      assert.strictEqual(Resource.apiVersion(kind), of.split(" ")[0])
    })
  }

  it("escapes special characters of a name, so that it cannot address another endpoint", () =>
    assert.strictEqual(
      Resource.path(resource("v1 pods", "Namespaced"), { namespace: "b/../c", name: "a?b=c#d" }),
      "/api/v1/namespaces/b%2F..%2Fc/pods/a%3Fb%3Dc%23d"
    ))
})
