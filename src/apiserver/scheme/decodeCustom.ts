/**
 * Reads an object of a custom kind: its metadata as the type table has it, the rest by the schema of its definition, which takes out what it does
 * not know. Values of a wrong type in that rest are for validation to tell.
 */
import { prune } from "../../kube/structural/prune.ts"
import type { StructuralSchema } from "../../kube/structural/StructuralSchema.ts"
import { isObject, objectAt, set } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { Findings, Mismatch } from "./decode.ts"
import * as types from "./types.ts"

type Read = (object: JsonObject, type: types.Type) => Findings | undefined

/** As many as the reference server reports. */
const limit = 100

/** In place; `read` is how the metadata is read. */
export const decodeCustom = (object: JsonObject, schema: StructuralSchema, read: Read): Findings | undefined => {
  const metadata = objectAt(object, "metadata")
  const found = metadata === undefined ? undefined : read(metadata, types.get("meta.ObjectMeta"))
  const { dropped, value } = prune(schema, object)
  if (isObject(value) && value !== object) {
    for (const key of Object.keys(object)) {
      if (Object.hasOwn(value, key)) set(object, key, value[key] ?? null)
      else delete object[key]
    }
  }
  const unknown = [...(found?.unknown ?? []).map((path) => `metadata.${path}`), ...dropped].slice(0, limit)
  const mismatch = found?.mismatch === undefined ? undefined : below(found.mismatch)
  return unknown.length === 0 && mismatch === undefined ? undefined : { unknown, mismatch }
}

const below = (mismatch: Mismatch): Mismatch => ({
  ...mismatch,
  path: ["metadata", ...mismatch.path],
  fields: ["metadata", ...mismatch.fields]
})
