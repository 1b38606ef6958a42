/**
 * The form in which a webhook is shown an object, and what becomes of the object when it has a patch. A webhook sees the version that its
 * rule names; what it makes of it is read like anything that a client sends, and only what the endpoint may change is taken over.
 */
import { at, clone, equal, get, isObject, objectAt, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as body from "../body.ts"
import * as custom from "../apiextensions/conversion/forms.ts"
import * as jsonPatch from "../endpoints/patch/jsonPatch.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import * as fieldValidation from "../validation/fieldValidation.ts"
import * as converted from "../scheme/converted.ts"
import * as Kind from "../scheme/Kind.ts"
import type { RequestScope } from "../admission/Admission.ts"
import type { GroupVersionKind, Write } from "../admission/Admission.ts"

/** A copy, in the version of a kind, of an object as the target's kind has it; null for what is not there. */
export const served = (
  context: RequestScope,
  target: Target,
  kind: Kind.Kind,
  object: JsonObject | undefined
): Json => {
  if (object === undefined) return null
  const asked = custom.objectIn(context, target.kind, kind, object)
  const own = kind.conversion === undefined ? asked : converted.fromStored(kind, clone(asked))
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = own
  return { kind: kind.kind, apiVersion: Kind.apiVersion(kind), ...rest }
}

/** An object that is in no storage: it has one form. */
export const plain = (as: GroupVersionKind, object: JsonObject | undefined): Json =>
  object === undefined ? null : { ...object, kind: as.kind, apiVersion: Kind.apiVersion(as) }

/** What the server says of a new object by itself is said after the mutating webhooks were asked. */
export const unborn = (target: Target, object: JsonObject): JsonObject => {
  const {
    creationTimestamp: _time,
    generation: _generation,
    uid: _uid,
    ...metadata
  } = objectAt(object, "metadata") ?? {}
  if (target.name === "" && textAt(metadata, "generateName") !== "") delete metadata["name"]
  return { ...object, metadata }
}

/** The object that a patch makes of another, as the target's kind has it; undefined when it says nothing. */
export const stored = (
  { target, context }: Pick<Write, "target" | "context">,
  kind: Kind.Kind,
  document: Json,
  patch: string
): JsonObject | undefined => {
  const accepted = (one: JsonObject, as: Kind.Kind) =>
    body.accept(one, as, fieldValidation.ofBody(lenient(context), as))
  if (kind === target.kind || kind.custom?.converter === undefined) {
    return patched(document, patch, (one) => accepted(one, kind))
  }
  // What the rule's version does not know may be of the target's.
  const made = patched(document, patch, (one) => one)
  if (made === undefined) return undefined
  const { apiVersion: _apiVersion, kind: _kind, ...object } = made
  return accepted(custom.objectIn(context, kind, target.kind, object), target.kind)
}

/** The same for an object that has one form. */
export const same = (document: Json, patch: string): JsonObject | undefined => patched(document, patch, (made) => made)

const patched = (document: Json, text: string, read: (made: JsonObject) => JsonObject): JsonObject | undefined => {
  const patch = body.parseJson(text)
  if (patch === undefined) throw StatusError.internal("invalid JSON in the patch of a webhook")
  try {
    const made = clone(jsonPatch.apply(document, patch))
    if (equal(made, document)) return undefined
    if (!isObject(made)) throw StatusError.badRequest("the patch does not result in an object")
    return read(made)
  } catch (thrown) {
    throw thrown instanceof StatusError.StatusError ? StatusError.internal(causeOf(thrown)) : thrown
  }
}

const causeOf = ({ status }: StatusError.StatusError): string =>
  status.details?.causes?.[0]?.message ?? status.message ?? ""

const lenient = (context: RequestScope): RequestScope => ({
  ...context,
  request: { ...context.request, query: new URLSearchParams({ fieldValidation: "Ignore" }) }
})

/** Members of the metadata that are the server's, whatever a webhook makes of them. */
const kept = [
  "namespace",
  "uid",
  "creationTimestamp",
  "generation",
  "resourceVersion",
  "deletionTimestamp",
  "deletionGracePeriodSeconds"
]

/** Puts into the object what a webhook may change through this endpoint. */
export const settle = ({ object, target }: Write, patched: JsonObject): void => {
  const before = objectAt(object, "metadata") ?? {}
  const metadata = objectAt(patched, "metadata") ?? {}
  for (const key of kept) put(metadata, key, get(before, key))
  if (textAt(metadata, "name") === "") put(metadata, "name", get(before, "name"))
  const { kind, subresource } = target
  const next: JsonObject =
    subresource === ""
      ? { ...patched, metadata }
      : { ...object, metadata, ...partOf(subresource === "status" ? "status" : "spec", patched) }
  if (subresource === "" && Kind.hasStatus(kind)) put(next, "status", at(object, "status"))
  replace(object, next)
  if (subresource === "") kind.defaults?.(object)
}

const partOf = (part: string, from: JsonObject): JsonObject => {
  const value = get(from, part)
  return value === undefined ? {} : { [part]: value }
}

export const replace = (object: JsonObject, next: JsonObject): void => {
  for (const key of Object.keys(object)) delete object[key]
  for (const key of Object.keys(next)) put(object, key, get(next, key))
}
