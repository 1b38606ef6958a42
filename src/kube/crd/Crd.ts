/**
 * The CustomResourceDefinition of a resource declared with Schemas. Pure and deterministic, so it can be printed, compared and committed.
 * `make` refuses what a definition cannot express, with the paths; it leaves nothing out silently.
 * Source: apiextensions.k8s.io/v1.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { KubeObject } from "../Meta.ts"
import * as Resource from "../Resource.ts"
import { checkRules } from "../cel/rules/checkRules.ts"
import { check } from "../structural/check.ts"
import { check as checkSelectable } from "../structural/selectableFields.ts"
import type { Extensions } from "./Extensions.ts"
export { AnyValue, keywords } from "./keywords.ts"
import type { Refusal } from "./place.ts"
import type { StructuralSchema } from "../structural/StructuralSchema.ts"
import { structural } from "./structural.ts"

/** Annotations that add to a structural schema what the Schema does not express: `schema.annotate({ "x-kubernetes-list-type": "set" })`. */
export type Annotations = Extensions

/** One version in a definition, as the API server takes it. Source: apiextensions.k8s.io/v1 CustomResourceDefinitionVersion. */
export interface Version {
  /** `v1alpha1`. */
  readonly name: string
  /** Whether clients may use it. */
  readonly served: boolean
  /** Whether objects are stored in it; of one version only. */
  readonly storage: boolean
  /** Whether clients that use it are warned. */
  readonly deprecated?: true
  /** The warning, in place of the server's own. */
  readonly deprecationWarning?: string
  /** The structural schema by which the server prunes, fills in defaults and validates. */
  readonly schema: { readonly openAPIV3Schema: StructuralSchema }
  /** The endpoints below an object. */
  readonly subresources?: { readonly status?: object; readonly scale?: object }
  /** What `kubectl get` shows beside the name. */
  readonly additionalPrinterColumns?: ReadonlyArray<Resource.PrinterColumn>
  /** The fields by which clients may select objects. */
  readonly selectableFields?: ReadonlyArray<{ readonly jsonPath: string }>
}

/** A definition in wire form, without anything that the API server drops when it stores it. */
export interface CustomResourceDefinition extends KubeObject {
  /** `apiextensions.k8s.io/v1`. */
  readonly apiVersion: string
  /** `CustomResourceDefinition`. */
  readonly kind: string
  /** The kind: its names, where its objects live, and its versions. */
  readonly spec: {
    readonly group: string
    readonly scope: Resource.Scope
    readonly names: {
      readonly kind: string
      readonly listKind: string
      readonly plural: string
      readonly singular: string
      readonly shortNames?: ReadonlyArray<string>
      readonly categories?: ReadonlyArray<string>
    }
    readonly versions: ReadonlyArray<Version>
  }
}

/** A Schema cannot be expressed as a structural schema. */
export class NotStructural extends Data.TaggedError("NotStructural")<{
  /** One line for each refusal: `memcacheds.cache.example.com v1alpha1: spec.when: a transformation cannot …`. */
  readonly message: string
  /** The places that cannot be expressed. */
  readonly refusals: ReadonlyArray<Refusal>
}> {}

/** The definition to create; its name is `<plural>.<group>`. */
export const make = (resource: Resource.AnyCustom): Result.Result<CustomResourceDefinition, NotStructural> => {
  const { declaration } = resource
  const { annotations, versions: others = [] } = declaration
  const name = Resource.qualifiedName(resource)
  const stored = others.filter(({ storage }) => storage === true)
  const versions = [
    versionOf(declaration, declaration, stored.length === 0),
    ...others.map((other) => versionOf(declaration, other, other.storage === true))
  ]
  const refused = versions.flatMap((version) => (Result.isFailure(version) ? [version.failure] : []))
  if (stored.length > 1) {
    const version = stored.map((one) => one.version).join(", ")
    refused.push({ version, refusals: [{ path: "storage", why: "objects are stored in one version only" }] })
  }
  if (refused.length > 0) {
    const lines = refused.flatMap(({ refusals, version }) =>
      refusals.map(({ path, why }) => `${name} ${version}: ${path === "" ? "the whole" : path}: ${why}`)
    )
    return Result.fail(
      new NotStructural({ message: lines.join("\n"), refusals: refused.flatMap((one) => one.refusals) })
    )
  }
  return Result.succeed({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      group: resource.group,
      scope: resource.scope,
      names: namesOf(declaration),
      versions: versions.flatMap((version) => (Result.isSuccess(version) ? [version.success] : []))
    }
  })
}

const namesOf = ({ categories = [], kind, listKind, plural, shortNames = [], singular }: Resource.CustomOptions) => ({
  kind,
  listKind: listKind ?? `${kind}List`,
  plural,
  singular: singular ?? kind.toLowerCase(),
  ...(shortNames.length > 0 ? { shortNames } : {}),
  ...(categories.length > 0 ? { categories } : {})
})

interface Refused {
  readonly version: string
  readonly refusals: ReadonlyArray<Refusal>
}

const versionOf = (
  declaration: Resource.CustomOptions,
  options: Resource.OtherVersion,
  storage: boolean
): Result.Result<Version, Refused> =>
  Result.mapBoth(selectable(options, accepted(structural(Resource.partsOf(options)))), {
    onFailure: (refusals) => ({ version: options.version, refusals }),
    onSuccess: (parts) => ({
      name: options.version,
      served: options === declaration || options.served !== false,
      storage,
      ...deprecationOf(options),
      schema: { openAPIV3Schema: whole(declaration, parts) },
      ...subresourcesOf(options.subresources ?? {}),
      ...columnsOf(options.printerColumns ?? []),
      ...(options.selectableFields === undefined || options.selectableFields.length === 0
        ? {}
        : { selectableFields: options.selectableFields.map((jsonPath) => ({ jsonPath })) })
    })
  })

const deprecationOf = ({ deprecated, deprecationWarning }: Resource.VersionOptions) => ({
  ...(deprecated === true || deprecationWarning !== undefined ? { deprecated: true as const } : {}),
  ...(deprecationWarning === undefined ? {} : { deprecationWarning })
})

/** Annotations are copied as they are, so the whole schema is checked again by the rules of the API server. */
const accepted = (parts: Result.Result<StructuralSchema, ReadonlyArray<Refusal>>): typeof parts =>
  Result.flatMap(parts, (schema) => {
    const problems = check(schema, "")
    const causes = problems.length > 0 ? problems : checkRules(schema, "")
    return causes.length === 0
      ? Result.succeed(schema)
      : Result.fail(causes.map(({ field, message }) => ({ path: field, why: message })))
  })

/** Refuses selectable fields that the API server would refuse. */
const selectable = (
  { selectableFields = [] }: Resource.VersionOptions,
  parts: ReturnType<typeof accepted>
): typeof parts =>
  Result.flatMap(parts, (schema) => {
    const causes = checkSelectable(selectableFields, schema, "selectableFields")
    return causes.length === 0
      ? Result.succeed(schema)
      : Result.fail(causes.map(({ field, message }) => ({ path: field, why: message })))
  })

const whole = (
  { description, kind }: Resource.CustomOptions,
  { properties, ...parts }: StructuralSchema
): StructuralSchema => ({
  ...parts,
  description: parts.description ?? description ?? `${kind} is a kind of its own.`,
  properties: {
    apiVersion: { type: "string", description: "The version of this representation of the object." },
    kind: { type: "string", description: "The kind of the object." },
    metadata: { type: "object" },
    ...properties
  }
})

/** Without the empty fields that the API server drops, so that a definition is the same before and after it is stored. */
const columnsOf = (columns: ReadonlyArray<Resource.PrinterColumn>): Pick<Version, "additionalPrinterColumns"> => {
  const tidy = ({ description = "", format = "", priority = 0, ...column }: Resource.PrinterColumn) =>
    Object.assign(column, description && { description }, format && { format }, priority !== 0 && { priority })
  return columns.length === 0 ? {} : { additionalPrinterColumns: columns.map(tidy) }
}

const subresourcesOf = ({ scale, status }: Resource.Subresources): Pick<Version, "subresources"> =>
  status !== true && scale === undefined
    ? {}
    : { subresources: { ...(status === true ? { status: {} } : {}), ...(scale === undefined ? {} : { scale }) } }
