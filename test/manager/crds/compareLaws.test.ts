import { describe } from "@effect/vitest"
/** Comparing definitions of random Schemas: equal ones have no differences, and others have all of them. */
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

const told = ({ broken }: typeof Compare, recipe: Recipe, spec: unknown): boolean =>
  broken(definitionOf(recipe), [object(spec)]).length > 0

describe("compare", () => {
  checkProperty("objects that would be cut are told of", recipes, (recipe) =>
    told(compare, recipe, { ...(recipe.sample as object), unheard: 1 })
  )

  checkProperty("null is no harm where there is a default", recipes, (recipe) => {
    const spec = definitionOf(recipe).spec.versions[0]?.schema.openAPIV3Schema.properties?.["spec"]
    const defaulted = Object.entries(spec?.properties ?? {}).filter(([, { default: value }]) => value !== undefined)
    const nulls = Object.fromEntries(defaulted.map(([name]) => [name, null]))
    return !told(compare, recipe, { ...(recipe.sample as object), ...nulls })
  })

  checkProperty("a definition is the same as itself, with what the server adds", recipes, (recipe) => {
    const wanted = definitionOf(recipe)
    const live = { ...wanted, spec: { ...wanted.spec, conversion: { strategy: "None" } } }
    return compare.differences(live, wanted).length === 0
  })

  checkProperty("two are different exactly when something is told", pairs, ([one, other]) => {
    const [live, wanted] = [definitionOf(one), definitionOf(other)]
    const found = compare.differences(live, wanted)
    return (
      Equal.equals(live.spec, wanted.spec) === (found.length === 0) &&
      found.every(({ from, to }) => !Equal.equals(from, to)) &&
      compare.differences(wanted, live).length === found.length
    )
  })

  checkProperty("good objects do not suffer", recipes, (recipe) => !told(compare, recipe, recipe.sample))

  checkProperty("each bad object does, unless its fault is a null that is taken away", recipes, (recipe) =>
    recipe.spoil(recipe.sample).every((bad) => JSON.stringify(bad).includes("null") || told(compare, recipe, bad))
  )
})
