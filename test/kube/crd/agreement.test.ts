/**
 * The Schema and its definition agree: what one allows the other allows, and what is wrong is refused by both. Asked of random
 * Schemas, and of mutants of the translation.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Structural from "../../../src/kube/crd/structural.ts"
import { structural } from "../../../src/kube/crd/structural.ts"
import { applyDefaults } from "../../../src/kube/structural/applyDefaults.ts"
import { check } from "../../../src/kube/structural/check.ts"
import { prune } from "../../../src/kube/structural/prune.ts"
import { validate } from "../../../src/kube/structural/validate.ts"
import { loadEdited } from "../../support/mutant.ts"
import { runs, seed } from "../../support/runs.ts"
import { type Recipe, recipes } from "./recipes.ts"

const wireOf = (recipe: Recipe) => Arbitrary.map(Arbitrary.schema(Schema.toEncoded(recipe.schema)), toJson)

const toJson = (value: unknown): Schema.Json => JSON.parse(JSON.stringify(value)) as Schema.Json

/** In the order in which they are asked; the first that does not hold is told of. */
const disagreement = (make: typeof structural, recipe: Recipe, values: ReadonlyArray<Schema.Json>) => {
  const made = make(Schema.Struct({ spec: recipe.schema }))
  if (Result.isFailure(made)) return `refused: ${JSON.stringify(made.failure)}`
  const schema = made.success
  const complaints = check({ ...schema, properties: { ...schema.properties } }, "schema")
  if (complaints.length > 0) return `not structural: ${JSON.stringify(complaints)}`
  const decode = Schema.decodeUnknownResult(recipe.schema)
  for (const value of values) {
    const object = { spec: value }
    const faults = validate(schema, object)
    if (faults.length > 0) return `refused a good value: ${JSON.stringify({ value, faults })}`
    if (prune(schema, object).value !== object) return `pruned a good value: ${JSON.stringify({ value })}`
    const decoded = decode(value)
    if (Result.isFailure(decoded)) return `the Schema refuses a good value: ${JSON.stringify(value)}`
    const filled = toJson(Schema.encodeSync(recipe.schema)(decoded.success))
    const served = applyDefaults(schema, object).spec
    if (!Equal.equals(filled, served)) return `other defaults: ${JSON.stringify({ filled, served })}`
  }
  for (const bad of recipe.spoil(values[0] ?? recipe.sample)) {
    if (Result.isSuccess(decode(bad))) return `the Schema takes a bad value: ${JSON.stringify(bad)}`
    if (validate(schema, { spec: bad }).length === 0) return `the definition takes a bad value: ${JSON.stringify(bad)}`
  }
  return undefined
}

const agree = (make: typeof structural, options: Arbitrary.CheckOptions) =>
  Arbitrary.checkEffect(
    recipes,
    (recipe) =>
      Effect.gen(function* () {
        const good = yield* Effect.orDie(Arbitrary.sampleEffect(wireOf(recipe), { count: 3, seed: 7 }))
        const found = disagreement(make, recipe, [...good, recipe.sample])
        return found === undefined ? true : yield* Effect.fail(found)
      }),
    options
  )

describe("a Schema and its definition", () => {
  it.effect(
    "agree on what is good and what is bad",
    () =>
      Effect.map(agree(structural, { runs: runs(300), ...(seed === undefined ? {} : { seed }) }), (result) =>
        assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    runs(120_000)
  )

  const at = "kube/crd/"
  for (const [title, path, find, replace] of [
    ["forgets what is required", "structural.ts", "if (steps?.isOptional === false) required.push(name)", ""],
    ["requires everything", "structural.ts", "if (steps?.isOptional === false)", "if (steps !== undefined)"],
    ["forgets defaults", "structural.ts", "Option.isSome(fallback) ?", "Option.isNone(fallback) && false ?"],
    ["forgets the first of a list", "structural.ts", "{ minItems: ast.elements.length }", "{}"],
    ["forgets null", "unions.ts", "if (!nullable) return props", "return props"],
    ["forgets the values beside null", "unions.ts", "allOf: [{ enum: values }]", ""],
    [
      "lists the values beside null",
      "unions.ts",
      "allOf: [{ enum: values }]",
      "enum: values as ReadonlyArray<unknown>"
    ],
    ["requires nothing of alternatives", "unions.ts", "?? [] } }, required }", "?? [] } } }"],
    ["mistakes bounds", "checks.ts", "maximum: finite(maximum),", "maximum: finite(minimum),"],
    ["includes an excluded bound", "checks.ts", "exclusiveMinimum: exclusiveMinimum === true ? true : undefined,", ""],
    ["takes any number for an integer", "checks.ts", '? { type: "integer" } : undefined', "? {} : undefined"],
    ["takes the wider bound", "checks.ts", "a.minimum > b.minimum ||", "a.minimum < b.minimum ||"],
    ["forgets one of two patterns", "checks.ts", "allOf: [...(a.allOf ?? []), { pattern: b.pattern }]", ""],
    ["forgets lengths of lists", "checks.ts", "defined({ minItems: minimum, maxItems: maximum })", "{}"],
    ["forgets that elements are unique", "checks.ts", '? { "x-kubernetes-list-type": "set" }', "? {}"]
  ] as const) {
    it.effect(`differ when the translation ${title}`, () =>
      Effect.gen(function* () {
        const edit = { path: `${at}${path}`, find, replace }
        const mutant = yield* Effect.promise(() => loadEdited<typeof Structural>(`${at}structural.ts`, title, [edit]))
        const result = yield* agree(mutant.structural, { runs: 500, maxShrinks: 0, seed: 1 })
        assert.strictEqual(result._tag, "Falsified")
      })
    )
  }
})
