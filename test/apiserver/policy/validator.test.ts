/** Expressions of policies that fail or cost too much, their variables, and match conditions. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { configMaps, patch, post, remove, same } from "../client.ts"
import {
  ask,
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

describe("failures of expressions", () => {
  it.effect("refuse with failurePolicy Fail and admit with Ignore", () =>
    live(
      Effect.gen(function* () {
        yield* enforce("p", policySpec("object.spec.x == 1"))
        same(yield* messages("a"), [
          denied("p", "expression 'object.spec.x == 1' resulted in error: no such key: spec")
        ])
        yield* patch(`${policies}/p`, "merge", { spec: { failurePolicy: "Ignore" } })
        same(yield* messages("a"), [undefined])
      })
    )
  )

  it.effect("an expression that costs more than its own limit has no value", () =>
    live(
      Effect.gen(function* () {
        const list = "[0,1,2,3,4,5,6,7,8,9]"
        const costly = Array.from({ length: 6 }, (_, at) => `${list}.all(x${at}, `).join("") + "true" + ")".repeat(6)
        yield* enforce("p", policySpec(costly))
        const [message] = yield* messages("a")
        assert.include(message, "resulted in error: operation cancelled: actual cost limit exceeded")
      })
    )
  )

  it.effect("validations together have a budget, to which the variables they read belong", () =>
    live(
      Effect.gen(function* () {
        const reply = create("a", { x: "x".repeat(100_000) })
        const ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
        // Not quite what one expression may cost.
        const costly = `object == null || [0, 1, 2, 3, 4, 5, 6, 7].all(i, ${ten}.all(j, !object.data.x.contains('y')))`
        yield* enforce(
          "p",
          policySpec("true", { validations: Array.from({ length: 9 }, () => ({ expression: costly })) })
        )
        same(messageOf(yield* reply), undefined)
        yield* remove(`${configMaps}/a`)
        yield* patch(`${policies}/p`, "merge", {
          spec: { validations: Array.from({ length: 14 }, () => ({ expression: costly })) }
        })
        const why = "validation failed due to running out of cost budget, no further validation rules will be run"
        same(messageOf(yield* reply), denied("p", why))
        const variables = Array.from({ length: 14 }, (_, at) => ({ name: `v${at}`, expression: costly }))
        const read = variables.map(({ name }) => `variables.${name}`).join(" && ")
        yield* remove(`${policies}/p`)
        yield* post(policies, policy("p", policySpec(read, { variables })))
        same(messageOf(yield* reply), denied("p", why))
        yield* patch(`${policies}/p`, "merge", { spec: { validations: [{ expression: "true || variables.v0" }] } })
        same(messageOf(yield* reply), undefined)
      })
    )
  )
})

describe("variables", () => {
  it.effect("are evaluated when they are read, and may read those before them", () =>
    live(
      Effect.gen(function* () {
        const variables = [
          { name: "bad", expression: "object.spec.none" },
          { name: "name", expression: "object.metadata.name" },
          { name: "long", expression: "variables.name.size() > 3" }
        ]
        const validations = [
          {
            expression: "!variables.long || variables.bad == 1",
            messageExpression: "'name: ' + string(variables.name)"
          },
          { expression: "variables.name != 'x' || variables.bad == 1" }
        ]
        yield* enforce("p", policySpec("true", { variables, validations }))
        same(yield* messages("abc"), [undefined])
        const why = `expression 'variables.name != 'x' || variables.bad == 1' resulted in error: composited variable "bad" fails to evaluate: no such key: spec`
        same(yield* messages("x"), [denied("p", why, "x")])
      })
    )
  )

  it.effect("a chain of variables that is too deep is an error and not a crash", () =>
    live(
      Effect.gen(function* () {
        const nested = (inner: string) => "(true ? ".repeat(100) + inner + " : false)".repeat(100)
        const variables = [
          { name: "v0", expression: "true" },
          ...Array.from({ length: 40 }, (_, at) => ({ name: `v${at + 1}`, expression: nested(`variables.v${at}`) }))
        ]
        yield* enforce("p", policySpec("variables.v40", { variables }))
        assert.include((yield* messages("a"))[0], "the variables that read each other are nested too deeply")
        yield* patch(`${policies}/p`, "merge", { spec: { validations: [{ expression: "variables.v10" }] } })
        same(yield* messages("a"), [undefined])
      })
    )
  )
})

describe("names that an attacker has chosen", () => {
  it.effect("are names like any other: of variables, labels, data and audit annotations", () =>
    live(
      Effect.gen(function* () {
        const odd = ["__proto__", "constructor", "toString", "hasOwnProperty"]
        const variables = odd.map((name) => ({ name, expression: "object.metadata.name" }))
        const validations = [
          { expression: odd.map((name) => `variables.${name} == 'a'`).join(" && ") },
          {
            expression:
              "!has(object.data.hasOwnProperty) && object.data['__proto__'] == '1' && !('valueOf' in object.data)"
          },
          { expression: "object.metadata.labels['constructor'] == 'x'" }
        ]
        const auditAnnotations = odd.slice(1).map((key) => ({ key, valueExpression: "'v'" }))
        yield* enforce("p", policySpec("true", { variables, validations, auditAnnotations }))
        const object = `{"metadata":{"name":"a","labels":{"constructor":"x"}},"data":{"__proto__":"1"}}`
        same(messageOf(yield* ask("POST", configMaps, JSON.parse(object))), undefined)
        same((yield* lastAudit)?.annotations, { "p/constructor": "v", "p/toString": "v", "p/hasOwnProperty": "v" })
        same(({} as { x?: string }).x, undefined)
      })
    )
  )
})

describe("match conditions of a policy", () => {
  it.effect("select requests; an error obeys the failure policy, and one false decides", () =>
    live(
      Effect.gen(function* () {
        const conditions = (...expressions: ReadonlyArray<string>) => ({
          matchConditions: expressions.map((expression, at) => ({ name: `c${at}`, expression }))
        })
        yield* enforce("p", policySpec("false", conditions("object.metadata.name == 'a'", "namespaceObject == null")))
        same(
          (yield* messages("a", "b")).map((one) => one === undefined),
          [false, true]
        )
        yield* patch(`${policies}/p`, "merge", {
          spec: conditions("object.spec.x == 1", "object.metadata.name != 'c'")
        })
        same(yield* messages("c"), [undefined])
        same(yield* messages("d"), [
          denied("p", "expression 'object.spec.x == 1' resulted in error: no such key: spec", "d")
        ])
        yield* patch(`${policies}/p`, "merge", { spec: { failurePolicy: "Ignore" } })
        same(yield* messages("d"), [undefined])
      })
    )
  )
})
