/**
 * Managed fields: the entries of `metadata.managedFields`, and how each write changes them. An object is stored without them; they are
 * kept beside it, their field sets shared between objects with the same fields, and encoded when the object is read. Source:
 * apimachinery/pkg/util/managedfields.
 */
import { clone, equal, get, isObject, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { Shape } from "../scheme/Shape.ts"
import * as fields from "./fields.ts"
import type { Difference } from "./fields.ts"
import * as FieldSet from "./FieldSet.ts"

export interface Manager {
  readonly manager: string
  readonly operation: "Apply" | "Update"
  readonly apiVersion: string
  readonly subresource: string
}

/** A field set with its encoding; equal sets are mostly the same object. */
export interface Fields {
  readonly text: string
  readonly tree: FieldSet.FieldSet
}

export interface Entry extends Manager {
  /** Timestamp; empty where a client sent none. */
  readonly time: string
  readonly fields: Fields
}

export type Owners = ReadonlyArray<Entry>

export const none: Owners = []

/**
 * Interns field sets by their text: objects of one program have few different sets, so a hundred thousand of them share theirs. The
 * table is cleared when it is full.
 */
const shared = new Map<string, Fields>()
const maxShared = 4096

const share = (tree: FieldSet.FieldSet): Fields => {
  const text = JSON.stringify(tree)
  const found = shared.get(text)
  if (found !== undefined) return found
  if (shared.size >= maxShared) shared.clear()
  const created = { text, tree }
  shared.set(text, created)
  return created
}

/** Memoizes the last text, because a response and a watch event encode the same entries one after the other. */
let latest = { owners: none, text: "[]" }

/** The value of `metadata.managedFields`, as text. */
export const textOf = (owners: Owners): string => {
  if (latest.owners !== owners) latest = { owners, text: `[${owners.map(entryText).join(",")}]` }
  return latest.text
}

const entryText = ({ apiVersion, fields, manager, operation, subresource, time }: Entry): string => {
  const when = time === "" ? "" : `,"time":${quoted(time)}`
  const where = subresource === "" ? "" : `,"subresource":${quoted(subresource)}`
  return `{"manager":${quoted(manager)},"operation":"${operation}","apiVersion":${quoted(apiVersion)}${when},"fieldsType":"FieldsV1","fieldsV1":${fields.text}${where}}`
}

/** Fast path: nearly all names need no escapes. */
const quoted = (text: string): string => (/^[\w ./:-]*$/.test(text) ? `"${text}"` : JSON.stringify(text))

/** The managedFields that a client sent: none, a reset, or entries. Most clients send back the entries that they have read. */
export const sent = (object: JsonObject, live: Owners): "nothing" | "reset" | Owners => {
  const metadata = objectAt(object, "metadata")
  const list = metadata === undefined ? undefined : get(metadata, "managedFields")
  if (!Array.isArray(list)) return "nothing"
  if (list.length === 0 || (list.length === 1 && isObject(list[0]) && FieldSet.isEmpty(list[0]))) return "reset"
  if (list.length === live.length && list.every((one, index) => isOf(one, live[index]))) return live
  const entries = list.map(decode)
  return entries.every((entry) => entry !== undefined) ? entries : "nothing"
}

const isOf = (sent: Json, live: Entry | undefined): boolean =>
  isObject(sent) &&
  live !== undefined &&
  sent["manager"] === live.manager &&
  sent["operation"] === live.operation &&
  sent["apiVersion"] === live.apiVersion &&
  (sent["time"] ?? "") === live.time &&
  (sent["subresource"] ?? "") === live.subresource &&
  equal(sent["fieldsV1"], live.fields.tree)

const decode = (entry: Json): Entry | undefined => {
  const operation = textAt(entry, "operation")
  const apiVersion = textAt(entry, "apiVersion")
  const tree = objectAt(entry, "fieldsV1")
  if ((operation !== "Apply" && operation !== "Update") || apiVersion === "") return undefined
  if (textAt(entry, "fieldsType") !== "FieldsV1") return undefined
  return {
    manager: textAt(entry, "manager"),
    operation,
    apiVersion,
    subresource: textAt(entry, "subresource"),
    time: textAt(entry, "time"),
    fields: share(tree ?? {})
  }
}

/** Whether two entries are of the same manager; for appliers, the API version does not matter. */
export const same = (a: Manager, b: Manager): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === "Apply" || a.apiVersion === b.apiVersion)

export const equalOwners = (a: Owners, b: Owners): boolean =>
  a === b ||
  (a.length === b.length &&
    a.every((one, index) => {
      const other = b[index]
      return other !== undefined && same(one, other) && one.time === other.time && equalFields(one.fields, other.fields)
    }))

/** Equal sets may be different objects: the table of shared sets is cleared when it is full, and members may be in another order. */
export const equalFields = (a: Fields, b: Fields): boolean => a === b || equal(a.tree, b.tree)

/** The entry with other fields; undefined when they are empty. */
export const owning = (entry: Entry, tree: FieldSet.FieldSet): Entry | undefined =>
  FieldSet.isEmpty(tree) ? undefined : { ...entry, fields: share(tree) }

/** A new entry; undefined when it has no fields. */
export const entry = (manager: Manager, time: string, tree: FieldSet.FieldSet): Entry | undefined =>
  FieldSet.isEmpty(tree) ? undefined : { ...manager, time, fields: share(tree) }

/** Sorts entries for storage: appliers first, then by time; merges the oldest updaters when there are too many. */
export const settled = (entries: ReadonlyArray<Entry | undefined>): Owners => {
  const kept = entries.filter((one) => one !== undefined)
  if (kept.length < 2) return kept
  return cap(kept.toSorted(order))
}

const order = (a: Entry, b: Entry): number =>
  compareText(a.operation, b.operation) ||
  compareText(a.time, b.time) ||
  compareText(a.manager, b.manager) ||
  compareText(a.apiVersion, b.apiVersion) ||
  compareText(a.subresource, b.subresource)

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Maximum number of updaters: the oldest are merged into one entry. */
const maxUpdaters = 10
const ancient = "ancient-changes"

const cap = (entries: ReadonlyArray<Entry>): Owners => {
  const updates = entries.filter(({ operation }) => operation === "Update")
  const first = updates[0]
  if (updates.length <= maxUpdaters || first === undefined) return entries
  const old = updates.slice(0, updates.length - maxUpdaters + 1)
  const tree = old.reduce((all, one) => FieldSet.union(all, one.fields.tree), FieldSet.empty)
  const merged = { ...first, manager: ancient, subresource: "", time: old.at(-1)?.time ?? "", fields: share(tree) }
  return entries.flatMap((one) => (one === first ? [merged] : old.includes(one) ? [] : [one]))
}

/** The entries after an update: the writer takes the fields that it changed, and removed fields leave all entries. */
export const updated = (owners: Owners, difference: Difference, writer: Manager, time: string): Owners => {
  const { changed, removed } = difference
  const own = owners.find((one) => same(one, writer))
  const others = owners.flatMap((one) => (one === own ? [] : [without(one, changed, removed)]))
  if (own === undefined) return settled([...others, entry(writer, time, changed)])
  const left = lessen(own.fields.tree, removed)
  const tree = left === own.fields.tree && FieldSet.contains(left, changed) ? left : FieldSet.union(left, changed)
  if (tree === own.fields.tree) {
    const moved = FieldSet.isEmpty(changed) || own.time === time ? own : { ...own, time }
    return settled([...others, moved])
  }
  return settled([...others, entry(writer, time, tree)])
}

/** Removes fields from a set; returns the same object when it has none of them. */
const lessen = (tree: FieldSet.FieldSet, taken: FieldSet.FieldSet): FieldSet.FieldSet =>
  FieldSet.overlaps(tree, taken) ? FieldSet.difference(tree, taken) : tree

export const without = (one: Entry, changed: FieldSet.FieldSet, removed: FieldSet.FieldSet): Entry | undefined => {
  const left = lessen(lessen(one.fields.tree, changed), removed)
  return left === one.fields.tree ? one : owning(one, left)
}

/** The entry of a new object: the writer manages all fields. */
export const created = (tree: FieldSet.FieldSet, writer: Manager, time: string): Owners =>
  settled([entry(writer, time, tree)])

interface Form {
  readonly object: JsonObject
  readonly fields: Fields | undefined
  /** The entries of the last object with these fields: those of the next one are often equal. */
  owners: Owners
}

/** The last few field sets of new objects by type: programs create objects with the same fields again and again. */
const forms = new WeakMap<Shape, Array<Form>>()
const maxForms = 4

/** As `created`, with all fields of an object apart from the members `skip`; does not change the object. */
export const createdBy = (
  object: JsonObject,
  shape: Shape,
  skip: ReadonlyArray<string>,
  writer: Manager,
  time: string
): Owners => {
  const known = forms.get(shape) ?? []
  const index = known.findIndex((fieldType) => fields.sameForm(fieldType.object, object, shape))
  const fieldType = known[index] ?? formOf(object, shape, skip)
  if (index > 0) known.splice(index, 1)
  if (index !== 0) known.unshift(fieldType)
  if (known.length > maxForms) known.pop()
  forms.set(shape, known)
  if (fieldType.fields === undefined) return none
  const last = fieldType.owners[0]
  if (last?.time !== time || !same(last, writer)) fieldType.owners = [{ ...writer, time, fields: fieldType.fields }]
  return fieldType.owners
}

/** Keeps a copy, because the object is changed later. */
const formOf = (object: JsonObject, shape: Shape, skip: ReadonlyArray<string>): Form => {
  const tree = fields.all(object, shape, skip)
  return { object: clone(object), fields: FieldSet.isEmpty(tree) ? undefined : share(tree), owners: none }
}
