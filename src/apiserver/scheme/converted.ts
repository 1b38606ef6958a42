/**
 * Objects of kinds that are kept in another form than they are served in: translated, and then as a struct of the other type
 * would have them, with what that type always writes and without what it leaves out.
 */
import { dropNulls } from "../json.ts"
import type { JsonObject } from "../json.ts"
import { decode } from "./decode.ts"
import type { Kind } from "./Kind.ts"
import * as kinds from "./kinds.ts"
import * as types from "./types.ts"

/** As the reference server would give an object back, in place. */
const asOf = (kind: Kind | undefined, object: JsonObject): JsonObject => {
  const type = kind === undefined ? undefined : types.ofKind(kind)
  if (type !== undefined) decode(object, type)
  return object
}

/** What a struct of the stored form makes of an object in that form. May change its argument. */
export const asStored = (kind: Kind, object: JsonObject): JsonObject => asOf(kinds.storedAs(kind.storage), object)

/** Into the stored form. May change its argument. */
export const toStored = (kind: Kind, object: JsonObject): JsonObject =>
  kind.conversion === undefined ? object : asStored(kind, kind.conversion.toStored(object))

/** Of what is applied only what was said: nothing is put in, but nulls do not survive a translation. May change its argument. */
export const sparseToStored = (kind: Kind, object: JsonObject): JsonObject => {
  if (kind.conversion === undefined) return object
  dropNulls(object)
  return kind.conversion.toStored(object)
}

/** Into the form that the kind serves. May change its argument. */
export const fromStored = (kind: Kind, object: JsonObject): JsonObject =>
  kind.conversion === undefined ? object : asOf(kind, kind.conversion.fromStored(object))
