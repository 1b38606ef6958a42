/** Comparing definitions of random Schemas: equal ones have no differences, and others have all of them. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import type * as Compare from "../../../src/manager/crds/compare.ts"
import * as compare from "../../../src/manager/crds/compare.ts"
import { type Recipe, recipes } from "../../kube/crd/recipes.ts"
import { checkProperty } from "../../support/property.ts"

const definitionOf = ({ schema }: Recipe) =>
  Result.getOrThrow(
    Crd.make(Resource.make({ group: "example.com", version: "v1", kind: "Random", plural: "randoms", spec: schema }))
  )

const pairs = Arbitrary.all([recipes, recipes] as const)

const object = (spec: unknown) => ({ metadata: { name: "one" }, spec })

const isBroken = ({ broken }: typeof Compare, recipe: Recipe, spec: unknown): boolean =>
  broken(definitionOf(recipe), [object(spec)]).length > 0

describe("compare", () => {
  checkProperty("objects with unknown fields, which would be pruned, are reported", recipes, (recipe) =>
    isBroken(compare, recipe, { ...(recipe.sample as object), unknown: 1 })
  )

  checkProperty("null in a field with a default is not reported", recipes, (recipe) => {
    const spec = definitionOf(recipe).spec.versions[0]?.schema.openAPIV3Schema.properties?.["spec"]
    const defaulted = Object.entries(spec?.properties ?? {}).filter(([, { default: value }]) => value !== undefined)
    const nulls = Object.fromEntries(defaulted.map(([name]) => [name, null]))
    return !isBroken(compare, recipe, { ...(recipe.sample as object), ...nulls })
  })

  checkProperty("a definition does not differ from itself with the fields that the server adds", recipes, (recipe) => {
    const wanted = definitionOf(recipe)
    const live = { ...wanted, spec: { ...wanted.spec, conversion: { strategy: "None" } } }
    return compare.differences(live, wanted).length === 0
  })

  checkProperty("two definitions differ exactly when differences are reported", pairs, ([one, other]) => {
    const [live, wanted] = [definitionOf(one), definitionOf(other)]
    const found = compare.differences(live, wanted)
    return (
      Equal.equals(live.spec, wanted.spec) === (found.length === 0) &&
      found.every(({ from, to }) => !Equal.equals(from, to)) &&
      compare.differences(wanted, live).length === found.length
    )
  })

  checkProperty("valid objects are not reported", recipes, (recipe) => !isBroken(compare, recipe, recipe.sample))

  checkProperty("each invalid object is reported, unless its fault is a null that is pruned", recipes, (recipe) =>
    recipe.spoil(recipe.sample).every((bad) => JSON.stringify(bad).includes("null") || isBroken(compare, recipe, bad))
  )
})
