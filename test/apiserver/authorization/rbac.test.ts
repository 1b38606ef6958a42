import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { same } from "../client.ts"
import { askAs, grant, layer, master, person, rbac, ref, rule, toUser } from "../users.ts"

const bob = person("bob")
const pods = "/api/v1/namespaces/default/pods"
const json = { "content-type": "application/json" }
const message = ({ body }: { readonly body: any }): string => body.message

describe("RBAC", () => {
  it.effect("rejects with the messages of kube-apiserver", () =>
    Effect.gen(function* () {
      const words = Effect.fnUntraced(function* (method: string, path: string, expected: string, details?: object) {
        const { body, status } = yield* askAs(bob, method, path)
        same([status, body.code, body.reason, body.message], [403, 403, "Forbidden", expected])
        if (details !== undefined) same(body.details, details)
      })
      const in_ = (group: string) => `in API group "${group}" in the namespace "default"`
      yield* words("GET", pods, `pods is forbidden: User "bob" cannot list resource "pods" ${in_("")}`, {
        kind: "pods"
      })
      yield* words(
        "GET",
        "/api/v1/pods?watch=1",
        `pods is forbidden: User "bob" cannot watch resource "pods" in API group "" at the cluster scope`
      )
      yield* words(
        "PUT",
        `${pods}/x/status`,
        `pods "x" is forbidden: User "bob" cannot update resource "pods/status" ${in_("")}`,
        { name: "x", kind: "pods" }
      )
      yield* words(
        "DELETE",
        "/apis/apps/v1/namespaces/default/deployments",
        `deployments.apps is forbidden: User "bob" cannot deletecollection resource "deployments" ${in_("apps")}`,
        { group: "apps", kind: "deployments" }
      )
      yield* words(
        "GET",
        "/api/v1/namespaces/default",
        `namespaces "default" is forbidden: User "bob" cannot get resource "namespaces" ${in_("")}`
      )
      // A user without permission does not learn whether it exists.
      yield* words(
        "GET",
        "/apis/foo.io/v1/bars",
        `bars.foo.io is forbidden: User "bob" cannot list resource "bars" in API group "foo.io" at the cluster scope`
      )
      yield* words("GET", "/metrics", `forbidden: User "bob" cannot get path "/metrics"`, {})
    }).pipe(Effect.provide(layer()))
  )

  it.effect("allows discovery and self reviews to authenticated users, and everything to the administrator", () =>
    Effect.gen(function* () {
      for (const path of ["/api", "/apis", "/apis/apps/v1", "/openapi/v2", "/version", "/healthz"]) {
        same((yield* askAs(bob, "GET", path)).status, 200, path)
      }
      const stranger = { name: "system:anonymous", groups: ["system:unauthenticated"] }
      same((yield* askAs(stranger, "GET", "/readyz")).status, 200)
      same((yield* askAs(stranger, "GET", "/api")).status, 403)
      same((yield* askAs(master, "GET", "/api/v1/secrets")).status, 200)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("grants the rules of bound roles in the namespace of the binding, as long as both exist", () =>
    Effect.gen(function* () {
      yield* grant("bob", "default", "reader", rule("", "pods", "get list"), rule("", "configmaps", "get", "a"))
      const status = (method: string, path: string) => Effect.map(askAs(bob, method, path), (reply) => reply.status)
      same(yield* status("GET", pods), 200)
      same(yield* status("GET", `${pods}/none`), 404)
      same(yield* status("GET", "/api/v1/namespaces/kube-system/pods"), 403)
      same(yield* status("GET", "/api/v1/pods"), 403)
      same(yield* status("GET", `${pods}?watch=true`), 403)
      same(yield* status("GET", "/api/v1/namespaces/default/configmaps/a"), 404)
      same(yield* status("GET", "/api/v1/namespaces/default/configmaps/b"), 403)
      yield* askAs(master, "DELETE", `${rbac}/namespaces/default/rolebindings/reader`)
      same(yield* status("GET", pods), 403)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a rule with resourceNames allows lists with a field selector for that name only", () =>
    Effect.gen(function* () {
      yield* grant("bob", "default", "one", rule("", "pods", "list watch", "a"))
      const list = (selector: string) =>
        Effect.map(askAs(bob, "GET", `${pods}?fieldSelector=${selector}`), (reply) => reply.status)
      same(yield* list("metadata.name%3Da"), 200)
      same(yield* list("metadata.name%3Db"), 403)
      same(yield* list("metadata.name!%3Da"), 403)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a RoleBinding grants a ClusterRole in one namespace, to users, groups and service accounts", () =>
    Effect.gen(function* () {
      const bind = (name: string, subject: object) =>
        askAs(master, "POST", `${rbac}/namespaces/default/rolebindings`, {
          metadata: { name },
          roleRef: ref("ClusterRole", "view"),
          subjects: [subject]
        })
      yield* bind("team", { kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "team" })
      yield* bind("robot", { kind: "ServiceAccount", name: "robot", namespace: "kube-system" })
      const robot = person("system:serviceaccount:kube-system:robot")
      for (const user of [person("amy", "team"), robot]) {
        same((yield* askAs(user, "GET", pods)).status, 200)
        same((yield* askAs(user, "GET", "/api/v1/namespaces/default/secrets")).status, 403)
        same((yield* askAs(user, "GET", "/api/v1/namespaces/kube-public/pods")).status, 403)
      }
    }).pipe(Effect.provide(layer()))
  )

  it.effect("admin aggregates edit, and edit aggregates view; new roles join by their label", () =>
    Effect.gen(function* () {
      const can = (role: string, verb: string, resource: string, group = "") =>
        Effect.gen(function* () {
          const attributes = { verb, resource, group, namespace: "default" }
          const spec = { user: role, resourceAttributes: attributes }
          const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
          return (yield* askAs(master, "POST", path, { spec })).body.status.allowed
        })
      for (const role of ["view", "edit", "admin"]) {
        yield* askAs(master, "POST", `${rbac}/namespaces/default/rolebindings`, {
          metadata: { name: role },
          roleRef: ref("ClusterRole", role),
          subjects: [toUser(role)]
        })
      }
      const all = Effect.fnUntraced(function* (verb: string, resource: string, group?: string) {
        return [
          yield* can("view", verb, resource, group),
          yield* can("edit", verb, resource, group),
          yield* can("admin", verb, resource, group)
        ]
      })
      same(yield* all("list", "pods"), [true, true, true])
      same(yield* all("create", "deployments", "apps"), [false, true, true])
      same(yield* all("create", "roles", "rbac.authorization.k8s.io"), [false, false, true])
      same(yield* all("get", "widgets", "example.io"), [false, false, false])
      yield* askAs(master, "POST", `${rbac}/clusterroles`, {
        metadata: { name: "widgets", labels: { "rbac.authorization.k8s.io/aggregate-to-edit": "true" } },
        rules: [rule("example.io", "widgets", "get")]
      })
      same(yield* all("get", "widgets", "example.io"), [false, true, true])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("names a role that a binding references and that does not exist", () =>
    Effect.gen(function* () {
      const bind = (kind: "Role" | "ClusterRole") =>
        askAs(master, "POST", `${rbac}/namespaces/default/rolebindings`, {
          metadata: { name: kind.toLowerCase() },
          roleRef: ref(kind, "gone"),
          subjects: [toUser("bob")]
        })
      yield* bind("ClusterRole")
      const one = 'clusterrole.rbac.authorization.k8s.io "gone" not found'
      assert.isTrue(message(yield* askAs(bob, "GET", pods)).endsWith(`in the namespace "default": RBAC: ${one}`))
      yield* bind("Role")
      const two = `[${one}, role.rbac.authorization.k8s.io "gone" not found]`
      assert.isTrue(message(yield* askAs(bob, "GET", pods)).endsWith(`: RBAC: ${two}`))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("creating by PUT or apply requires the permission to create", () =>
    Effect.gen(function* () {
      yield* grant(
        "bob",
        "default",
        "w",
        rule("coordination.k8s.io", "leases", "update"),
        rule("", "configmaps", "patch")
      )
      const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l"
      const put = yield* askAs(bob, "PUT", lease, { metadata: { name: "l" }, spec: {} })
      same([put.status, message(put)], [403, 'leases.coordination.k8s.io "l" is forbidden: '])
      const config = "/api/v1/namespaces/default/configmaps/c?fieldManager=m"
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } }
      const apply = { "content-type": "application/apply-patch+yaml" }
      const applied = yield* askAs(bob, "PATCH", config, object, apply)
      same([applied.status, message(applied)], [403, 'configmaps "c" is forbidden: '])
      yield* askAs(master, "PATCH", config, object, apply)
      same((yield* askAs(bob, "PATCH", config, { ...object, data: { a: "1" } }, apply)).status, 200)
      yield* grant("bob", "default", "c", rule("coordination.k8s.io", "leases", "create", "l"))
      same((yield* askAs(bob, "PUT", lease, { metadata: { name: "l" }, spec: {} })).status, 201)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("AlwaysAllow allows everything to authenticated users, and reviews report it", () =>
    Effect.gen(function* () {
      same((yield* askAs(bob, "GET", "/api/v1/secrets")).status, 200)
      const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
      const spec = { resourceAttributes: { verb: "delete", resource: "nodes" } }
      same((yield* askAs(bob, "POST", path, { spec }, json)).body.status, { allowed: true })
      same((yield* askAs(master, "GET", `${rbac}/clusterroles`)).body.items, [])
    }).pipe(Effect.provide(layer({ authorization: "AlwaysAllow" })))
  )
})
