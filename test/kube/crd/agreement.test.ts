/**
 * A random Schema and its definition agree: both allow the valid values and both refuse the invalid ones.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { structural } from "../../../src/kube/crd/structural.ts"
import { applyDefaults } from "../../../src/kube/structural/applyDefaults.ts"
import { check } from "../../../src/kube/structural/check.ts"
import { prune } from "../../../src/kube/structural/prune.ts"
import { validate } from "../../../src/kube/structural/validate.ts"
import { runs, seed } from "../../support/runs.ts"
import { type Recipe, recipes } from "./recipes.ts"

const wireOf = (recipe: Recipe) => Arbitrary.map(Arbitrary.schema(Schema.toEncoded(recipe.schema)), toJson)

const toJson = (value: unknown): Schema.Json => JSON.parse(JSON.stringify(value)) as Schema.Json

/** The first difference between the two; undefined if there is none. */
const disagreement = (recipe: Recipe, values: ReadonlyArray<Schema.Json>) => {
  const made = structural(Schema.Struct({ spec: recipe.schema }))
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

const agree = (recipe: Recipe): Effect.Effect<boolean, string> =>
  Effect.gen(function* () {
    const good = yield* Effect.orDie(Arbitrary.sampleEffect(wireOf(recipe), { count: 3, seed: 7 }))
    const found = disagreement(recipe, [...good, recipe.sample])
    return found === undefined ? true : yield* Effect.fail(found)
  })

describe("a Schema and its definition", () => {
  it.effect(
    "accept and refuse the same values",
    () =>
      Effect.map(
        Arbitrary.checkEffect(recipes, agree, { runs: runs(300), ...(seed === undefined ? {} : { seed }) }),
        (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    runs(120_000)
  )
})
