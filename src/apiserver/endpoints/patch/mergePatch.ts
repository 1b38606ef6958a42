/**
 * JSON merge patch, RFC 7386: objects merge, null deletes, everything else replaces. Neither argument is changed; unchanged
 * parts of the target are shared with the result.
 */
import { get, isObject, set } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"

export const apply = (target: Json | undefined, patch: Json): Json => {
  if (!isObject(patch)) return patch
  const out: JsonObject = isObject(target) ? { ...target } : {}
  for (const key of Object.keys(patch)) {
    const value = get(patch, key)
    if (value === null || value === undefined) delete out[key]
    else set(out, key, apply(get(out, key), value))
  }
  return out
}
