/**
 * Who owns which field: the entries of `metadata.managedFields`, and how they change with each write. An object is stored
 * without them; they are kept beside it, their field sets shared between objects of the same form, and become text again
 * when the object is read. Source: apimachinery util/managedfields.
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

/** A field set with its text; equal ones are mostly the same object. */
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
 * Field sets by their text. Objects made by one program have the same few forms, so that a hundred thousand of them share
 * their sets; when there are too many forms the table starts anew and sharing with it.
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

/** The text last made: an answer and a watch's line follow each other, and what is made in one burst has the same owners. */
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

/** Names that need no escapes, which are nearly all, are quoted as they are. */
const quoted = (text: string): string => (/^[\w ./:-]*$/.test(text) ? `"${text}"` : JSON.stringify(text))

/**
 * What a client sent as managedFields: nothing, the wish to reset them, or entries. Mostly it sends back what it has read:
 * those are the live ones again.
 */
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

/** Entries are told apart by these; appliers of another version of the API are the same. */
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
      return other !== undefined && same(one, other) && one.time === other.time && one.fields === other.fields
    }))

/** The entry with other fields; undefined when it owns nothing any more. */
export const owning = (entry: Entry, tree: FieldSet.FieldSet): Entry | undefined =>
  FieldSet.isEmpty(tree) ? undefined : { ...entry, fields: share(tree) }

/** A new entry; undefined when it owns nothing. */
export const entry = (manager: Manager, time: string, tree: FieldSet.FieldSet): Entry | undefined =>
  FieldSet.isEmpty(tree) ? undefined : { ...manager, time, fields: share(tree) }

/** Entries as they are stored: appliers first, then by time, the oldest updates merged when there are too many. */
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

/** More updaters than this are not told apart: the oldest become one. */
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

/** The owners after an ordinary write: what it changed is the writer's now, what it removed is nobody's. */
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

/** Takes fields from a set, which stays the same object when it has none of them. */
const lessen = (tree: FieldSet.FieldSet, taken: FieldSet.FieldSet): FieldSet.FieldSet =>
  FieldSet.overlaps(tree, taken) ? FieldSet.difference(tree, taken) : tree

export const without = (one: Entry, changed: FieldSet.FieldSet, removed: FieldSet.FieldSet): Entry | undefined => {
  const left = lessen(lessen(one.fields.tree, changed), removed)
  return left === one.fields.tree ? one : owning(one, left)
}

/** The owner of a new object: whoever made it owns all that can be owned. */
export const created = (tree: FieldSet.FieldSet, writer: Manager, time: string): Owners =>
  settled([entry(writer, time, tree)])

interface Form {
  readonly object: JsonObject
  readonly fields: Fields | undefined
  /** The owners of the last object of this form: the next one may well have the same. */
  owners: Owners
}

/** The last few forms of new objects, by what they were made of: programs make objects of the same form again and again. */
const forms = new WeakMap<Shape, Array<Form>>()
const maxForms = 4

/** As `created` with all fields of an object, which is looked at but not kept: `skip` as there. */
export const createdBy = (
  object: JsonObject,
  shape: Shape,
  skip: ReadonlyArray<string>,
  writer: Manager,
  time: string
): Owners => {
  const known = forms.get(shape) ?? []
  const index = known.findIndex((form) => fields.sameForm(form.object, object, shape))
  const form = known[index] ?? formOf(object, shape, skip)
  if (index > 0) known.splice(index, 1)
  if (index !== 0) known.unshift(form)
  if (known.length > maxForms) known.pop()
  forms.set(shape, known)
  if (form.fields === undefined) return none
  const last = form.owners[0]
  if (last?.time !== time || !same(last, writer)) form.owners = [{ ...writer, time, fields: form.fields }]
  return form.owners
}

/** A form is kept as a copy: the object goes on to be changed. */
const formOf = (object: JsonObject, shape: Shape, skip: ReadonlyArray<string>): Form => {
  const tree = fields.all(object, shape, skip)
  return { object: clone(object), fields: FieldSet.isEmpty(tree) ? undefined : share(tree), owners: none }
}
