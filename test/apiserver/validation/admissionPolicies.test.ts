/** What a policy and a binding are refused for, with the messages of kube-apiserver, and what they are completed with. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as client from "../client.ts"
import { get, patch, post, same } from "../client.ts"
import { ask, binding, bindings, policies, policy, policySpec } from "../policy/harness.ts"

const causesOf = (path: string, object: unknown) =>
  Effect.map(ask("POST", path, object), ({ body, status }) => {
    same(status, 422)
    return body.details.causes.map((one: any) => `${one.field}: ${one.message}`)
  })

const ofPolicy = (spec: object) => causesOf(policies, policy("p", spec))
const ofBinding = (spec: object) => causesOf(bindings, { metadata: { name: "b" }, spec })

it.layer(client.layer())("a policy", (it) => {
  it.effect("is completed with defaults, generation and status", () =>
    Effect.gen(function* () {
      const created = yield* post(policies, policy("complete", policySpec("true")))
      same([created.metadata.generation, created.status], [1, {}])
      same(created.spec, {
        failurePolicy: "Fail",
        matchConstraints: {
          matchPolicy: "Equivalent",
          namespaceSelector: {},
          objectSelector: {},
          resourceRules: [
            { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"], scope: "*" }
          ]
        },
        validations: [{ expression: "true" }]
      })
      const read = yield* get(`${policies}/complete`)
      same(read.status, { observedGeneration: 1, typeChecking: {} })
      const changed = yield* patch(`${policies}/complete`, "merge", {
        spec: { validations: [{ expression: "1 == 1" }] }
      })
      same([changed.metadata.generation, changed.status.observedGeneration], [2, 1])
      same((yield* get(`${policies}/complete`)).status.observedGeneration, 2)
      const owner = read.metadata.managedFields.find((one: any) => one.subresource === "status")
      same([owner.manager, owner.operation], ["validatingadmissionpolicy-status-controller", "Apply"])
    })
  )

  it.effect("needs constraints with rules, and validations or audit annotations", () =>
    Effect.gen(function* () {
      const detail = "validations or auditAnnotations must contain at least one item"
      same(yield* ofPolicy({}), [
        "spec.matchConstraints: Required value",
        `spec.validations: Required value: ${detail}`,
        `spec.auditAnnotations: Required value: ${detail}`
      ])
      same(yield* ofPolicy({ ...policySpec("true"), matchConstraints: {} }), [
        "spec.matchConstraints.resourceRules: Required value"
      ])
      same(yield* ofPolicy({ ...policySpec("true"), failurePolicy: "Maybe" }), [
        'spec.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"'
      ])
    })
  )

  it.effect("is refused where an expression does not compile or has another type", () =>
    Effect.gen(function* () {
      const validations = [
        { expression: " " },
        { expression: "1 + 1" },
        { expression: "nothing" },
        { expression: "true", messageExpression: "1", message: " " },
        { expression: "true", messageExpression: " ", message: "a\nb", reason: "Gone" },
        { expression: "true", messageExpression: "string(authorizer.path('/x').check('get').allowed())" },
        { expression: "variables.none" },
        { expression: "params == null" }
      ]
      same(yield* ofPolicy(policySpec("", { validations })), [
        "spec.validations[0].expression: Required value: expression is not specified",
        'spec.validations[1].expression: Invalid value: "1 + 1": must evaluate to bool but got int',
        `spec.validations[2].expression: Invalid value: "nothing": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n | nothing\n | ^`,
        'spec.validations[3].messageExpression: Invalid value: "1": must evaluate to string but got int',
        'spec.validations[3].message: Invalid value: " ": must be non-empty if specified',
        'spec.validations[4].messageExpression: Invalid value: " ": must be non-empty if specified',
        String.raw`spec.validations[4].message: Invalid value: "a\nb": must not contain line breaks`,
        'spec.validations[4].reason: Unsupported value: "Gone": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
        `spec.validations[5].messageExpression: Invalid value: "string(authorizer.path('/x').check('get').allowed())": compilation failed: ERROR: <input>:1:8: undeclared reference to 'authorizer' (in container '')\n | string(authorizer.path('/x').check('get').allowed())\n | .......^`,
        `spec.validations[6].expression: Invalid value: "variables.none": compilation failed: ERROR: <input>:1:10: undefined field 'none'\n | variables.none\n | .........^`,
        `spec.validations[7].expression: Invalid value: "params == null": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params == null\n | ^`
      ])
    })
  )

  it.effect("is refused for its variables, match conditions, parameters and annotations", () =>
    Effect.gen(function* () {
      const spec = policySpec("true", {
        paramKind: { apiVersion: "a/b/c", kind: "Bad_Kind" },
        variables: [
          { name: "for", expression: "1" },
          { name: "later", expression: "variables.after" },
          { name: "after", expression: " " }
        ],
        matchConditions: [
          { name: "a", expression: "params == null" },
          { name: "b", expression: "variables.x" },
          { name: "-", expression: "" }
        ],
        auditAnnotations: [
          { key: "k", valueExpression: "1" },
          { key: "k", valueExpression: "'x'" },
          { key: "", valueExpression: "" }
        ]
      })
      const found = yield* ofPolicy(spec)
      same(
        found.map((one: string) =>
          one.split("\n")[0]?.replace(/: (name part|a qualified name|may have mixed case).*/, "")
        ),
        [
          'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
          'spec.paramKind.kind: Invalid value: "Bad_Kind"',
          `spec.matchConditions[1].expression: Invalid value: "variables.x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')`,
          "spec.matchConditions[2].expression: Required value",
          'spec.matchConditions[2].name: Invalid value: "-"',
          'spec.variables[0].name: Invalid value: "for": must be a valid CEL identifier',
          `spec.variables[1].expression: Invalid value: "variables.after": compilation failed: ERROR: <input>:1:10: undefined field 'after'`,
          "spec.variables[2].expression: Required value: expression is not specified",
          'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
          'spec.auditAnnotations[1].key: Duplicate value: "k"',
          'spec.auditAnnotations[2].key: Invalid value: "p/"',
          'spec.auditAnnotations[2].key: Invalid value: "p/"',
          "spec.auditAnnotations[2].valueExpression: Required value: valueExpression is not specified"
        ]
      )
    })
  )

  it.effect("is refused for rules like those of webhooks, and for names that occur twice", () =>
    Effect.gen(function* () {
      const rule = {
        apiGroups: [""],
        apiVersions: ["v1"],
        operations: ["*", "CREATE"],
        resources: [],
        resourceNames: ["a", "a", "x/y"]
      }
      const matchConstraints = { resourceRules: [rule], excludeResourceRules: [{}], matchPolicy: "Some" }
      same(yield* ofPolicy({ ...policySpec("true"), matchConstraints }), [
        'spec.matchConstraints.matchPolicy: Unsupported value: "Some": supported values: "Equivalent", "Exact"',
        'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
        `spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "x/y": may not contain '/'`,
        `spec.matchConstraints.resourceRules[0].operations: Invalid value: []admissionregistration.OperationType{"*", "CREATE"}: if '*' is present, must not specify other operations`,
        "spec.matchConstraints.resourceRules[0].resources: Required value",
        "spec.matchConstraints.excludeResourceRules[0].operations: Required value",
        "spec.matchConstraints.excludeResourceRules[0].apiGroups: Required value",
        "spec.matchConstraints.excludeResourceRules[0].apiVersions: Required value",
        "spec.matchConstraints.excludeResourceRules[0].resources: Required value"
      ])
    })
  )
})

describe("a binding", () => {
  it.effect("is refused for its policy, its actions and its parameter", () =>
    Effect.gen(function* () {
      same(yield* ofBinding({ policyName: "", validationActions: [] }), [
        "spec.policyName: Required value",
        "spec.validationActions: Required value: at least one validation action is required"
      ])
      const both =
        "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)"
      same(yield* ofBinding({ policyName: "p", validationActions: ["Deny", "Warn", "Warn", "Log"], paramRef: {} }), [
        "spec.paramRef: Required value: one of name or selector must be specified",
        "spec.paramRef.parameterNotFoundAction: Required value",
        'spec.validationActions[2]: Duplicate value: "Warn"',
        'spec.validationActions[3]: Unsupported value: "Log": supported values: "Audit", "Deny", "Warn"',
        `spec.validationActions: Invalid value: ["Deny","Warn","Warn","Log"]: ${both}`
      ])
      const paramRef = { name: "x", selector: {}, parameterNotFoundAction: "Allow" }
      same(yield* ofBinding({ policyName: "p", validationActions: ["Deny"], paramRef }), [
        "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
        "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive"
      ])
    }).pipe(Effect.provide(client.layer()))
  )
})

it.effect("match conditions of a webhook are refused where they do not compile", () =>
  Effect.gen(function* () {
    const hook = {
      name: "a.hooks.example",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      clientConfig: { url: "https://hooks.example" },
      matchConditions: [{ name: "a", expression: "variables.x" }]
    }
    const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    const [cause] = yield* causesOf(path, { metadata: { name: "x" }, webhooks: [hook] })
    assert.include(cause, 'webhooks[0].matchConditions[0].expression: Invalid value: "variables.x": compilation failed')
  }).pipe(Effect.provide(client.layer()))
)

it.effect("kubectl get prints the columns of a policy and of a binding", () =>
  Effect.gen(function* () {
    const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    yield* post(policies, policy("p", policySpec("true", { paramKind: { apiVersion: "v1", kind: "ConfigMap" } })))
    const selector = { matchLabels: { b: "2", a: "1" } }
    yield* post(bindings, binding("b1", "p"))
    yield* post(bindings, binding("b2", "p", { paramRef: { name: "x", parameterNotFoundAction: "Deny" } }))
    yield* post(bindings, binding("b3", "p", { paramRef: { selector, parameterNotFoundAction: "Deny" } }))
    const rows = (path: string) => Effect.map(get(path, {}, table), (list) => list.rows.map((row: any) => row.cells))
    same(yield* rows(policies), [["p", 1, "v1/ConfigMap", "0s"]])
    same(yield* rows(bindings), [
      ["b1", "p", "<unset>", "0s"],
      ["b2", "p", "*/x", "0s"],
      [
        "b3",
        "p",
        "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},}",
        "0s"
      ]
    ])
  }).pipe(Effect.provide(client.layer()))
)
