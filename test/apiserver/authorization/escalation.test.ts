import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { same } from "../client.ts"
import { askAs, grant, layer, master, person, rbac, ref, rule, toUser } from "../users.ts"

const bob = person("bob")
const group = "rbac.authorization.k8s.io"
const roles = `${rbac}/namespaces/default/roles`
const bindings = `${rbac}/namespaces/default/rolebindings`
const merge = { "content-type": "application/merge-patch+json" }

/** A user who may write all roles and bindings, and has few other permissions. */
const writer = grant(
  "bob",
  "",
  "writer",
  rule(group, "roles rolebindings clusterroles clusterrolebindings", "create update patch"),
  rule("", "pods", "get list")
)

const lacking = (what: string, name: string, ...lines: ReadonlyArray<string>): string =>
  `${what}.${group}${name === "" ? "" : ` "${name}"`} is forbidden: user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}`

describe("privilege escalation", () => {
  it.effect("a role with rules that its writer lacks is rejected, and the error lists them", () =>
    Effect.gen(function* () {
      yield* writer
      const make = (metadata: object, ...rules: ReadonlyArray<object>) => askAs(bob, "POST", roles, { metadata, rules })
      same((yield* make({ name: "a" }, rule("", "pods", "get"))).status, 201)
      const refused = yield* make(
        { name: "b" },
        rule("", "pods secrets", "get list delete"),
        rule("apps", "*", "*", "x", "y")
      )
      same(refused.status, 403)
      same(
        refused.body.message,
        lacking(
          "roles",
          "b",
          '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
          '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}',
          '{APIGroups:["apps"], Resources:["*"], ResourceNames:["x"], Verbs:["*"]}',
          '{APIGroups:["apps"], Resources:["*"], ResourceNames:["y"], Verbs:["*"]}'
        )
      )
      const generated = yield* make({ generateName: "b-" }, rule("", "secrets", "get"))
      same(generated.body.message, lacking("roles", "", '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'))
      const urls = yield* askAs(bob, "POST", `${rbac}/clusterroles`, {
        metadata: { name: "u" },
        rules: [{ nonResourceURLs: ["/metrics", "/api/x"], verbs: ["get", "post"] }]
      })
      same(
        urls.body.message,
        lacking(
          "clusterroles",
          "u",
          '{NonResourceURLs:["/api/x"], Verbs:["post"]}',
          '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
          '{NonResourceURLs:["/metrics"], Verbs:["post"]}'
        )
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("updates and patches are checked, except changes of owner references and finalizers", () =>
    Effect.gen(function* () {
      yield* writer
      yield* askAs(master, "POST", roles, {
        metadata: { name: "strong", finalizers: ["example.io/x"] },
        rules: [rule("", "secrets", "get")]
      })
      const patch = (body: object) =>
        Effect.map(askAs(bob, "PATCH", `${roles}/strong`, body, merge), (reply) => reply.status)
      same(yield* patch({ metadata: { labels: { a: "b" } } }), 403)
      same(yield* patch({ metadata: { finalizers: null } }), 200)
      same(yield* patch({ rules: [rule("", "pods", "list")] }), 200)
      same(yield* patch({ metadata: { labels: { a: "b" } } }), 200)
      const object = { metadata: { name: "strong" }, rules: [rule("", "pods", "*")] }
      same((yield* askAs(bob, "PUT", `${roles}/strong`, object)).status, 403)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("the verb escalate allows any rule", () =>
    Effect.gen(function* () {
      yield* writer
      yield* grant("bob", "default", "escalate", rule(group, "roles", "escalate"))
      const object = { metadata: { name: "b" }, rules: [rule("*", "*", "*")] }
      same((yield* askAs(bob, "POST", roles, object)).status, 201)
      same((yield* askAs(bob, "POST", `${rbac}/namespaces/kube-system/roles`, object)).status, 403)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a binding requires the rules of the role, or the verb bind", () =>
    Effect.gen(function* () {
      yield* writer
      const bind = (name: string, kind: "Role" | "ClusterRole", role: string) =>
        askAs(bob, "POST", bindings, { metadata: { name }, roleRef: ref(kind, role), subjects: [toUser("joe")] })
      yield* askAs(master, "POST", roles, { metadata: { name: "weak" }, rules: [rule("", "pods", "get")] })
      same((yield* bind("a", "Role", "weak")).status, 201)
      const strong = yield* bind("b", "ClusterRole", "cluster-admin")
      same(
        strong.body.message,
        lacking(
          "rolebindings",
          "b",
          '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
          '{NonResourceURLs:["*"], Verbs:["*"]}'
        )
      )
      const absent = yield* bind("c", "Role", "none")
      same([absent.status, absent.body.message], [404, `roles.${group} "none" not found`])
      yield* grant("bob", "default", "binder", rule(group, "clusterroles", "bind", "view"))
      same((yield* bind("d", "ClusterRole", "view")).status, 201)
      same((yield* bind("e", "ClusterRole", "edit")).status, 403)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("an aggregationRule requires cluster-admin", () =>
    Effect.gen(function* () {
      yield* writer
      const object = {
        metadata: { name: "agg" },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] }
      }
      const refused = yield* askAs(bob, "POST", `${rbac}/clusterroles`, object)
      same(
        refused.body.message,
        `clusterroles.${group} "agg" is forbidden: must have cluster-admin privileges to use the aggregationRule`
      )
      yield* grant("bob", "", "all", rule("*", "*", "*"), { nonResourceURLs: ["*"], verbs: ["*"] })
      same((yield* askAs(bob, "POST", `${rbac}/clusterroles`, object)).status, 201)
    }).pipe(Effect.provide(layer()))
  )
})
