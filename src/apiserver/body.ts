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
export const optional = (
  request: ApiRequest,
  kind: string,
  decode?: Decode
): JsonObject | StatusError.StatusError | undefined => {
  const value = read(request, kind)
  if (value === undefined || StatusError.isRefusal(value)) return value
  if (decode !== undefined) return decode(value) ?? value
  dropNulls(value)
  return value
}

const read = (request: ApiRequest, kind: string): JsonObject | StatusError.StatusError | undefined => {
  if (request.body === "") return undefined
  if (!acceptedTypes.includes(contentType(request))) return StatusError.unsupportedMediaType(acceptedTypes)
  const value = parseJson(request.body)
  return isObject(value) ? value : unrecognized(kind, request.body)
}

/** The object of a create or update. */
export const object = (
  request: ApiRequest,
  resource: ResourceDefinition.ResourceDefinition,
  decode: Decode
): JsonObject | StatusError.StatusError => {
  const value = read(request, resource.kind) ?? unrecognized(resource.kind, "")
  return StatusError.isRefusal(value) ? value : accept(value, resource, decode)
}

/** Decodes an object in place; refuses one of another kind, and one that cannot be decoded. */
const refuseOther = (
  value: JsonObject,
  resource: ResourceDefinition.ResourceDefinition,
  decode: Decode
): StatusError.StatusError | undefined => {
  const apiVersion = textAt(value, "apiVersion")
  const expected = ResourceDefinition.apiVersion(resource)
  const given = textAt(value, "kind")
  if (apiVersion !== "" && apiVersion !== expected) {
    return StatusError.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`
    )
  }
  if (given !== "" && given !== resource.kind) {
    return StatusError.badRequest(
      `${given} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}`
    )
  }
  const refusal = decode(value)
  if (refusal !== undefined) return refusal
  const metadata = get(value, "metadata") ?? undefined
  if (metadata === undefined) put(value, "metadata", {})
  else if (!isObject(metadata)) {
    return StatusError.badRequest(
      `${resource.kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}: json: cannot unmarshal value into Go struct field ${resource.kind}.metadata of type v1.ObjectMeta`
    )
  }
  return undefined
}

/** The stored form of an object that was sent, or that is the result of a patch. It is changed in place: no part of it may be shared. */
export const accept = (
  value: JsonObject,
  resource: ResourceDefinition.ResourceDefinition,
  decode: Decode
): JsonObject | StatusError.StatusError => refuseOther(value, resource, decode) ?? resources.toStored(resource, value)

/** The configuration of an apply, nulls included: the manager owns every field that it sends. */
export const configuration = (
  value: JsonObject,
  resource: ResourceDefinition.ResourceDefinition,
  decode: Decode
): JsonObject | StatusError.StatusError => {
  const own = clone(value)
  return refuseOther(own, resource, decode) ?? resources.sparseToStored(resource, own)
}
