/**
 * Decodes request bodies: content type, JSON, and whether the object is of the kind that the path names. The result belongs to the
 * caller and is in stored form. Source: apiserver/pkg/endpoints/handlers.
 */
import { clone, dropNulls, get, isObject, put, textAt } from "./json.ts"
import type { Json, JsonObject } from "./json.ts"
import type { ApiRequest } from "./Api.ts"
import * as StatusError from "./StatusError.ts"
import type { Decode } from "./validation/fieldValidation.ts"
import * as ResourceDefinition from "./scheme/ResourceDefinition.ts"
import * as resources from "./scheme/resources.ts"

const acceptedTypes: ReadonlyArray<string> = ["application/json"]

/** Media type without parameters, lower case; JSON when none is given. */
export const contentType = (request: ApiRequest): string => {
  const header = request.headers["content-type"]
  if (header === undefined || header === "") return "application/json"
  return (header.split(";")[0] ?? "").trim().toLowerCase()
}

/** JSON nested deeper than this is rejected, because the functions that walk it recurse. kube-apiserver stops at 10,000. */
export const maxDepth = 500

const isTooDeep = (text: string): boolean => {
  if (text.length < 2 * maxDepth) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === quote) at = endOfString(text, at)
    else if (char === openBrace || char === openBracket) {
      if (++depth > maxDepth) return true
    } else if (char === closeBrace || char === closeBracket) depth--
  }
  return false
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [34, 92, 123, 125, 91, 93]

/** Index of the closing quote; the end of the text when there is none. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

const isEscaped = (text: string, at: number): boolean => {
  let before = at
  while (text.charCodeAt(before - 1) === backslash) before--
  return (at - before) % 2 === 1
}

/** Undefined for invalid or too deeply nested JSON. */
export const parseJson = (text: string): Json | undefined => {
  if (isTooDeep(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined // the caller makes the error
  }
}

const unrecognized = (kind: string, text: string): StatusError.StatusError => {
  const start = [...new TextEncoder().encode(text.slice(0, 16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")
  return StatusError.badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: invalid JSON (${start})`
  )
}

/** A JSON object of any kind: delete options, bindings. Undefined when there is no body. */
export const optional = (request: ApiRequest, kind: string, decode?: Decode): JsonObject | undefined => {
  const value = read(request, kind)
  if (value !== undefined) (decode ?? dropNulls)(value)
  return value
}

const read = (request: ApiRequest, kind: string): JsonObject | undefined => {
  if (request.body === "") return undefined
  if (!acceptedTypes.includes(contentType(request))) throw StatusError.unsupportedMediaType(acceptedTypes)
  const value = parseJson(request.body)
  if (!isObject(value)) throw unrecognized(kind, request.body)
  return value
}

/** The object of a create or update. */
export const object = (
  request: ApiRequest,
  resource: ResourceDefinition.ResourceDefinition,
  decode: Decode
): JsonObject => {
  const value = read(request, resource.kind)
  if (value === undefined) throw unrecognized(resource.kind, "")
  return resources.toStored(resource, check(value, resource, decode))
}

/** Rejects an object of another kind, or that cannot be decoded. */
const check = (value: JsonObject, resource: ResourceDefinition.ResourceDefinition, decode: Decode): JsonObject => {
  const apiVersion = textAt(value, "apiVersion")
  const expected = ResourceDefinition.apiVersion(resource)
  const given = textAt(value, "kind")
  if (apiVersion !== "" && apiVersion !== expected) {
    throw StatusError.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`
    )
  }
  if (given !== "" && given !== resource.kind) {
    throw StatusError.badRequest(
      `${given} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}`
    )
  }
  decode(value)
  const metadata = get(value, "metadata") ?? undefined
  if (metadata === undefined) put(value, "metadata", {})
  else if (!isObject(metadata)) {
    throw StatusError.badRequest(
      `${resource.kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}: json: cannot unmarshal value into Go struct field ${resource.kind}.metadata of type v1.ObjectMeta`
    )
  }
  return value
}

/** The result of a patch. It is changed in place: no part of it may be shared. */
export const accept = (
  value: JsonObject,
  resource: ResourceDefinition.ResourceDefinition,
  decode: Decode
): JsonObject => resources.toStored(resource, check(value, resource, decode))

/** The configuration of an apply, nulls included: the manager owns every field that it sends. */
export const configuration = (
  value: JsonObject,
  resource: ResourceDefinition.ResourceDefinition,
  decode: Decode
): JsonObject => resources.sparseToStored(resource, check(clone(value), resource, decode))

/** `dryRun=All`; any other value is rejected. */
export const dryRun = (values: ReadonlyArray<Json>, kind = "CreateOptions"): boolean => {
  for (const value of values) {
    if (value !== "All") {
      throw StatusError.invalid({ group: "meta.k8s.io", kind }, "", [
        {
          field: "dryRun",
          reason: "FieldValueNotSupported",
          message: `Unsupported value: ${JSON.stringify(value)}: supported values: "All"`
        }
      ])
    }
  }
  return values.length > 0
}
