/** ValidatingAdmissionPolicies as clients see them: refusals, warnings, audit annotations, and what expressions read. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { configMap, configMaps, get, patch, pod, pods, post, put, refused, remove, same } from "../client.ts"
import {
  ask,
  binding,
  bindings,
  create,
  denied,
  enforce,
  lastAudit,
  live,
  messageOf,
  messages,
  policies,
  policy,
  policySpec
} from "./harness.ts"

describe("a policy with a binding", () => {
  it.effect("refuses the next request, with status 422, reason Invalid and the cause", () =>
    live(
      Effect.gen(function* () {
        yield* enforce("p", policySpec("object.metadata.name == 'b'"))
        const reply = yield* create("a")
        const message = denied("p", "failed expression: object.metadata.name == 'b'")
        same([reply.status, reply.body.reason, reply.body.message], [422, "Invalid", message])
        same(reply.body.details, {
          name: "a",
          kind: "configmaps",
          causes: [{ message: message.slice(message.indexOf("Validating")) }]
        })
        same(messageOf(yield* create("b")), undefined)
        yield* remove(`${bindings}/p`)
        same(messageOf(yield* create("a")), undefined)
      })
    )
  )

  it.effect("a policy without a binding and a binding without a policy change nothing", () =>
    live(
      Effect.gen(function* () {
        yield* post(policies, policy("p", policySpec("false")))
        yield* post(bindings, binding("q", "q"))
        same(yield* messages("a"), [undefined])
        yield* post(bindings, binding("p", "p"))
        same((yield* messages("b"))[0]?.includes("'p' with binding 'p'"), true)
      })
    )
  )

  it.effect("a changed policy holds for the next request", () =>
    live(
      Effect.gen(function* () {
        yield* enforce("p", policySpec("false"))
        assert.isDefined((yield* messages("a"))[0])
        yield* patch(`${policies}/p`, "merge", { spec: { validations: [{ expression: "true" }] } })
        same(yield* messages("a"), [undefined])
      })
    )
  )

  it.effect(
    "the message is that of messageExpression, of message, or of the expression, and reason decides the code",
    () =>
      live(
        Effect.gen(function* () {
          const validations = [
            {
              expression: "object.metadata.name != 'made'",
              messageExpression: "'no ' + object.metadata.name",
              message: "m"
            },
            { expression: "object.metadata.name != 'empty'", messageExpression: "' '", message: " given " },
            { expression: "object.metadata.name != 'lines'", messageExpression: String.raw`'a\nb'`, message: "given" },
            {
              expression: "object.metadata.name != 'fails'",
              messageExpression: "string(object.spec.x)",
              message: "given"
            },
            { expression: " object.metadata.name != 'plain' " },
            { expression: "object.metadata.name != 'reason'", message: "x", reason: "Forbidden" },
            { expression: "object.metadata.name != 'size'", message: "x", reason: "RequestEntityTooLarge" }
          ]
          yield* enforce("p", policySpec("true", { validations }))
          for (const [name, why] of [
            ["made", "no made"],
            ["empty", "given"],
            ["lines", "given"],
            ["fails", "given"],
            ["plain", "failed expression: object.metadata.name != 'plain'"]
          ] as const)
            same(messageOf(yield* create(name)), denied("p", why, name))
          const forbidden = yield* create("reason")
          same([forbidden.status, forbidden.body.reason], [403, "Forbidden"])
          same((yield* create("size")).status, 413)
        })
      )
  )

  it.effect("a message of more than 5 KiB is not used, however long it is", () =>
    live(
      Effect.gen(function* () {
        const validations = [
          { expression: "!has(object.data.x)", messageExpression: "string(object.data.x)", message: "too long" }
        ]
        yield* enforce("p", policySpec("true", { validations }))
        const limit = 5 * 1024
        same(messageOf(yield* create("a", { x: "x".repeat(limit) })), denied("p", "x".repeat(limit)))
        for (const x of ["x".repeat(limit + 1), "ä".repeat(limit / 2 + 1), "x".repeat(1_000_000)])
          same(messageOf(yield* create("a", { x })), denied("p", "too long"))
      })
    )
  )

  it.effect("updates, deletions, status and scale are checked, with the old object", () =>
    live(
      Effect.gen(function* () {
        const rule = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"] }
        const match = { resourceRules: [{ ...rule, resources: ["configmaps", "pods/status", "deployments/scale"] }] }
        const validations = [
          {
            expression:
              "request.operation != 'UPDATE' || request.resource.resource != 'configmaps' || object.data.x == oldObject.data.x",
            message: "x is fixed"
          },
          {
            expression: "request.operation != 'DELETE' || (object == null && !has(oldObject.data.keep))",
            message: "kept"
          },
          {
            expression:
              "!has(request.subResource) || request.subResource != 'status' || object.status.phase != 'Failed'",
            message: "no failure"
          },
          {
            expression: "!has(request.subResource) || request.subResource != 'scale' || object.spec.replicas < 3",
            message: "too many"
          }
        ]
        yield* enforce("p", { matchConstraints: match, validations })
        yield* create("a", { x: "1" })
        same(
          (yield* refused(patch(`${configMaps}/a`, "merge", { data: { x: "2" } }))).message,
          denied("p", "x is fixed")
        )
        yield* patch(`${configMaps}/a`, "merge", { data: { y: "2" } })
        yield* create("b", { x: "1", keep: "1" })
        same((yield* refused(remove(`${configMaps}/b`))).message.includes("kept"), true)
        const collection = yield* refused(remove(configMaps))
        same(collection.message.includes("kept"), true)
        yield* post(pods, pod("p"))
        const status = yield* get(`${pods}/p`)
        const failed = yield* refused(put(`${pods}/p/status`, { ...status, status: { phase: "Failed" } }))
        same(failed.message.includes("no failure"), true)
        const labels = { matchLabels: { app: "x" } }
        const template = { metadata: { labels: labels.matchLabels }, spec: pod("x").spec }
        const deployments = "/apis/apps/v1/namespaces/default/deployments"
        yield* post(deployments, { metadata: { name: "d" }, spec: { selector: labels, template, replicas: 1 } })
        const scaled = yield* refused(patch(`${deployments}/d/scale`, "merge", { spec: { replicas: 3 } }))
        same(scaled.message.includes("too many"), true)
        yield* patch(`${deployments}/d/scale`, "merge", { spec: { replicas: 2 } })
        same((yield* get(`${deployments}/d`)).spec.replicas, 2)
      })
    )
  )

  it.effect("connections are checked with their options as the object", () =>
    live(
      Effect.gen(function* () {
        yield* post(pods, pod("p"))
        const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["pods/exec"], operations: ["CONNECT"] }
        yield* enforce("p", {
          matchConstraints: { resourceRules: [rule] },
          validations: [
            { expression: "!('rm' in object.command) && request.kind.kind == 'PodExecOptions' && request.name == 'p'" }
          ]
        })
        const exec = (command: string) => ask("POST", `${pods}/p/exec`, undefined, { query: { command } })
        const refusal = yield* exec("rm")
        same([refusal.status, refusal.body.message.includes("denied request")], [422, true])
        same((yield* exec("ls")).status, 501)
      })
    )
  )

  it.effect("policies and bindings are not subject to policies; webhook configurations are", () =>
    live(
      Effect.gen(function* () {
        const rule = { apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"] }
        yield* enforce("p", { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "false" }] })
        const hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        assert.isDefined(messageOf(yield* ask("POST", hooks, { metadata: { name: "x" } })))
        same(messageOf(yield* ask("POST", policies, policy("q", policySpec("true")))), undefined)
        yield* remove(`${policies}/p`)
        same(yield* messages("a"), [undefined])
      })
    )
  )
})

describe("the actions of a binding", () => {
  it.effect("Warn adds a warning, Audit an annotation; the request succeeds", () =>
    live(
      Effect.gen(function* () {
        yield* enforce(
          "p",
          policySpec("false", { validations: [{ expression: "true" }, { expression: "false", message: "<no>" }] }),
          {
            validationActions: ["Warn", "Audit"]
          }
        )
        const reply = yield* create("a")
        same(
          [reply.status, reply.warning],
          [201, `299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': <no>"`]
        )
        same((yield* lastAudit)?.annotations, {
          "validation.policy.admission.k8s.io/validation_failure": String.raw`[{"message":"\u003cno\u003e","policy":"p","binding":"p","expressionIndex":1,"validationActions":["Warn","Audit"]}]`
        })
      })
    )
  )

  it.effect("audit annotations are recorded by key, without empty and null ones, and cut after 10 KiB", () =>
    live(
      Effect.gen(function* () {
        yield* enforce("p.example.com", {
          matchConstraints: policySpec("").matchConstraints,
          auditAnnotations: [
            { key: "name", valueExpression: "' ' + object.metadata.name" },
            { key: "none", valueExpression: "null" },
            { key: "empty", valueExpression: "' '" },
            { key: "long", valueExpression: "string(object.data.x)" }
          ]
        })
        yield* create("a", { x: "é".repeat(6000) })
        same((yield* lastAudit)?.annotations, {
          "p.example.com/name": "a",
          "p.example.com/long": "é".repeat(5120)
        })
      })
    )
  )

  it.effect("an error in an audit annotation refuses the request, unless the failure policy is Ignore", () =>
    live(
      Effect.gen(function* () {
        const spec = {
          matchConstraints: policySpec("").matchConstraints,
          auditAnnotations: [{ key: "k", valueExpression: "string(object.spec.x)" }]
        }
        yield* enforce("p", spec, { validationActions: ["Audit"] })
        same(
          messageOf(yield* create("a")),
          denied("p", "expression 'string(object.spec.x)' resulted in error: no such key: spec")
        )
        yield* patch(`${policies}/p`, "merge", { spec: { failurePolicy: "Ignore" } })
        same(yield* messages("a"), [undefined])
        same((yield* lastAudit)?.annotations, undefined)
      })
    )
  )
})

describe("the variables of an expression", () => {
  it.effect("request, namespaceObject, oldObject and authorizer have the values of the request", () =>
    live(
      Effect.gen(function* () {
        yield* patch("/api/v1/namespaces/default", "merge", { metadata: { labels: { team: "blue" } } })
        const validations = [
          "request.userInfo.username == 'alice' && 'devs' in request.userInfo.groups",
          "request.userInfo.extra['scopes'][0] == 'one'",
          "request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' && request.namespace == 'default'",
          "request.operation == 'CREATE' && request.dryRun == false && request.options.kind == 'CreateOptions'",
          "namespaceObject.metadata.labels['team'] == 'blue' && namespaceObject.status.phase == 'Active'",
          "oldObject == null && object.apiVersion == 'v1' && object.kind == 'ConfigMap'",
          "authorizer.requestResource.check('create').allowed()",
          "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()"
        ].map((expression) => ({ expression }))
        yield* enforce("p", policySpec("true", { validations }))
        const user = { name: "alice", groups: ["devs", "system:authenticated"], extra: { scopes: ["one"] } }
        same(messageOf(yield* ask("POST", configMaps, configMap("a"), { user })), undefined)
      })
    )
  )

  it.effect("authorizer decides by the roles of the user", () =>
    live(
      Effect.gen(function* () {
        const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }]
        const rbac = "/apis/rbac.authorization.k8s.io/v1"
        yield* post(`${rbac}/clusterroles`, { metadata: { name: "r" }, rules })
        yield* post(`${rbac}/clusterrolebindings`, {
          metadata: { name: "r" },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }]
        })
        yield* enforce(
          "p",
          policySpec(
            "!has(object.data.secret) || authorizer.group('').resource('secrets').namespace('default').check('get').allowed()"
          )
        )
        const user = { name: "alice", groups: ["system:authenticated"] }
        const by = (data: Record<string, string>) => ask("POST", configMaps, configMap("a", data), { user })
        same((yield* by({ secret: "1" })).status, 422)
        same((yield* by({ other: "1" })).status, 201)
      }),
      { authorization: "RBAC" }
    )
  )
})
