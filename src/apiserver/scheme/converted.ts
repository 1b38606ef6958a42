/**
 * Objects of kinds that are kept in another form than they are served in: translated, and then as a struct of the other type
 * would have them, with what that type always writes and without what it leaves out.
 */
import { dropNulls } from "../json.ts"
import type { JsonObject } from "../json.ts"
import { decode } from "./decode.ts"
import type { ResourceDefinition } from "./ResourceDefinition.ts"
import * as resources from "./resources.ts"
import * as types from "./types.ts"

/** As the reference server would give an object back, in place. */
const asOf = (resource: ResourceDefinition | undefined, object: JsonObject): JsonObject => {
  const type = resource === undefined ? undefined : types.ofKind(resource)
  if (type !== undefined) decode(object, type)
  return object
}

/** What a struct of the stored form makes of an object in that form. May change its argument. */
export const asStored = (resource: ResourceDefinition, object: JsonObject): JsonObject =>
  asOf(resources.storedAs(resource.storage), object)

/** Into the stored form. May change its argument. */
export const toStored = (resource: ResourceDefinition, object: JsonObject): JsonObject =>
  resource.conversion === undefined ? object : asStored(resource, resource.conversion.toStored(object))

/** Of what is applied only what was said: nothing is put in, but nulls do not survive a translation. May change its argument. */
export const sparseToStored = (resource: ResourceDefinition, object: JsonObject): JsonObject => {
  if (resource.conversion === undefined) return object
  dropNulls(object)
  return resource.conversion.toStored(object)
}

/** Into the form that the kind serves. May change its argument. */
export const fromStored = (resource: ResourceDefinition, object: JsonObject): JsonObject =>
  resource.conversion === undefined ? object : asOf(resource, resource.conversion.fromStored(object))
