/**
 * The `Resource.make` of one CustomResourceDefinition, with all its versions. Objects are stored in the version that the resource names, or if no
 * client may use that one, in the version that is marked; a version that is not served is part of the definition and has no types.
 */
import type { StructuralSchema } from "../../structural/StructuralSchema.ts"
import type { Definition, Version } from "./definition.ts"
import { call, data, type Declaration, type Expression, fields, list, name } from "./Expression.ts"
import { tidy } from "./tidy.ts"
import { fieldOf, type Target, translate } from "./translate.ts"

/** What a module collects. */
export interface Context {
  readonly nameOf: (path: ReadonlyArray<string>) => string
  readonly add: (declaration: Declaration) => void
  readonly warn: Target["warn"]
}

type Entry = readonly [string, Expression]

export const resourceOf = (definition: Definition, context: Context): Expression => {
  const { metadata, spec } = definition
  const { categories, kind, listKind, plural, shortNames, singular } = spec.names
  const main = preferred(definition)
  const approval = metadata.annotations?.[approvalKey]
  const contentOf = reader(definition, context)
  return call(
    "Resource.make",
    fields([
      ["group", data(spec.group)],
      ["version", data(main.name)],
      ["kind", data(kind)],
      ["plural", data(plural)],
      ["scope", data(spec.scope)],
      ...given("singular", singular === kind.toLowerCase() ? undefined : singular),
      ...given("listKind", listKind === `${kind}List` ? undefined : listKind),
      ...given("shortNames", shortNames),
      ...given("categories", categories),
      ...given("annotations", approval === undefined ? undefined : { [approvalKey]: approval }),
      ...given("description", main.schema.openAPIV3Schema.description),
      ...contentOf(main, [kind]),
      ...listed(
        "versions",
        // The served ones first, because they share their constants with the others.
        spec.versions
          .filter((version) => version !== main)
          .toSorted((a, b) => Number(b.served) - Number(a.served))
          .map((version) =>
            fields([
              ["version", data(version.name)],
              ...given("served", version.served ? undefined : false),
              ...given("storage", version.storage ? true : undefined),
              ...contentOf(version, [kind, version.name])
            ])
          )
      )
    ])
  )
}

const approvalKey = "api-approved.kubernetes.io"

/** An option, unless it is empty. */
const given = (key: string, value: unknown): ReadonlyArray<Entry> =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
    ? []
    : [[key, data(value)]]

const listed = (key: string, items: ReadonlyArray<Expression>): ReadonlyArray<Entry> =>
  items.length === 0 ? [] : [[key, list(items)]]

/**
 * The version that the resource names: the stored one, or if no client may use that, the first of the served ones in the order of Kubernetes:
 * releases before betas before alphas, newer before older.
 */
export const preferred = ({ spec: { versions } }: Definition): Version => {
  const served = versions.filter((version) => version.served)
  return served.find(({ storage }) => storage) ?? served.toSorted(byPriority)[0] ?? versions[0]
}

/** Source: apimachinery, pkg/version: CompareKubeAwareVersionStrings. */
const byPriority = (a: Version, b: Version): number => {
  const [ofA, ofB] = [priority(a.name), priority(b.name)]
  const at = ofA.findIndex((one, index) => one !== ofB[index])
  return at < 0 ? 0 : (ofB[at] ?? 0) - (ofA[at] ?? 0)
}

const priority = (version: string): ReadonlyArray<number> => {
  const [, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? []
  if (major === undefined) return [0, 0, 0]
  return [stage === undefined ? 3 : stage === "beta" ? 2 : 1, Number(major), Number(minor ?? 0)]
}

/** What a version has of its own. Versions share the constants of objects that are the same at the same path. */
const reader = (definition: Definition, context: Context) => {
  const shared = new Map<string, Expression>()
  return (version: Version, prefix: ReadonlyArray<string>): ReadonlyArray<Entry> => {
    const index = definition.spec.versions.indexOf(version)
    const target: Target = {
      declare: (path, value, type) => {
        const key = JSON.stringify([path, value])
        const found = shared.get(key)
        if (found !== undefined) return found
        const declared = context.nameOf([...prefix, ...(path.length === 0 ? ["object"] : path)])
        context.add({ name: declared, value, type, isExported: version.served })
        shared.set(key, name(declared))
        return name(declared)
      },
      warn: context.warn
    }
    return [
      ...given("deprecated", version.deprecated === true ? true : undefined),
      ...given("deprecationWarning", version.deprecationWarning),
      ...given("subresources", subresourcesOf(version)),
      ...given("printerColumns", version.additionalPrinterColumns?.map(columnOf)),
      ...given(
        "selectableFields",
        version.selectableFields?.map(({ jsonPath }) => jsonPath)
      ),
      ...partsOf(version.schema.openAPIV3Schema, `spec.versions[${index}].schema.openAPIV3Schema`, target)
    ]
  }
}

const subresourcesOf = ({ subresources: { scale, status } = {} }: Version): object | undefined => {
  const paths = scale && {
    specReplicasPath: scale.specReplicasPath,
    statusReplicasPath: scale.statusReplicasPath,
    ...(scale.labelSelectorPath ? { labelSelectorPath: scale.labelSelectorPath } : {})
  }
  const found = { ...(status ? { status: true } : {}), ...(paths ? { scale: paths } : {}) }
  return Object.keys(found).length > 0 ? found : undefined
}

const columnOf = ({ description, format, jsonPath, name, priority, type }: Columns[number]): object => ({
  name,
  type,
  jsonPath,
  ...(description ? { description } : {}),
  ...(format ? { format } : {}),
  ...(priority ? { priority } : {})
})

type Columns = NonNullable<Version["additionalPrinterColumns"]>

/** `spec` and `status` where the schema has nothing else, the whole `object` otherwise. */
const partsOf = (schema: StructuralSchema, field: string, target: Target): ReadonlyArray<Entry> => {
  const own = withoutImplied(schema)
  const { description: _, properties = {}, required = [], type: __, ...more } = own
  const { spec, status, ...others } = properties
  const isPlain =
    spec !== undefined &&
    Object.keys(others).length === 0 &&
    Object.keys(more).length === 0 &&
    required.every((name) => name === "spec") &&
    (status === undefined || (status.default ?? undefined) === undefined)
  if (!isPlain) return [["object", translate(own, { path: [], field }, target)]]
  const at = (name: string) => ({ path: [name], field: `${field}.properties[${name}]` })
  return [
    ["spec", fieldOf(spec, required.includes("spec"), at("spec"), target)],
    ...(status === undefined ? [] : [["status", translate(status, at("status"), target)] as const])
  ]
}

/** Every object has these fields, whether a schema says so or not. */
const implied = ["apiVersion", "kind", "metadata"]

/** Without what is true of every object of the API. */
const withoutImplied = (schema: StructuralSchema): StructuralSchema => {
  const { properties = {}, required = [], ...rest } = tidy(schema)
  const isPlain = ([name, of]: readonly [string, StructuralSchema]) =>
    implied.includes(name) && Object.keys(tidy(of)).every((key) => ["description", "title", "type"].includes(key))
  const kept = Object.entries(properties).filter((entry) => !isPlain(entry))
  const needed = required.filter((name) => !implied.includes(name))
  return {
    ...rest,
    ...(kept.length > 0 ? { properties: Object.fromEntries(kept) } : {}),
    ...(needed.length > 0 ? { required: needed } : {})
  }
}
