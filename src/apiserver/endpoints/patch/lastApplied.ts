/**
 * The annotation of kubectl's client-side apply, which kubectl's server-side apply takes over: fields that it has set and that nothing has changed
 * since are no conflict, and the annotation follows the applied configuration. Other field managers do not touch it. Pure. Source:
 * apimachinery/pkg/util/managedfields/internal: lastAppliedManager, lastAppliedUpdater.
 */
import { at, clone, ensureObject, isObject, objectAt, set, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import type * as Shape from "../../scheme/Shape.ts"
import * as fields from "../../storage/fields.ts"
import * as FieldSet from "../../storage/FieldSet.ts"

/** The field manager that takes the annotation over. */
export const manager = "kubectl"

const annotation = "kubectl.kubernetes.io/last-applied-configuration"

/** The most bytes of all annotations. Source: apimachinery validation.TotalAnnotationSizeLimitB. */
const mostBytes = 256 * 1024

const textIn = (object: JsonObject): string => textAt(object, "metadata", "annotations", annotation)

/** The fields of the annotation that have the same value in the live object. Empty where the annotation is missing or is of another version. */
export const unchanged = (live: JsonObject, apiVersion: string, shape: Shape.Shape): FieldSet.FieldSet => {
  const applied = parsed(textIn(live))
  if (applied === undefined || at(applied, "apiVersion") !== apiVersion) return FieldSet.empty
  const all = fields.applied(fields.ownable(applied), shape)
  const difference = fields.between(applied, live, shape)
  return difference === undefined
    ? all
    : FieldSet.difference(FieldSet.difference(all, difference.changed), difference.removed)
}

const parsed = (text: string): JsonObject | undefined => {
  try {
    const value: Json = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    // Any client may have written any text.
    return undefined
  }
}

/** Writes the configuration into the annotation of an object that has it, in place; removes the annotation where it would be too long. */
export const follow = (object: JsonObject, config: JsonObject): void => {
  if (textIn(object) === "") return
  const copy = clone(config)
  const own = objectAt(copy, "metadata", "annotations")
  if (own !== undefined) delete own[annotation]
  const annotations = ensureObject(ensureObject(object, "metadata"), "annotations")
  set(annotations, annotation, `${JSON.stringify(sorted(copy))}\n`)
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + lengthOf(key) + lengthOf(typeof value === "string" ? value : ""),
    0
  )
  if (bytes > mostBytes) delete annotations[annotation]
}

const lengthOf = (text: string): number => new TextEncoder().encode(text).length

/** With its keys in order, as Go encodes maps. */
const sorted = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const out: JsonObject = {}
  for (const key of Object.keys(value).sort()) set(out, key, sorted(value[key] ?? null))
  return out
}
