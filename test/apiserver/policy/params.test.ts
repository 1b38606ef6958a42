/** Parameters of policies, and who may write policies with parameters. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { configMap, configMaps, patch, post, same } from "../client.ts"
import {
  ask,
  binding,
  bindings,
  create,
  denied,
  enforce,
  live,
  messageOf,
  messages,
  policies,
  policy,
  policySpec
} from "./harness.ts"

describe("parameters", () => {
  const spec = (expression = "object.data.x.size() <= int(params.data.max)") =>
    policySpec(expression, { paramKind: { apiVersion: "v1", kind: "ConfigMap" } })
  const other = "/api/v1/namespaces/other/configmaps"
  const ref = (more: object) => ({
    paramRef: { parameterNotFoundAction: "Deny", ...more },
    matchResources: { objectSelector: { matchLabels: { checked: "1" } } }
  })
  const checked = (name: string, x: string) => create(name, { x }, { labels: { checked: "1" } })

  it.effect("are the object that the binding names, as it is at the request", () =>
    live(
      Effect.gen(function* () {
        yield* post("/api/v1/namespaces", { metadata: { name: "other" } })
        yield* enforce("p", spec(), ref({ name: "limits", namespace: "other" }))
        const missing =
          "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
        same(messageOf(yield* checked("a", "1")), denied("p", missing))
        yield* post(other, configMap("limits", { max: "2" }))
        same(messageOf(yield* checked("a", "12")), undefined)
        assert.isDefined(messageOf(yield* checked("b", "123")))
        yield* patch(`${other}/limits`, "merge", { data: { max: "3" } })
        same(messageOf(yield* checked("b", "123")), undefined)
      })
    )
  )

  it.effect("are all objects that a selector selects in the namespace of the request; each is evaluated", () =>
    live(
      Effect.gen(function* () {
        yield* enforce(
          "p",
          spec(),
          ref({ selector: { matchLabels: { limit: "1" } }, parameterNotFoundAction: "Allow" })
        )
        same(messageOf(yield* checked("a", "12345")), undefined)
        yield* post(configMaps, configMap("l1", { max: "4" }, { labels: { limit: "1" } }))
        yield* post(configMaps, configMap("l2", { max: "2" }, { labels: { limit: "1" } }))
        yield* post("/api/v1/namespaces", { metadata: { name: "other" } })
        yield* post(other, configMap("l3", { max: "0" }, { labels: { limit: "1" } }))
        assert.isDefined(messageOf(yield* checked("b", "123")))
        same(messageOf(yield* checked("b", "12")), undefined)
      })
    )
  )

  it.effect("are null for a binding that names none", () =>
    live(
      Effect.gen(function* () {
        yield* enforce("p", spec("params == null"))
        same(yield* messages("a"), [undefined])
      })
    )
  )

  it.effect("a kind that is not served refuses, until it is served", () =>
    live(
      Effect.gen(function* () {
        const kind = { paramKind: { apiVersion: "example.com/v1", kind: "Limit" } }
        yield* enforce("p", policySpec("params.spec.open == true", kind), {
          paramRef: { name: "l", parameterNotFoundAction: "Deny" }
        })
        const why = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'`
        same(yield* messages("a"), [why])
        const schema = {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { open: { type: "boolean" } } } }
          }
        }
        yield* post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
          metadata: { name: "limits.example.com" },
          spec: {
            group: "example.com",
            scope: "Cluster",
            names: { kind: "Limit", plural: "limits" },
            versions: [{ name: "v1", served: true, storage: true, schema }]
          }
        })
        yield* post("/apis/example.com/v1/limits", {
          apiVersion: "example.com/v1",
          kind: "Limit",
          metadata: { name: "l" },
          spec: { open: true }
        })
        same(yield* messages("a"), [undefined])
      })
    )
  )

  it.effect("a namespaced kind needs a namespace, and a cluster-scoped one must not have any", () =>
    live(
      Effect.gen(function* () {
        const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["namespaces"], operations: ["CREATE"] }
        yield* enforce(
          "p",
          { ...spec("true"), matchConstraints: { resourceRules: [rule] } },
          { paramRef: { name: "x", parameterNotFoundAction: "Deny" } }
        )
        const reply = yield* ask("POST", "/api/v1/namespaces", { metadata: { name: "n" } })
        assert.include(
          reply.body.message,
          "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        )
      })
    )
  )
})

describe("a policy written by a user who may not read its parameters", () => {
  it.effect("is refused with RBAC", () =>
    live(
      Effect.gen(function* () {
        const rbac = "/apis/rbac.authorization.k8s.io/v1"
        const rules = [{ apiGroups: ["admissionregistration.k8s.io"], resources: ["*"], verbs: ["*"] }]
        yield* post(`${rbac}/clusterroles`, { metadata: { name: "r" }, rules })
        yield* post(`${rbac}/clusterrolebindings`, {
          metadata: { name: "r" },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }]
        })
        const user = { name: "alice", groups: ["g"] }
        const spec = policySpec("true", { paramKind: { apiVersion: "v1", kind: "Secret" } })
        const reply = yield* ask("POST", policies, policy("p", spec), { user })
        same(
          [reply.status, reply.body.message],
          [
            422,
            `ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: user &{alice  [g] map[]} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`
          ]
        )
        yield* post(policies, policy("p", spec))
        const bound = yield* ask(
          "POST",
          bindings,
          binding("p", "p", { paramRef: { name: "x", namespace: "default", parameterNotFoundAction: "Deny" } }),
          { user }
        )
        assert.include(
          bound.body.message,
          `spec.paramRef: Forbidden: user &{alice  [g] map[]} does not have "get" permission on the object referenced by paramRef`
        )
        same((yield* ask("POST", bindings, binding("p", "p"), { user })).status, 201)
      }),
      { authorization: "RBAC" }
    )
  )
})
