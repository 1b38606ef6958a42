/**
 * Reads a CustomResourceDefinition of any origin: whether types can be made of it, and what is wrong with it if not, with the path of each
 * fault. The schemas are checked by the API server's rules; so are the names, because they become names of files and of TypeScript.
 * Source: apiextensions-apiserver, pkg/apis/apiextensions/validation.
 */
import * as Result from "effect/Result"
import type { PrinterColumn, Scope } from "../../Resource.ts"
import { check } from "../../structural/check.ts"
import { type Cause, isMembers, member, type StructuralSchema } from "../../structural/StructuralSchema.ts"
import * as fieldErrors from "../../structural/fieldErrors.ts"

/** A definition as a client has written it: what the API server would fill in may be missing. */
export interface Definition {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: {
    readonly group: string
    readonly scope: Scope
    readonly names: {
      readonly kind: string
      readonly plural: string
      readonly singular?: string
      readonly listKind?: string
      readonly shortNames?: ReadonlyArray<string>
      readonly categories?: ReadonlyArray<string>
    }
    readonly versions: readonly [Version, ...ReadonlyArray<Version>]
    readonly conversion?: { readonly strategy?: string }
  }
}

export interface Version {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema: { readonly openAPIV3Schema: StructuralSchema }
  readonly subresources?: {
    readonly status?: object
    readonly scale?: {
      readonly specReplicasPath: string
      readonly statusReplicasPath: string
      readonly labelSelectorPath?: string
    }
  }
  readonly additionalPrinterColumns?: ReadonlyArray<PrinterColumn>
  readonly selectableFields?: ReadonlyArray<{ readonly jsonPath: string }>
}

export const kind = "CustomResourceDefinition"
const group = "apiextensions.k8s.io"

/** Everything that is wrong, or the definition. The value has to be one by its `kind`. */
export const read = (object: unknown): Result.Result<Definition, ReadonlyArray<Cause>> => {
  const causes: Array<Cause> = []
  if (!isMembers(object)) return Result.fail([fieldErrors.invalid("", object, "must be an object")])
  const version = member(object, "apiVersion")
  if (version !== `${group}/v1`) {
    const old = `${group}/v1beta1 is served by no API server since Kubernetes 1.22: give the definition in ${group}/v1`
    return Result.fail([
      fieldErrors.invalid("apiVersion", version, version === `${group}/v1beta1` ? old : `must be ${group}/v1`)
    ])
  }
  readMetadata(object, causes)
  const spec = member(object, "spec")
  if (!isMembers(spec)) causes.push(fieldErrors.required("spec"))
  else readSpec(spec, causes)
  return causes.length > 0 ? Result.fail(causes) : Result.succeed(object as unknown as Definition)
}

const label = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/
const domain = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+$/

const readMetadata = (object: Readonly<Record<string, unknown>>, causes: Array<Cause>): void => {
  const { metadata, spec } = object
  const names = isMembers(spec) && isMembers(spec["names"]) ? spec["names"] : {}
  const wanted = `${String(names["plural"])}.${isMembers(spec) ? String(spec["group"]) : ""}`
  const name = isMembers(metadata) ? metadata["name"] : undefined
  if (name !== wanted)
    causes.push(fieldErrors.invalid("metadata.name", name ?? null, 'must be spec.names.plural+"."+spec.group'))
  const annotations = isMembers(metadata) ? (metadata["annotations"] ?? undefined) : undefined
  if (annotations !== undefined && !(isMembers(annotations) && Object.values(annotations).every(isText))) {
    causes.push(fieldErrors.invalid("metadata.annotations", annotations, "must have texts alone"))
  }
}

type Members = Readonly<Record<string, unknown>>

const isText = (value: unknown): value is string => typeof value === "string"

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

const readSpec = (spec: Members, causes: Array<Cause>): void => {
  const { group, names, preserveUnknownFields, scope, versions } = spec
  if (!isText(group) || group.length > 253 || !domain.test(group)) {
    causes.push(fieldErrors.invalid("spec.group", group ?? null, "should be a domain with at least one dot"))
  }
  if (scope !== "Namespaced" && scope !== "Cluster") {
    causes.push(fieldErrors.notSupported("spec.scope", scope ?? "", ["Cluster", "Namespaced"]))
  }
  if (preserveUnknownFields === true) {
    const detail = "cannot be true in v1: the schema says x-kubernetes-preserve-unknown-fields instead"
    causes.push(fieldErrors.invalid("spec.preserveUnknownFields", true, detail))
  }
  readNames(isMembers(names) ? names : {}, causes)
  if (!Array.isArray(versions) || versions.length === 0) {
    causes.push(fieldErrors.required("spec.versions", "must have at least one version"))
  } else readVersions(versions, causes)
}

const readNames = (names: Members, causes: Array<Cause>): void => {
  for (const key of ["plural", "singular", "kind", "listKind"]) {
    const value = names[key] ?? undefined
    const isNeeded = key === "plural" || key === "kind"
    if ((value === undefined || value === "") && !isNeeded) continue
    const text = isText(value) ? value : ""
    if (!label.test(key.toLowerCase().endsWith("kind") ? text.toLowerCase() : text)) {
      causes.push(
        fieldErrors.invalid(`spec.names.${key}`, value ?? null, "must be a DNS label that begins with a letter")
      )
    }
  }
  for (const key of ["shortNames", "categories"]) {
    const value = names[key] ?? undefined
    if (value !== undefined && !isTexts(value)) {
      causes.push(fieldErrors.invalid(`spec.names.${key}`, value, "must be a list of texts"))
    }
  }
}

const readVersions = (versions: ReadonlyArray<unknown>, causes: Array<Cause>): void => {
  const members = versions.map((one) => (isMembers(one) ? one : {}))
  const field = "spec.versions"
  const names = members.map(({ name }) => name)
  if (new Set(names).size < names.length) {
    causes.push(fieldErrors.invalid(field, names, "must contain unique version names"))
  }
  if (members.filter(({ storage }) => storage === true).length !== 1) {
    causes.push(fieldErrors.invalid(field, names, "must have exactly one version marked as storage version"))
  }
  if (!members.some(({ served }) => served === true)) {
    causes.push(fieldErrors.invalid(field, names, "no version is served, so there is nothing that a client could use"))
  }
  for (const [index, version] of members.entries()) readVersion(version, `${field}[${index}]`, causes)
}

const readVersion = (version: Members, field: string, causes: Array<Cause>): void => {
  const { additionalPrinterColumns: columns, deprecationWarning, name, selectableFields, subresources } = version
  if (!isText(name) || !label.test(name)) {
    causes.push(fieldErrors.invalid(`${field}.name`, name ?? null, "must be a DNS label that begins with a letter"))
  }
  for (const key of ["served", "storage"]) {
    if (typeof version[key] !== "boolean") causes.push(fieldErrors.required(`${field}.${key}`, "must be true or false"))
  }
  const schema = isMembers(version["schema"]) ? version["schema"]["openAPIV3Schema"] : undefined
  if (schema === undefined) causes.push(fieldErrors.required(`${field}.schema.openAPIV3Schema`, "schemas are required"))
  else causes.push(...check(schema, `${field}.schema.openAPIV3Schema`))
  if ((deprecationWarning ?? undefined) !== undefined && !isText(deprecationWarning)) {
    causes.push(fieldErrors.invalid(`${field}.deprecationWarning`, deprecationWarning, "must be a text"))
  }
  readList(columns, `${field}.additionalPrinterColumns`, ["name", "type", "jsonPath"], causes)
  readList(selectableFields, `${field}.selectableFields`, ["jsonPath"], causes)
  const scale = isMembers(subresources) ? (subresources["scale"] ?? undefined) : undefined
  if (scale !== undefined)
    readList([scale], `${field}.subresources.scale`, ["specReplicasPath", "statusReplicasPath"], causes)
}

/** A list of objects with texts. */
const readList = (value: unknown, field: string, texts: ReadonlyArray<string>, causes: Array<Cause>): void => {
  if ((value ?? undefined) === undefined) return
  const isFine = (one: unknown): boolean => isMembers(one) && texts.every((key) => isText(one[key]))
  if (!Array.isArray(value) || !value.every(isFine)) {
    causes.push(fieldErrors.invalid(field, value, `must have the texts ${texts.join(", ")}`))
  }
}
