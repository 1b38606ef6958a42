/** Authorization: error messages, roles, and reviews. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { applyPatch, done, refused } from "../assertions.ts"
import type { Case } from "../Case.ts"
import { at } from "../objects.ts"
import { eventually, grant, group, rbac, ref, review, rule, toUser } from "../roles.ts"

const same = assert.deepStrictEqual
const reviews = "/apis/authorization.k8s.io/v1"

export const authorization: ReadonlyArray<Case> = [
  {
    title: "403 has user, verb, resource, group and namespace",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const { deployments, pods } = at(namespace)
      const here = `in the namespace "${namespace}"`
      const everywhere = "at the cluster scope"
      const cases = [
        ["GET", pods, "pods", "list", "pods", "", here],
        ["GET", "/api/v1/pods", "pods", "list", "pods", "", everywhere],
        ["GET", `${pods}?watch=1`, "pods", "watch", "pods", "", here],
        ["GET", `${pods}?fieldSelector=metadata.name%3Dx`, 'pods "x"', "list", "pods", "", here],
        ["GET", `${pods}/x`, 'pods "x"', "get", "pods", "", here],
        ["POST", pods, "pods", "create", "pods", "", here],
        ["PUT", `${pods}/x/status`, 'pods "x"', "update", "pods/status", "", here],
        ["POST", `${pods}/x/eviction`, 'pods "x"', "create", "pods/eviction", "", here],
        ["PATCH", `${deployments}/x`, 'deployments.apps "x"', "patch", "deployments", "apps", here],
        ["DELETE", deployments, "deployments.apps", "deletecollection", "deployments", "apps", here],
        ["GET", `/api/v1/namespaces/${namespace}`, `namespaces "${namespace}"`, "get", "namespaces", "", here],
        [
          "PUT",
          `/api/v1/namespaces/${namespace}/finalize`,
          `namespaces "${namespace}"`,
          "update",
          "namespaces/finalize",
          "",
          here
        ],
        ["GET", "/api/v1/nodes", "nodes", "list", "nodes", "", everywhere],
        ["GET", "/apis/none.example/v1/bars", "bars.none.example", "list", "bars", "none.example", everywhere]
      ] as const
      for (const [method, path, what, verb, resource, apiGroup, where] of cases) {
        refused(yield* ask(method, path, method === "GET" ? undefined : {}, { as: { user } }), {
          code: 403,
          reason: "Forbidden",
          message: `${what} is forbidden: User "${user}" cannot ${verb} resource "${resource}" in API group "${apiGroup}" ${where}`
        })
      }
      refused(yield* ask("GET", `${deployments}/x`, undefined, { as: { user } }), {
        code: 403,
        reason: "Forbidden",
        details: { name: "x", group: "apps", kind: "deployments" }
      })
      refused(yield* ask("GET", "/metrics", undefined, { as: { user } }), {
        code: 403,
        reason: "Forbidden",
        message: `forbidden: User "${user}" cannot get path "/metrics"`
      })
    })
  },
  {
    title: "authenticated users may use discovery and self reviews",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const as = { user: `bob-${namespace}` }
      for (const path of ["/api", "/api/v1", "/apis", "/apis/apps/v1", "/openapi/v2", "/version", "/healthz"]) {
        same((yield* ask("GET", path, undefined, { as })).status, 200, path)
      }
      const spec = { resourceAttributes: { verb: "get", resource: "pods", namespace } }
      same(done(yield* ask("POST", `${reviews}/selfsubjectaccessreviews`, { spec }, { as }), 201).status, {
        allowed: false
      })
      refused(yield* ask("POST", `${reviews}/subjectaccessreviews`, { spec: { ...spec, user: "x" } }, { as }), {
        code: 403,
        reason: "Forbidden"
      })
    })
  },
  {
    title: "a Role grants only its verbs on its resources in its namespace",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const { configMaps, pods } = at(namespace)
      yield* grant(
        ask,
        { user, namespace, name: "r" },
        rule("", "configmaps", "get", "a"),
        rule("", "pods/status pods", "get list")
      )
      const status = (path: string) =>
        Effect.map(ask("GET", path, undefined, { as: { user } }), (reply) => reply.status)
      same(
        [
          yield* status(pods),
          yield* status(`${pods}/none`),
          yield* status(`${pods}/none/status`),
          yield* status(`${pods}?watch=1`),
          yield* status("/api/v1/pods"),
          yield* status("/api/v1/namespaces/default/pods"),
          yield* status(`${configMaps}/a`),
          yield* status(`${configMaps}/b`),
          yield* status(configMaps),
          yield* status(`${configMaps}?fieldSelector=metadata.name%3Da`)
        ],
        [200, 404, 404, 403, 403, 403, 404, 403, 403, 403]
      )
    })
  },
  {
    title:
      "a rule for a resource does not include its subresources; `*/scale` includes that subresource of every resource",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const { deployments, replicaSets } = at(namespace)
      yield* grant(ask, { user, namespace, name: "r" }, rule("apps", "*/scale", "get"))
      const status = (path: string) =>
        Effect.map(ask("GET", path, undefined, { as: { user } }), (reply) => reply.status)
      same(
        [
          yield* status(`${deployments}/x/scale`),
          yield* status(`${replicaSets}/x/scale`),
          yield* status(`${deployments}/x`),
          yield* status(`${deployments}/x/status`)
        ],
        [404, 404, 403, 403]
      )
    })
  },
  {
    title: "groups and service accounts are subjects, and a ClusterRole can be bound in one namespace",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const name = `reader-${namespace}`
      const team = `team-${namespace}`
      const robot = `system:serviceaccount:${namespace}:robot`
      done(yield* ask("POST", `${rbac}/clusterroles`, { metadata: { name }, rules: [rule("", "pods", "list")] }))
      const binding = {
        metadata: { name },
        roleRef: ref("ClusterRole", name),
        subjects: [
          { kind: "Group", apiGroup: group, name: team },
          { kind: "ServiceAccount", name: "robot", namespace }
        ]
      }
      done(yield* ask("POST", `${rbac}/namespaces/${namespace}/rolebindings`, binding))
      const wish = { verb: "list", resource: "pods", namespace }
      const { reason } = yield* eventually(review(ask, robot, wish), ({ allowed }) => allowed)
      same(
        reason,
        `RBAC: allowed by RoleBinding "${name}/${namespace}" of ClusterRole "${name}" to ServiceAccount "robot/${namespace}"`
      )
      for (const as of [{ user: robot }, { user: "amy", group: team }]) {
        done(yield* ask("GET", at(namespace).pods, undefined, { as }), 200)
        same((yield* ask("GET", "/api/v1/pods", undefined, { as })).status, 403)
      }
      same((yield* ask("GET", at(namespace).pods, undefined, { as: { user: "amy" } })).status, 403)
    })
  },
  {
    title: "a 403 has the name of a missing role that a binding references",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const binding = { metadata: { name: "b" }, roleRef: ref("Role", "gone"), subjects: [toUser(user)] }
      done(yield* ask("POST", `${rbac}/namespaces/${namespace}/rolebindings`, binding))
      const wish = { verb: "list", resource: "pods", namespace }
      const reason = `RBAC: role.${group} "gone" not found`
      yield* eventually(review(ask, user, wish), (status) => status.reason === reason)
      refused(yield* ask("GET", at(namespace).pods, undefined, { as: { user } }), {
        code: 403,
        reason: "Forbidden",
        message: `pods is forbidden: User "${user}" cannot list resource "pods" in API group "" in the namespace "${namespace}": ${reason}`
      })
    })
  },
  {
    title: "creating an object by PUT or apply requires the verb create",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const { configMaps, leases } = at(namespace)
      yield* grant(
        ask,
        { user, namespace, name: "r" },
        rule("", "configmaps", "patch"),
        rule("coordination.k8s.io", "leases", "update")
      )
      const forbidden = { code: 403, reason: "Forbidden" }
      const lease = { metadata: { name: "l" }, spec: {} }
      refused(yield* ask("PUT", `${leases}/l`, lease, { as: { user } }), {
        ...forbidden,
        message: 'leases.coordination.k8s.io "l" is forbidden: '
      })
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } }
      const path = `${configMaps}/c?fieldManager=m`
      refused(yield* ask("PATCH", path, object, { ...applyPatch, as: { user } }), {
        ...forbidden,
        message: 'configmaps "c" is forbidden: '
      })
      done(yield* ask("PATCH", path, object, applyPatch), 201)
      done(yield* ask("PATCH", path, { ...object, data: { a: "1" } }, { ...applyPatch, as: { user } }), 200)
    })
  },
  {
    title: "writing a role with rules that the user lacks fails, and the error lists them",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const as = { user }
      const roles = `${rbac}/namespaces/${namespace}/roles`
      yield* grant(
        ask,
        { user, namespace, name: "w" },
        rule(group, "roles", "create update"),
        rule("", "pods", "get list")
      )
      const make = (metadata: object, ...rules: ReadonlyArray<object>) =>
        ask("POST", roles, { metadata, rules }, { as })
      done(yield* make({ name: "a" }, rule("", "pods", "get")), 201)
      const lacking = (name: string, ...lines: ReadonlyArray<string>) => ({
        code: 403,
        reason: "Forbidden",
        message: `roles.${group}${name} is forbidden: user "${user}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}`
      })
      refused(
        yield* make({ name: "b" }, rule("", "pods secrets", "get list delete"), rule("apps", "*", "*", "x", "y")),
        lacking(
          ' "b"',
          '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
          '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}',
          '{APIGroups:["apps"], Resources:["*"], ResourceNames:["x"], Verbs:["*"]}',
          '{APIGroups:["apps"], Resources:["*"], ResourceNames:["y"], Verbs:["*"]}'
        )
      )
      const secret = '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'
      refused(yield* make({ generateName: "b-" }, rule("", "secrets", "get")), lacking("", secret))
      const put = { metadata: { name: "a" }, rules: [rule("", "secrets", "get")] }
      refused(yield* ask("PUT", `${roles}/a`, put, { as }), lacking(' "a"', secret))
      yield* grant(ask, { user, namespace, name: "e" }, rule(group, "roles", "escalate"))
      done(yield* ask("PUT", `${roles}/a`, put, { as }), 200)
    })
  },
  {
    title: "binding a role with rules that the user lacks fails without the verb bind",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const bind = (name: string, kind: "Role" | "ClusterRole", role: string) =>
        ask(
          "POST",
          `${rbac}/namespaces/${namespace}/rolebindings`,
          { metadata: { name }, roleRef: ref(kind, role), subjects: [toUser("joe")] },
          { as: { user } }
        )
      yield* grant(ask, { user, namespace, name: "w" }, rule("", "pods", "get"), rule(group, "rolebindings", "create"))
      const weak = { metadata: { name: "weak" }, rules: [rule("", "pods", "get")] }
      done(yield* ask("POST", `${rbac}/namespaces/${namespace}/roles`, weak))
      done(yield* bind("a", "Role", "weak"), 201)
      refused(yield* bind("b", "ClusterRole", "cluster-admin"), {
        code: 403,
        reason: "Forbidden",
        message: `rolebindings.${group} "b" is forbidden: user "${user}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}`
      })
      refused(yield* bind("c", "Role", "none"), {
        code: 404,
        reason: "NotFound",
        message: `roles.${group} "none" not found`
      })
      yield* grant(ask, { user, namespace, name: "e" }, rule(group, "clusterroles", "bind", "cluster-admin"))
      done(yield* bind("b", "ClusterRole", "cluster-admin"), 201)
    })
  },
  {
    title: "an aggregationRule requires cluster-admin",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const name = `agg-${namespace}`
      yield* grant(ask, { user, namespace: "", name: `w-${namespace}` }, rule(group, "clusterroles", "create"))
      const object = { metadata: { name }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } }
      refused(yield* ask("POST", `${rbac}/clusterroles`, object, { as: { user } }), {
        code: 403,
        reason: "Forbidden",
        message: `clusterroles.${group} "${name}" is forbidden: must have cluster-admin privileges to use the aggregationRule`
      })
      done(yield* ask("POST", `${rbac}/clusterroles`, object), 201)
    })
  },
  {
    title: "a SelfSubjectRulesReview lists the user's rules in a namespace",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const mine = [rule("", "pods", "get list"), rule("apps", "deployments", "update", "web")]
      yield* grant(ask, { user, namespace, name: "r" }, ...mine)
      const path = `${reviews}/selfsubjectrulesreviews`
      const { status } = done(yield* ask("POST", path, { spec: { namespace } }, { as: { user } }), 201)
      assert.isFalse(status.incomplete)
      for (const one of mine) assert.deepInclude(status.resourceRules, one)
      const urls = status.nonResourceRules.flatMap((one: any) => one.nonResourceURLs)
      assert.includeMembers(urls, ["/api", "/apis/*", "/healthz"])
    })
  },
  {
    title: "SubjectAccessReviews answer for users, groups and paths, with the reason",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      yield* grant(ask, { user, namespace, name: "r" }, rule("", "pods", "get"))
      const resourceAttributes = { verb: "get", resource: "pods", namespace }
      const local = `${reviews}/namespaces/${namespace}/localsubjectaccessreviews`
      const body = { metadata: { namespace }, spec: { user, resourceAttributes } }
      same(done(yield* ask("POST", local, body), 201).status, {
        allowed: true,
        reason: `RBAC: allowed by RoleBinding "r/${namespace}" of Role "r" to User "${user}"`
      })
      const all = (spec: object) =>
        Effect.map(ask("POST", `${reviews}/subjectaccessreviews`, { spec }), (reply) => done(reply, 201).status)
      same(yield* all({ user, groups: ["system:masters"], resourceAttributes }), { allowed: true })
      const nonResourceAttributes = { verb: "get", path: "/api/x" }
      same(yield* all({ user, nonResourceAttributes }), { allowed: false })
      same(yield* all({ user, groups: ["system:authenticated"], nonResourceAttributes }), {
        allowed: true,
        reason:
          'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"'
      })
    })
  },
  {
    title: "the bootstrap roles exist",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      const named = (plural: string) =>
        Effect.map(
          ask("GET", `${rbac}/${plural}`),
          (reply) => new Map(done(reply).items.map((one: any) => [one.metadata.name, one]))
        )
      const roles = (yield* named("clusterroles")) as Map<string, any>
      const bindings = (yield* named("clusterrolebindings")) as Map<string, any>
      const both = ["cluster-admin", "system:discovery", "system:basic-user", "system:public-info-viewer"]
      assert.containsAllKeys(bindings, both)
      assert.containsAllKeys(roles, [...both, "admin", "edit", "view", "system:auth-delegator"])
      same(roles.get("cluster-admin").rules, [
        { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
        { verbs: ["*"], nonResourceURLs: ["*"] }
      ])
      same(roles.get("edit").aggregationRule, {
        clusterRoleSelectors: [{ matchLabels: { [`${group}/aggregate-to-edit`]: "true" } }]
      })
      same(bindings.get("cluster-admin").subjects, [{ kind: "Group", apiGroup: group, name: "system:masters" }])
    })
  }
]
