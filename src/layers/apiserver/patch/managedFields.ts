/**
 * Who owns which field: the entries of `metadata.managedFields`, and how they change with each write. As long as nobody
 * has applied to an object, nothing is recorded; the first apply credits what was there to `before-first-apply`.
 * Source: apimachinery util/managedfields.
 */
import { arrayAt, ensureObject, equal, isObject, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { Shape } from "../schema/Shape.ts"
import * as FieldSet from "./FieldSet.ts"

export interface Manager {
  readonly manager: string
  readonly operation: "Apply" | "Update"
  readonly apiVersion: string
  readonly subresource: string
}

export interface Entry extends Manager {
  readonly time: string
  readonly fields: FieldSet.FieldSet
}

export const read = (object: JsonObject): ReadonlyArray<Entry> =>
  arrayAt(object, "metadata", "managedFields").flatMap((entry) =>
    isObject(entry)
      ? [
          {
            manager: textAt(entry, "manager"),
            operation: textAt(entry, "operation") === "Apply" ? ("Apply" as const) : ("Update" as const),
            apiVersion: textAt(entry, "apiVersion"),
            subresource: textAt(entry, "subresource"),
            time: textAt(entry, "time"),
            fields: objectAt(entry, "fieldsV1") ?? {}
          }
        ]
      : []
  )

export const write = (object: JsonObject, entries: ReadonlyArray<Entry>): void => {
  const owning = entries.filter((entry) => !FieldSet.isEmpty(entry.fields))
  ensureObject(object, "metadata")["managedFields"] = owning.map(toJson)
}

const toJson = (entry: Entry): Json => ({
  manager: entry.manager,
  operation: entry.operation,
  apiVersion: entry.apiVersion,
  time: entry.time,
  fieldsType: "FieldsV1",
  fieldsV1: entry.fields,
  ...(entry.subresource === "" ? {} : { subresource: entry.subresource })
})

/** The entry with other fields. */
export const owning = (entry: Entry, fields: FieldSet.FieldSet): Entry => ({ ...entry, fields })

export const same = (a: Manager, b: Manager): boolean =>
  a.manager === b.manager && a.operation === b.operation && a.subresource === b.subresource

/** Fields of metadata that belong to the server, and what identifies the object: nobody owns them. */
const unowned: ReadonlyArray<string> = [
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink"
]

/** The object as far as it can be owned. */
export const ownable = (object: JsonObject): JsonObject => {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = object
  const kept = isObject(metadata) ? { ...metadata } : {}
  for (const key of unowned) delete kept[key]
  return Object.keys(kept).length === 0 ? rest : { metadata: kept, ...rest }
}

/** Adjusts the entries to an ordinary write: what it changed is the writer's now, what it removed is nobody's. */
export const trackUpdate = (
  next: JsonObject,
  before: JsonObject,
  writer: Manager,
  time: string,
  shape: Shape
): void => {
  const entries = read(next)
  if (entries.length === 0) return
  const old = ownable(before)
  const now = ownable(next)
  const changed = FieldSet.changed(old, now, shape) ?? {}
  const removed = FieldSet.difference(FieldSet.of(old, shape), FieldSet.of(now, shape))
  if (FieldSet.isEmpty(changed) && FieldSet.isEmpty(removed)) return
  const gone = FieldSet.union(changed, removed)
  const others = entries
    .filter((entry) => !same(entry, writer))
    .map((entry) => owning(entry, FieldSet.difference(entry.fields, gone)))
  const own = entries.find((entry) => same(entry, writer))
  const fields = FieldSet.difference(FieldSet.union(own?.fields ?? {}, changed), removed)
  const unchanged = own !== undefined && equal(own.fields, fields)
  write(next, [...others, { ...writer, time: unchanged ? own.time : time, fields }])
}
