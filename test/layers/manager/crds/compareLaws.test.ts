/** Comparing definitions of random Schemas: nothing is told of what is the same, and everything of what is not. */
import * as Arbitrary from "effect/Arbitrary"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Crd from "../../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../../src/kube/Resource.ts"
import type * as Compare from "../../../../src/layers/manager/crds/compare.ts"
import * as compare from "../../../../src/layers/manager/crds/compare.ts"
import { type Recipe, recipes } from "../../../kube/crd/recipes.ts"
import { law, prove } from "../../../support/laws.ts"

const definitionOf = ({ schema }: Recipe) =>
  Result.getOrThrow(
    Crd.make(Resource.make({ group: "example.com", version: "v1", kind: "Random", plural: "randoms", spec: schema }))
  )

const pairs = Arbitrary.all([recipes, recipes] as const)

const object = (spec: unknown) => ({ metadata: { name: "one" }, spec })

const told = ({ broken }: typeof Compare, recipe: Recipe, spec: unknown): boolean =>
  broken(definitionOf(recipe), [object(spec)]).length > 0

prove<typeof Compare>({
  path: "layers/manager/crds/compare.ts",
  module: compare,
  laws: [
    law("objects that would be cut are told of", recipes, (module, recipe) =>
      told(module, recipe, { ...(recipe.sample as object), unheard: 1 })
    ),
    law("null is no harm where there is a default", recipes, (module, recipe) => {
      const spec = definitionOf(recipe).spec.versions[0]?.schema.openAPIV3Schema.properties?.["spec"]
      const defaulted = Object.entries(spec?.properties ?? {}).filter(([, { default: value }]) => value !== undefined)
      const nulls = Object.fromEntries(defaulted.map(([name]) => [name, null]))
      return !told(module, recipe, { ...(recipe.sample as object), ...nulls })
    }),
    law("a definition is the same as itself, with what the server adds", recipes, ({ differences }, recipe) => {
      const wanted = definitionOf(recipe)
      const live = { ...wanted, spec: { ...wanted.spec, conversion: { strategy: "None" } } }
      return differences(live, wanted).length === 0
    }),
    law("two are different exactly when something is told", pairs, ({ differences }, [one, other]) => {
      const [live, wanted] = [definitionOf(one), definitionOf(other)]
      const found = differences(live, wanted)
      return (
        Equal.equals(live.spec, wanted.spec) === (found.length === 0) &&
        found.every(({ from, to }) => !Equal.equals(from, to)) &&
        differences(wanted, live).length === found.length
      )
    }),
    law("good objects do not suffer", recipes, (module, recipe) => !told(module, recipe, recipe.sample)),
    law("each bad object does, unless its fault is a null that is taken away", recipes, (module, recipe) =>
      recipe.spoil(recipe.sample).every((bad) => JSON.stringify(bad).includes("null") || told(module, recipe, bad))
    )
  ],
  mutants: [
    {
      title: "sees only what is there now",
      find: "[...new Set([...Object.keys(from), ...Object.keys(to)])]",
      replace: "Object.keys(from)"
    },
    {
      title: "takes what the server adds for a difference",
      find: ".filter(([field]) => Object.hasOwn(wanted.spec, field))",
      replace: ""
    },
    { title: "tells of everything", find: "else if (!Equal.equals(from, to)) found", replace: "else found" },
    {
      title: "does not look at schemas",
      find: "walk(own(from, key), own(to, key)",
      replace: "walk(own(from, key), own(from, key)"
    },
    {
      title: "forgets what would be cut",
      find: "one.refused.length + one.dropped.length > 0",
      replace: "one.refused.length > 0"
    },
    {
      title: "forgets what would be refused",
      find: "one.refused.length + one.dropped.length > 0",
      replace: "one.dropped.length > 0"
    },
    { title: "fills nothing in", find: "applyDefaults(schema, value)", replace: "value" },
    { title: "tells of every object", find: "one.refused.length + one.dropped.length > 0", replace: "true" },
    {
      title: "looks at no stored version",
      find: "find(({ storage }) => storage)",
      replace: "find(({ storage }) => !storage)"
    }
  ]
})
