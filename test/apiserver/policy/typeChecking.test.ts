/** The warnings in the status of a policy. */
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as client from "../client.ts"
import { get, post, same } from "../client.ts"
import { policies, policy } from "./harness.ts"

const rule = (group: string, resources: ReadonlyArray<string>) => ({
  apiGroups: [group],
  apiVersions: ["v1"],
  operations: ["*"],
  resources
})

const warningsOf = Effect.fnUntraced(function* (name: string, resourceRules: ReadonlyArray<object>, spec: object) {
  yield* post(policies, policy(name, { matchConstraints: { resourceRules }, ...spec }))
  return (yield* get(`${policies}/${name}`)).status.typeChecking.expressionWarnings
})

it.layer(client.layer())("the type check of a policy", (it) => {
  it.effect("warns of a field that a kind has not, for each kind and expression", () =>
    Effect.gen(function* () {
      const validations = [
        { expression: "object.spec.replicas > 1", messageExpression: "'replicas: ' + string(object.replicas)" },
        { expression: "object.metadata.labels.app == 'x' && oldObject == null" }
      ]
      const found = yield* warningsOf("p", [rule("apps", ["deployments", "daemonsets"])], { validations })
      const text = "'replicas: ' + string(object.replicas)"
      const undefinedField = (kind: string, at: number, field: string, expression: string) =>
        `apps/v1, Kind=${kind}: compilation failed: ERROR: <input>:1:${at}: undefined field '${field}'\n | ${expression}\n | ${".".repeat(at - 1)}^\n`
      same(found, [
        {
          fieldRef: "spec.validations[0].expression",
          warning: undefinedField("DaemonSet", 12, "replicas", "object.spec.replicas > 1")
        },
        {
          fieldRef: "spec.validations[0].messageExpression",
          warning: [
            undefinedField("DaemonSet", 29, "replicas", text),
            undefinedField("Deployment", 29, "replicas", text)
          ].join("\n")
        }
      ])
    })
  )

  it.effect("knows the types of variables, parameters and custom resources", () =>
    Effect.gen(function* () {
      const schema = {
        openAPIV3Schema: {
          type: "object",
          properties: { spec: { type: "object", properties: { size: { type: "integer" } } } }
        }
      }
      yield* post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        metadata: { name: "widgets.example.com" },
        spec: {
          group: "example.com",
          scope: "Namespaced",
          names: { kind: "Widget", plural: "widgets" },
          versions: [{ name: "v1", served: true, storage: true, schema }]
        }
      })
      const spec = {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        variables: [{ name: "size", expression: "object.spec.size" }],
        validations: [
          { expression: "variables.size > 1 && object.metadata.name != '' && params.data['x'] == 'y'" },
          { expression: "variables.size == 'x'" },
          { expression: "params.spec.x == 1" },
          { expression: "object.spec.colour == ''" }
        ]
      }
      const found = yield* warningsOf("q", [rule("example.com", ["widgets"])], spec)
      same(
        found.map((one: any) => one.fieldRef),
        [1, 2, 3].map((at) => `spec.validations[${at}].expression`)
      )
    })
  )

  it.effect("does not check rules with wildcards, subresources and unknown kinds", () =>
    Effect.gen(function* () {
      const validations = [{ expression: "object.none == 1" }]
      const rules = [rule("*", ["pods"]), rule("", ["pods/status", "*"]), rule("example.org", ["things"])]
      same(yield* warningsOf("r", rules, { validations }), undefined)
    })
  )
})
