/**
 * Unknown fields and values of a wrong type. The query parameter `fieldValidation` of a write decides whether an unknown field is
 * an error (Strict), a warning (Warn) or ignored (Ignore); it is always dropped. A value of a wrong type is always an error. Kinds
 * that are not in the type table are not checked.
 *
 * The messages depend on how the object was sent, because kube-apiserver decodes in three ways: JSON into structs (bodies, JSON
 * patches and merge patches), unstructured values into structs (strategic merge patches), and typed values (apply).
 */
import { prune } from "../../kube/structural/prune.ts"
import type { StructuralSchema } from "../../kube/structural/StructuralSchema.ts"
import { isObject, objectAt, set, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import { decode, decodeSparse } from "../scheme/decode.ts"
import type { Findings, Mismatch } from "../scheme/decode.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as scalars from "../scheme/scalars.ts"
import * as types from "../scheme/types.ts"
import type { RequestContext } from "../RequestContext.ts"
import * as duplicates from "./duplicates.ts"

type Directive = "Ignore" | "Strict" | "Warn"

/** Decodes an object in place before it is written and drops unknown fields; returns why it is refused, or undefined. */
export type Decode = (object: JsonObject) => StatusError.StatusError | undefined

const optionKinds: Readonly<Record<string, string>> = {
  PATCH: "PatchOptions",
  POST: "CreateOptions",
  PUT: "UpdateOptions"
}

const directiveOf = ({ request }: RequestContext): Directive | StatusError.StatusError => {
  const asked = request.query.get("fieldValidation") ?? ""
  if (asked === "") return "Warn"
  if (asked === "Ignore" || asked === "Strict" || asked === "Warn") return asked
  return StatusError.invalid({ group: "meta.k8s.io", kind: optionKinds[request.method] ?? "CreateOptions" }, "", [
    {
      field: "fieldValidation",
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(asked)}: supported values: "Ignore", "Strict", "Warn"`
    }
  ])
}

const strictText = (errors: ReadonlyArray<string>): string => `strict decoding error: ${errors.join(", ")}`

/** Drops unknown fields and reports them as the directive requires. */
const settle = (
  context: RequestContext,
  directive: Directive,
  errors: ReadonlyArray<string>,
  refuse: (why: string) => StatusError.StatusError
): StatusError.StatusError | undefined => {
  if (errors.length === 0 || directive === "Ignore") return undefined
  if (directive === "Strict") return refuse(strictText(errors))
  context.warnings.push(...errors)
  return undefined
}

const unknownTexts = (findings: Findings | undefined): ReadonlyArray<string> =>
  (findings?.unknown ?? []).map((path) => `unknown field ${JSON.stringify(path)}`)

/** The body of a create or an update. */
export const ofBody = (context: RequestContext, resource: ResourceDefinition): Decode =>
  bodyAs(context, readerOf(resource))

/** The body of a subresource that takes a type of its own: `autoscaling.Scale`. */
export const ofBodyAs = (context: RequestContext, type: string): Decode => bodyAs(context, ofType(types.get(type)))

/** How objects of one kind are decoded, and the name and version for messages. */
interface Reader {
  readonly name: string
  readonly version: string
  readonly read: (object: JsonObject) => Findings | undefined
}

const ofType = (type: types.Type): Reader => ({
  name: type.name,
  version: type.version,
  read: (object) => decode(object, type)
})

const readerOf = (resource: ResourceDefinition): Reader | undefined => {
  const { customResource: custom } = resource
  if (custom !== undefined) {
    return {
      name: resource.kind,
      version: resource.version,
      read: (object) => decodeCustomResource(object, custom.schema, decode)
    }
  }
  const type = types.ofKind(resource)
  return type === undefined ? undefined : ofType(type)
}

type ReadType = (object: JsonObject, type: types.Type) => Findings | undefined

/** The maximum that kube-apiserver reports. */
const unknownLimit = 100

/** Decodes a custom resource in place: metadata by the type table, the rest pruned by the schema. Values of a wrong type in the rest are left to validation. */
const decodeCustomResource = (object: JsonObject, schema: StructuralSchema, read: ReadType): Findings | undefined => {
  const metadata = objectAt(object, "metadata")
  const found = metadata === undefined ? undefined : read(metadata, types.get("meta.ObjectMeta"))
  const { dropped, value } = prune(schema, object)
  if (isObject(value) && value !== object) {
    for (const key of Object.keys(object)) {
      if (Object.hasOwn(value, key)) set(object, key, value[key] ?? null)
      else delete object[key]
    }
  }
  const unknown = [...(found?.unknown ?? []).map((path) => `metadata.${path}`), ...dropped].slice(0, unknownLimit)
  const mismatch = found?.mismatch === undefined ? undefined : belowMetadata(found.mismatch)
  return unknown.length === 0 && mismatch === undefined ? undefined : { unknown, mismatch }
}

const belowMetadata = (mismatch: Mismatch): Mismatch => ({
  ...mismatch,
  path: ["metadata", ...mismatch.path],
  fields: ["metadata", ...mismatch.fields]
})

const bodyAs =
  (context: RequestContext, type: Reader | undefined): Decode =>
  (object) => {
    const directive = directiveOf(context)
    if (StatusError.isRefusal(directive)) return directive
    if (type === undefined) return undefined
    const refuse = (why: string) =>
      StatusError.badRequest(
        `${type.name} in version ${JSON.stringify(type.version)} cannot be handled as a ${type.name}: ${why}`
      )
    const repeated = directive === "Ignore" ? [] : repeatedIn(context.request, object)
    const findings = type.read(object)
    if (findings?.mismatch !== undefined) return refuse(goText(findings.mismatch))
    const errors = [...repeated.map((path) => `duplicate field ${JSON.stringify(path)}`), ...unknownTexts(findings)]
    return settle(context, directive, errors, refuse)
  }

/** Paths of the duplicate members of a body. */
const repeatedIn = ({ body, isOwnBody }: RequestContext["request"], object: JsonObject): ReadonlyArray<string> =>
  // If re-encoding has the same length, there is no duplicate; this is cheaper than scanning.
  isOwnBody === true || JSON.stringify(object).length === body.length ? [] : duplicates.find(body)

/** Computes the result of a patch once more for an error, because decoding has changed it in place. */
type Again = () => Json | StatusError.StatusError

/** The result of a JSON or merge patch. */
export const ofPatched = (context: RequestContext, resource: ResourceDefinition, again: Again): Decode =>
  patchedAs(context, readerOf(resource), again)

/** The same for a subresource with a type of its own. */
export const ofPatchedAs = (context: RequestContext, type: string, again: Again): Decode =>
  patchedAs(context, ofType(types.get(type)), again)

const patchedAs =
  (context: RequestContext, type: Reader | undefined, again: Again): Decode =>
  (object) => {
    const directive = directiveOf(context)
    if (StatusError.isRefusal(directive)) return directive
    const findings = type?.read(object)
    if (findings === undefined) return undefined
    const refuse = (why: string) => {
      const result = again()
      return StatusError.isRefusal(result) ? result : invalidPatch(JSON.stringify(result), why)
    }
    if (findings.mismatch !== undefined) return refuse(goText(findings.mismatch))
    return settle(context, directive, unknownTexts(findings), refuse)
  }

/** The result of a strategic merge patch; `patch` parses the patch once more. */
export const ofMerged =
  (context: RequestContext, resource: ResourceDefinition, patch: () => Json): Decode =>
  (object) => {
    const type = types.ofKind(resource)
    const directive = directiveOf(context)
    if (StatusError.isRefusal(directive)) return directive
    const findings = type === undefined ? undefined : decode(object, type)
    if (findings === undefined) return undefined
    const refuse = (why: string) => invalidPatch(goValue(patch()), why)
    if (findings.mismatch !== undefined) return refuse(converterText(findings.mismatch))
    return settle(context, directive, unknownTexts(findings), refuse)
  }

const nothing: Findings = { unknown: [], mismatch: undefined }

const sparse = (resource: ResourceDefinition, object: JsonObject): Findings | undefined => {
  if (resource.customResource !== undefined)
    return decodeCustomResource(object, resource.customResource.schema, decodeSparse)
  const type = types.ofKind(resource)
  return type === undefined ? undefined : decodeSparse(object, type)
}

/** The configuration of an apply, for which every unknown field is an error. */
export const ofApplied =
  (resource: ResourceDefinition): Decode =>
  (object) => {
    const { mismatch, unknown } = sparse(resource, object) ?? nothing
    const errors = [
      ...unknown.map((path) => `.${path}: field not declared in schema`),
      ...(mismatch === undefined ? [] : [typedText(mismatch)])
    ]
    if (errors.length === 0) return undefined
    const name = `${textAt(object, "metadata", "namespace")}/${textAt(object, "metadata", "name")}`
    const gvk = `${resource.group}/${resource.version}, Kind=${resource.kind}`
    const text = errors.length === 1 ? (errors[0] ?? "") : `errors:\n${errors.map((one) => `  ${one}`).join("\n")}`
    // kube-apiserver returns 500 without a reason, which is a bug there (kubernetes issue 139253).
    return StatusError.badRequest(`failed to create typed patch object (${name}; ${gvk}): ${text}`)
  }

const invalidPatch = (value: string, why: string): StatusError.StatusError =>
  StatusError.invalidPatch(`Invalid value: ${JSON.stringify(value)}: ${why}`)

const goType = (fieldType: types.FieldType): string => {
  switch (fieldType._tag) {
    case "Scalar":
      return goScalars[fieldType.scalar]
    case "Ref": {
      const { name, version } = types.get(fieldType.type)
      return `${version}.${name}`
    }
    case "Map":
      return `map[string]${goType(fieldType.element)}`
    case "List":
      return `[]${goType(fieldType.element)}`
  }
}

const goScalars: Readonly<Record<types.Scalar, string>> = {
  s: "string",
  y: "[]uint8",
  i: "int32",
  l: "int64",
  d: "float64",
  b: "bool",
  t: "v1.Time",
  u: "v1.MicroTime",
  x: "intstr.IntOrString",
  q: "resource.Quantity",
  j: "runtime.RawExtension"
}

/** The Go type at the path of a mismatch: that of the field, or of the element if the path continues into a list or map. */
const goText = ({ fields, fieldType, owner, value }: Mismatch): string => {
  const own = fieldType._tag === "Scalar" ? scalars.complaint(fieldType.scalar, value) : undefined
  if (own !== undefined) return own
  const found = scalars.found(value, fieldType._tag === "Scalar" ? fieldType.scalar : undefined)
  return `json: cannot unmarshal ${found} into Go struct field ${owner.name}.${fields.join(".")} of type ${goType(fieldType)}`
}

const goKind = (value: Json): string => {
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64"
  if (typeof value === "boolean") return "bool"
  if (Array.isArray(value)) return "slice"
  return typeof value === "string" ? "string" : "map"
}

const converterText = ({ fieldType, value }: Mismatch): string => {
  const kind = goKind(value)
  switch (fieldType._tag) {
    case "Ref":
      return `cannot restore struct from: ${kind}`
    case "List":
      return `cannot restore slice from ${kind}`
    case "Map":
      return `cannot restore map from ${kind}`
    case "Scalar": {
      const own = scalars.complaint(fieldType.scalar, value)
      if (own !== undefined) return own
      const type = goScalars[fieldType.scalar]
      return typeof value === "number" && type !== "bool"
        ? `cannot convert ${kind} to ${type}`
        : `unrecognized type: ${type}`
    }
  }
}

const typedText = ({ fieldType, path, value }: Mismatch): string => {
  const place = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("")
  const wanted =
    fieldType._tag === "List" ? "list" : fieldType._tag === "Scalar" ? typedScalars[fieldType.scalar] : "map"
  return `${place}: expected ${wanted}, got ${goValue(value)}`
}

const typedScalars: Readonly<Record<types.Scalar, string>> = {
  s: "string",
  y: "string",
  i: "numeric (int or float)",
  l: "numeric (int or float)",
  d: "numeric (int or float)",
  b: "boolean",
  t: "string",
  u: "string",
  x: "string or number",
  q: "quantity",
  j: "map"
}

/** As Go prints an unstructured value with `%v`. */
const goValue = (value: Json): string => {
  if (value === null) return "<nil>"
  if (Array.isArray(value)) return `[${value.map(goValue).join(" ")}]`
  if (!isObject(value)) return String(value)
  const members = Object.keys(value).sort()
  return `map[${members.map((key) => `${key}:${goValue(value[key] ?? null)}`).join(" ")}]`
}

/**
 * Maximum characters of all warnings together, and of one that would exceed it. Source: apiserver/pkg/endpoints/filters:
 * WithWarningRecorder.
 */
const [allWarnings, longWarning] = [4096, 256] as const

/** Adds each warning once; one that exceeds the limit is truncated, and then dropped. */
export const addWarning = (warnings: Array<string>, warning: string): void => {
  if (warning === "" || warnings.includes(warning)) return
  const length = warnings.reduce((sum, one) => sum + one.length, 0)
  const text = length + warning.length > allWarnings ? warning.slice(0, longWarning) : warning
  if (length + text.length <= allWarnings) warnings.push(text)
}

/** The value of the Warning header; undefined without warnings. Source: RFC 7234, section 5.5. */
export const warningHeader = (warnings: ReadonlyArray<string>): string | undefined =>
  warnings.length === 0 ? undefined : warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(", ")
