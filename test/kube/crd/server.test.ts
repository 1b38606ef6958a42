/**
 * The embedded API server with the definitions of random Schemas: it accepts each definition, stores each valid object as the Schema decodes
 * it, and refuses each invalid one. `agreement.test.ts` checks the same without a server.
 */
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Definitions from "../../../src/manager/crds/Definitions.ts"
import { layer } from "../../support/cluster.ts"
import { runs, seed } from "../../support/runs.ts"
import { type Recipe, recipes } from "./recipes.ts"

type Random = Resource.Custom<KubeObject & { readonly spec?: unknown }, any>

const declared = ({ schema }: Recipe): Random =>
  Resource.make({ group: "example.com", version: "v1", kind: "Random", plural: "randoms", spec: schema })

const judged = Effect.fnUntraced(function* (recipe: Recipe) {
  const client = yield* KubeClient
  const resource = declared(recipe)
  yield* Definitions.install([resource])
  let made = 0
  const create = (spec: unknown) =>
    client.create(resource, { metadata: { name: `random-${made++}` }, spec }, { namespace: "default" })
  const drawn = yield* Effect.orDie(Arbitrary.sampleEffect(Resource.arbitrary(resource), { count: 3, seed: 7 }))
  for (const { spec } of [{ spec: recipe.sample }, ...drawn]) {
    const stored = yield* create(spec)
    const decoded = Result.getOrThrow(resource.decode(stored))
    // The server filled in the defaults of the Schema, and pruned nothing.
    assert.deepStrictEqual(Result.getOrThrow(resource.encode(decoded, stored)), stored)
    assert.deepStrictEqual(decoded.spec, Result.getOrThrow(resource.decode({ metadata: {}, spec })).spec)
  }
  for (const spec of recipe.spoil(recipe.sample)) {
    const outcome = yield* Effect.result(create(spec))
    // A null that is not allowed means absent: the server removes it, or sets the default, and stores a valid object.
    const isRepaired = Result.isSuccess(outcome) && JSON.stringify(spec).includes("null")
    if (isRepaired) Result.getOrThrow(resource.decode(outcome.success))
    else assert.strictEqual(Result.isFailure(outcome) && outcome.failure.reason._tag, "Invalid", JSON.stringify(spec))
  }
  return true
})

it.effect(
  "the definitions of random Schemas are accepted, and allow the objects that the Schemas allow",
  () =>
    Effect.map(
      Arbitrary.checkEffect(recipes, (recipe) => Effect.provide(judged(recipe), layer), {
        runs: runs(1000),
        ...(seed === undefined ? {} : { seed })
      }),
      (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
    ),
  runs(240_000)
)
