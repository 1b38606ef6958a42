import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Cel from "../../../src/kube/cel/Cel.ts"
import type { StructuralSchema } from "../../../src/kube/structural/StructuralSchema.ts"
import * as Type from "../../../src/kube/cel/Type.ts"

const schema: StructuralSchema = {
  type: "object",
  properties: {
    min: { type: "integer" },
    max: { type: "integer" },
    names: { type: "array", items: { type: "string" } },
    "x-y": { type: "string" }
  }
}

const self = { self: { schema } }

const valueOf = (
  text: string,
  variables: Readonly<Record<string, Cel.Declaration>> = {},
  bindings: Readonly<Record<string, unknown>> = {}
): unknown => {
  const program = Cel.compile(text, variables)
  if (Result.isFailure(program)) return program.failure
  const result = Cel.evaluate(program.success, bindings, { remaining: Cel.requestBudget })
  return Result.isSuccess(result) ? result.success : result.failure.message
}

describe("an expression", () => {
  it("has the value that the fields of its variables give it", () => {
    assert.strictEqual(valueOf("self.min <= self.max", self, { self: { min: 1, max: 2 } }), true)
    assert.strictEqual(valueOf("self.names.all(n, n.size() > 1)", self, { self: { names: ["ab", "c"] } }), false)
    assert.strictEqual(valueOf("self.x__dash__y == 'q'", self, { self: { "x-y": "q" } }), true)
    assert.strictEqual(valueOf("has(self.min)", self, { self: {} }), false)
    assert.strictEqual(valueOf("self.min", self, { self: {} }), "no such key: min")
  })

  it("is refused with the place and the reason, if a type is wrong", () => {
    assert.strictEqual(
      valueOf("self.other == 1", self),
      "compilation failed: ERROR: <input>:1:5: undefined field 'other'\n | self.other == 1\n | ....^"
    )
    assert.strictEqual(
      valueOf("self.min == 'x'", self),
      "compilation failed: ERROR: <input>:1:10: found no matching overload for '_==_' applied to '(int, string)'\n" +
        " | self.min == 'x'\n | .........^"
    )
  })

  it("ends when its budget is spent, and says so", () => {
    const program = Result.getOrThrow(Cel.compile("self.names.all(n, self.names.all(m, n != m || n == m))", self))
    const names = Array.from({ length: 2000 }, (_, index) => `n${index}`)
    const budget = { remaining: Cel.requestBudget }
    const result = Cel.evaluate(program, { self: { names } }, budget)
    assert.deepStrictEqual(Result.isFailure(result) && result.failure.reason, "call")
    assert.isAtMost(Cel.requestBudget - budget.remaining, Cel.perCallLimit + 100)
  })
})

describe("the authorizer", () => {
  it("asks the caller's function what the expression names", () => {
    const asked: Array<Cel.Question> = []
    const authorizer = new Cel.Authorizer((question) => {
      asked.push(question)
      return { allowed: question.verb === "create", reason: "so" }
    })
    const check = "authorizer.group('apps').resource('deployments').namespace('ns').check('create')"
    const variables = { authorizer: Cel.authorizerType }
    assert.strictEqual(valueOf(`${check}.allowed()`, variables, { authorizer }), true)
    assert.deepStrictEqual(asked, [{ group: "apps", resource: "deployments", namespace: "ns", verb: "create" }])
    assert.strictEqual(valueOf("authorizer.path('/x').check('get').allowed()", variables, { authorizer }), false)
  })
})

describe("a variable without a schema", () => {
  it("is read as JSON, whole numbers as int", () => {
    const variables = { object: Type.dyn }
    assert.strictEqual(valueOf("object.spec.replicas + 1", variables, { object: { spec: { replicas: 2 } } }), 3n)
  })
})
