/** Metadata that the server sets, and metadata that a client cannot change. Source: apiserver, registry/rest: BeforeCreate, BeforeUpdate. */
import { arrayAt, at, ensureObject, equal, get, isObject, objectAt, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as RequestContext from "../RequestContext.ts"
import { forbidden } from "./kinds/field.ts"

/** Order of the members of stored metadata; others follow. */
const order: ReadonlyArray<string> = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers"
]

const isEmpty = (value: Json | undefined): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0

/** The object as it is stored: without apiVersion, kind and managedFields; metadata first, in order, and without empty lists and maps. */
export const canonical = (object: JsonObject, revision: string): JsonObject => {
  const metadata = objectAt(object, "metadata") ?? {}
  metadata["resourceVersion"] = revision
  const ordered: JsonObject = {}
  for (const key of order) {
    const value = get(metadata, key)
    if (value !== undefined && value !== "" && !isEmpty(value)) ordered[key] = value
  }
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...rest } = object
  return { metadata: ordered, ...rest }
}

const generatedBase = 58

/** Refuses a new object with a resourceVersion. */
export const refuseVersion = (object: JsonObject): StatusError.StatusError | undefined =>
  textAt(object, "metadata", "resourceVersion") === ""
    ? undefined
    : StatusError.badRequest("resourceVersion should not be set on objects to be created")

/** Sets name, uid, creationTimestamp and generation of a new object. A name takes precedence over generateName. */
export const create = (
  context: RequestContext.RequestContext,
  resource: ResourceDefinition,
  object: JsonObject,
  namespace: string
): void => {
  const metadata = ensureObject(object, "metadata")
  const prefix = textAt(metadata, "generateName")
  if (textAt(metadata, "name") === "" && prefix !== "") {
    metadata["name"] = prefix.slice(0, generatedBase) + RequestContext.suffix(context.random)
  }
  put(metadata, "namespace", resource.namespaced ? namespace : undefined)
  metadata["uid"] = RequestContext.uuid(context.random)
  metadata["creationTimestamp"] = RequestContext.timestamp(context.now)
  delete metadata["deletionTimestamp"]
  delete metadata["deletionGracePeriodSeconds"]
  put(metadata, "generation", resource.generation === false ? undefined : 1)
}

const owned = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "creationTimestamp",
  "generation",
  "deletionTimestamp",
  "deletionGracePeriodSeconds"
]

/**
 * Restores the metadata that only the server sets, and increments the generation if needed; a status update never does. Changes
 * `object`, not `existing`.
 */
export const update = (
  resource: ResourceDefinition,
  object: JsonObject,
  existing: JsonObject,
  subresource: string
): void => {
  const metadata = ensureObject(object, "metadata")
  const before = objectAt(existing, "metadata") ?? {}
  for (const key of owned) put(metadata, key, get(before, key))
  if (resource.generation === false || subresource === "status" || !counts(resource, object, existing)) return
  const generation = get(before, "generation")
  metadata["generation"] = (typeof generation === "number" ? generation : 0) + 1
}

/** Whether a change increments the generation. */
const counts = (resource: ResourceDefinition, object: JsonObject, existing: JsonObject): boolean => {
  if (resource.generation === "content") {
    return !equal(contentOf(object), contentOf(existing))
  }
  if (resource.generation === "whole") {
    return !equal(contentOf(object), contentOf(existing)) || !equal(get(object, "status"), get(existing, "status"))
  }
  if (!equal(get(object, "spec"), get(existing, "spec"))) return true
  if (resource.generation !== "annotations") return false
  return !equal(at(object, "metadata", "annotations"), at(existing, "metadata", "annotations"))
}

const contentOf = ({ apiVersion: _a, kind: _k, metadata: _m, status: _s, ...content }: JsonObject): JsonObject =>
  content

/** Refuses an update that adds finalizers to an object that is being deleted. */
export const refuseNewFinalizers = (
  resource: ResourceDefinition,
  object: JsonObject,
  existing: JsonObject
): StatusError.StatusError | undefined => {
  if (textAt(existing, "metadata", "deletionTimestamp") === "") return undefined
  const known = arrayAt(existing, "metadata", "finalizers")
  const added = arrayAt(object, "metadata", "finalizers").filter((one) => !known.includes(one))
  if (added.length === 0) return undefined
  const found = `[]string{${added.map((one) => JSON.stringify(one)).join(", ")}}`
  return StatusError.invalid(resource, textAt(existing, "metadata", "name"), [
    forbidden(
      "metadata.finalizers",
      `no new finalizers can be added if the object is being deleted, found new finalizers ${found}`
    )
  ])
}
