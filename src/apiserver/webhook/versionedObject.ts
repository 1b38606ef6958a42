/**
 * Converts objects to the version in which a webhook receives them, and applies its patch. A webhook gets the version that its rule
 * names; the patched object is decoded like one from a client, and only the fields that the endpoint may change are taken from it.
 * Source: apiserver/pkg/admission/plugin/webhook/generic: VersionedAttributes.
 */
import * as Effect from "effect/Effect"
import { at, clone, equal, get, isObject, objectAt, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as body from "../body.ts"
import * as converted from "../apiextensions/conversion/converted.ts"
import * as jsonPatch from "../endpoints/patch/jsonPatch.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import * as fieldValidation from "../validation/fieldValidation.ts"
import * as resources from "../scheme/resources.ts"
import * as ResourceDefinition from "../scheme/ResourceDefinition.ts"
import type { RequestScope } from "../admission/Admission.ts"
import type { GroupVersionKind, Write } from "../admission/Admission.ts"
import type { Attributes, Versioned } from "../admission/attributes.ts"

/** A copy of an object in the version of `kind`; null where there is none. */
export const served = (
  context: RequestScope,
  target: Target,
  resource: ResourceDefinition.ResourceDefinition,
  object: JsonObject | undefined
): Effect.Effect<Json, StatusError.StatusError> =>
  object === undefined
    ? Effect.succeed(null)
    : Effect.map(converted.objectIn(context, target.resource, resource, object), (asked) => {
        const own = resource.conversion === undefined ? asked : resources.fromStored(resource, clone(asked))
        const { apiVersion: _apiVersion, kind: _kind, ...rest } = own
        return { kind: resource.kind, apiVersion: ResourceDefinition.apiVersion(resource), ...rest }
      })

/** The attributes with the object in the version of `resource`, which is the one that a rule of a webhook or a policy names. */
export const attributes = Effect.fnUntraced(function* (
  given: Attributes,
  resource: ResourceDefinition.ResourceDefinition
): Effect.fn.Return<Versioned, StatusError.StatusError> {
  const { as, before, context, object, target } = given
  const form = (one: JsonObject | undefined) =>
    as === undefined ? served(context, target, resource, one) : Effect.succeed(unversioned(as, one))
  return { ...given, resource, object: yield* form(object), oldObject: yield* form(before) }
})

/** An object that is not stored, such as a Binding, has only one version. */
export const unversioned = (as: GroupVersionKind, object: JsonObject | undefined): Json =>
  object === undefined ? null : { ...object, kind: as.kind, apiVersion: ResourceDefinition.apiVersion(as) }

/** A new object without the fields that the server sets after the mutating webhooks. */
export const withoutServerFields = (target: Target, object: JsonObject): JsonObject => {
  const {
    creationTimestamp: _time,
    generation: _generation,
    uid: _uid,
    ...metadata
  } = objectAt(object, "metadata") ?? {}
  if (target.name === "" && textAt(metadata, "generateName") !== "") delete metadata["name"]
  return { ...object, metadata }
}

/** The patched object, in the version of the target; undefined when the patch changes nothing. */
export const stored = (
  { target, context }: Pick<Write, "target" | "context">,
  resource: ResourceDefinition.ResourceDefinition,
  document: Json,
  patch: string
): Effect.Effect<JsonObject | undefined, StatusError.StatusError> => {
  const accepted = (one: JsonObject, as: ResourceDefinition.ResourceDefinition) =>
    body.accept(one, as, fieldValidation.ofBody(ignoringUnknownFields(context), as))
  if (resource === target.resource || resource.customResource?.converter === undefined) {
    return StatusError.toEffect(patched(document, patch, (one) => accepted(one, resource)))
  }
  // A field that is unknown in the version of the rule may exist in that of the target.
  const result = patched(document, patch, (one) => one)
  if (result === undefined || StatusError.isRefusal(result)) return StatusError.toEffect(result)
  const { apiVersion: _apiVersion, kind: _kind, ...object } = result
  return Effect.flatMap(converted.objectIn(context, resource, target.resource, object), (one) =>
    StatusError.toEffect(accepted(one, target.resource))
  )
}

/** The same for an object with only one version. */
export const patchUnversioned = (
  document: Json,
  patch: string
): Effect.Effect<JsonObject | undefined, StatusError.StatusError> =>
  StatusError.toEffect(patched(document, patch, (result) => result))

const patched = (
  document: Json,
  text: string,
  read: (result: JsonObject) => JsonObject | StatusError.StatusError
): JsonObject | StatusError.StatusError | undefined => {
  const patch = body.parseJson(text)
  if (patch === undefined) return StatusError.internal("invalid JSON in the patch of a webhook")
  const result = jsonPatch.apply(document, patch)
  if (StatusError.isRefusal(result)) return internal(result)
  if (equal(result, document)) return undefined
  const next = isObject(result) ? read(clone(result)) : StatusError.badRequest("the patch does not result in an object")
  return StatusError.isRefusal(next) ? internal(next) : next
}

/** A webhook whose patch is refused is an error of the server, not of the client. */
const internal = ({ status }: StatusError.StatusError): StatusError.StatusError =>
  StatusError.internal(status.details?.causes?.[0]?.message ?? status.message ?? "")

const ignoringUnknownFields = (context: RequestScope): RequestScope => ({
  ...context,
  request: { ...context.request, query: new URLSearchParams({ fieldValidation: "Ignore" }) }
})

/** Metadata that the server sets, whatever a webhook returns. */
const serverFields = [
  "namespace",
  "uid",
  "creationTimestamp",
  "generation",
  "resourceVersion",
  "deletionTimestamp",
  "deletionGracePeriodSeconds"
]

/** Copies the fields that a webhook may change through this endpoint into the object. */
export const copyPatched = ({ object, target }: Write, patched: JsonObject): void => {
  const before = objectAt(object, "metadata") ?? {}
  const metadata = objectAt(patched, "metadata") ?? {}
  for (const key of serverFields) put(metadata, key, get(before, key))
  if (textAt(metadata, "name") === "") put(metadata, "name", get(before, "name"))
  const { resource, subresource } = target
  const next: JsonObject =
    subresource === ""
      ? { ...patched, metadata }
      : { ...object, metadata, ...partOf(subresource === "status" ? "status" : "spec", patched) }
  if (subresource === "" && ResourceDefinition.hasStatus(resource)) put(next, "status", at(object, "status"))
  replace(object, next)
  if (subresource === "") resource.defaults?.(object)
}

const partOf = (part: string, from: JsonObject): JsonObject => {
  const value = get(from, part)
  return value === undefined ? {} : { [part]: value }
}

export const replace = (object: JsonObject, next: JsonObject): void => {
  for (const key of Object.keys(object)) delete object[key]
  for (const key of Object.keys(next)) put(object, key, get(next, key))
}
