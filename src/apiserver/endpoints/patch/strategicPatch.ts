/**
 * Strategic merge patch: a merge patch in which lists of objects merge by a key, with directives: `$patch`, `$retainKeys`,
 * `$setElementOrder/…`, `$deleteFromPrimitiveList/…`. Changes neither argument. Source: apimachinery/pkg/util/strategicpatch.
 */
import { equal, get, isObject, set } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as StatusError from "../../StatusError.ts"
import * as Shape from "../../scheme/Shape.ts"

const orderPrefix = "$setElementOrder/"
const deletePrefix = "$deleteFromPrimitiveList/"

type Merged<A> = A | StatusError.StatusError

export const apply = (target: JsonObject, patch: JsonObject, shape: Shape.Shape | undefined): Merged<JsonObject> => {
  const directive = get(patch, "$patch")
  if (directive === "replace") return stripped(patch)
  if (directive === "delete") return {}
  if (directive !== undefined && directive !== "merge") {
    return StatusError.badRequest(`unknown patch type found in the patch: ${JSON.stringify(directive)}`)
  }
  const out = retained(target, patch)
  if (StatusError.isRefusal(out)) return out
  for (const key of Object.keys(patch)) {
    const value = get(patch, key)
    if (value === undefined || key === "$patch" || key === "$retainKeys") continue
    if (key.startsWith(orderPrefix)) continue
    const refusal = key.startsWith(deletePrefix)
      ? deletePrimitives(out, key.slice(deletePrefix.length), value)
      : mergeMember(out, key, value, Shape.field(shape, key))
    if (refusal !== undefined) return refusal
  }
  for (const key of Object.keys(patch)) {
    if (key.startsWith(orderPrefix)) reorder(out, target, key.slice(orderPrefix.length), get(patch, key), shape)
    // Without a directive, the order of the patch applies: new elements come first.
    else if (get(patch, orderPrefix + key) === undefined) reorder(out, target, key, get(patch, key), shape)
  }
  return out
}

/** With `$retainKeys` only the named members remain; the others belong to another variant of a union. */
const retained = (target: JsonObject, patch: JsonObject): Merged<JsonObject> => {
  const keep = get(patch, "$retainKeys")
  if (keep === undefined) return { ...target }
  if (!Array.isArray(keep)) return StatusError.badRequest("invalid patch format of retainKeys")
  const out: JsonObject = {}
  for (const key of Object.keys(target)) if (keep.includes(key)) set(out, key, target[key] ?? null)
  return out
}

const mergeMember = (
  out: JsonObject,
  key: string,
  value: Json,
  shape: Shape.Shape | undefined
): StatusError.StatusError | undefined => {
  if (value === null || (isObject(value) && get(value, "$patch") === "delete")) {
    delete out[key]
    return undefined
  }
  const merged = mergeValue(get(out, key), value, shape)
  if (StatusError.isRefusal(merged)) return merged
  set(out, key, merged)
  return undefined
}

const mergeValue = (current: Json | undefined, value: Json, shape: Shape.Shape | undefined): Merged<Json> => {
  if (Array.isArray(value)) return mergeList(Array.isArray(current) ? current : [], value, shape)
  if (!isObject(value)) return value
  return isObject(current) && shape?.replaced !== true ? apply(current, value, shape) : stripped(value)
}

const mergeList = (current: Array<Json>, patch: Array<Json>, shape: Shape.Shape | undefined): Merged<Array<Json>> => {
  if (shape?.patchSet === true) {
    return [...current, ...patch.filter((one, index) => !current.includes(one) && patch.indexOf(one) === index)]
  }
  if (shape?.key === undefined) return patch.filter((one) => !isDirective(one)).map(clean)
  if (patch.some((one) => isObject(one) && get(one, "$patch") === "replace")) {
    return patch.filter((one) => !isDirective(one)).map(clean)
  }
  return mergeByKey(current, patch, shape, shape.key)
}

/** An element that is only a directive: `{ $patch: replace }`. */
const isDirective = (element: Json): boolean =>
  isObject(element) && get(element, "$patch") !== undefined && Object.keys(element).length === 1

const clean = (element: Json): Json => (isObject(element) ? stripped(element) : element)

const mergeByKey = (current: Array<Json>, patch: Array<Json>, shape: Shape.Shape, key: string): Merged<Array<Json>> => {
  let out = [...current]
  for (const element of patch) {
    const id = isObject(element) ? get(element, key) : undefined
    if (!isObject(element) || id === undefined) {
      return StatusError.badRequest(`map: ${JSON.stringify(element)} does not contain declared merge key: ${key}`)
    }
    const matches = (one: Json): boolean => isObject(one) && equal(get(one, key), id)
    if (get(element, "$patch") === "delete") {
      out = out.filter((one) => !matches(one))
      continue
    }
    const index = out.findIndex(matches)
    const found = out[index]
    const merged = isObject(found)
      ? apply(found, element, { ...(shape.fields && { fields: shape.fields }) })
      : stripped(element)
    if (StatusError.isRefusal(merged)) return merged
    if (isObject(found)) out[index] = merged
    else out.push(merged)
  }
  return out
}

const deletePrimitives = (out: JsonObject, key: string, values: Json): StatusError.StatusError | undefined => {
  const current = get(out, key)
  if (!Array.isArray(values)) return StatusError.badRequest(`invalid patch format of ${deletePrefix}`)
  if (Array.isArray(current)) {
    set(
      out,
      key,
      current.filter((one) => !values.includes(one))
    )
  }
  return undefined
}

/** A new value, without directives and nulls. */
const stripped = (patch: JsonObject): JsonObject => {
  const out: JsonObject = {}
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === null || value === undefined || isDirectiveKey(key)) continue
    if (isObject(value)) {
      if (get(value, "$patch") !== "delete") set(out, key, stripped(value))
    } else if (Array.isArray(value)) {
      const kept = value.filter((one) => !isDirective(one) && !(isObject(one) && get(one, "$patch") === "delete"))
      set(out, key, kept.map(clean))
    } else set(out, key, value)
  }
  return out
}

const isDirectiveKey = (key: string): boolean =>
  key === "$patch" || key === "$retainKeys" || key.startsWith(orderPrefix) || key.startsWith(deletePrefix)

/** Named elements take the given order; elements that only the server has stay near their place. */
const reorder = (
  out: JsonObject,
  target: JsonObject,
  key: string,
  order: Json | undefined,
  shape: Shape.Shape | undefined
): void => {
  const list = get(out, key)
  if (!Array.isArray(list) || !Array.isArray(order)) return
  const field = Shape.field(shape, key)
  if (field?.key === undefined && field?.patchSet !== true) return
  const mergeKey = field.key
  const idOf = (element: Json): Json =>
    mergeKey !== undefined && isObject(element) ? (get(element, mergeKey) ?? null) : element
  const before = get(target, key)
  const placeBefore = positions((Array.isArray(before) ? before : []).map(idOf))
  const wanted = positions(order.map(idOf))
  const named = list
    .filter((one) => wanted.has(idText(idOf(one))))
    .sort((a, b) => (wanted.get(idText(idOf(a))) ?? 0) - (wanted.get(idText(idOf(b))) ?? 0))
  const others = list.filter((one) => !wanted.has(idText(idOf(one))))
  const merged: Array<Json> = []
  for (const one of named) {
    const place = placeBefore.get(idText(idOf(one))) ?? -1
    const after = others.findIndex(
      (other) => (placeBefore.get(idText(idOf(other))) ?? Number.POSITIVE_INFINITY) > place
    )
    merged.push(...others.splice(0, place === -1 ? 0 : after === -1 ? others.length : after))
    merged.push(one)
  }
  set(out, key, [...merged, ...others])
}

const idText = (id: Json): string => JSON.stringify(id)

const positions = (ids: ReadonlyArray<Json>): ReadonlyMap<string, number> =>
  new Map(ids.map((id, index) => [idText(id), index]))
