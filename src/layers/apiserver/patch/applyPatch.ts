/**
 * Server-side apply: the fields a manager sends are what it wants, and all it wants. Merges them into the live object,
 * finds conflicts with other owners, removes what the manager no longer sends and nobody else owns, and records the
 * ownership. Pure: returns a new object. Source: structured-merge-diff merge.Updater and the apply rules of the API.
 */
import { at, clone, equal, get, isObject, set } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as Refusal from "../Refusal.ts"
import * as Shape from "../schema/Shape.ts"
import * as FieldSet from "./FieldSet.ts"
import * as managed from "./managedFields.ts"

export interface Options {
  readonly manager: managed.Manager
  readonly force: boolean
  /** Timestamp for entries that change. */
  readonly time: string
  readonly shape: Shape.Shape
}

/** `live` is undefined when the object does not exist yet. */
export const apply = (live: JsonObject | undefined, config: JsonObject, options: Options): JsonObject => {
  const { manager, shape, time } = options
  if (at(config, "metadata", "managedFields") !== undefined) {
    throw Refusal.badRequest("metadata.managedFields must be nil")
  }
  const wanted = FieldSet.of(managed.ownable(config), shape)
  const entries = live === undefined ? [] : entriesOf(live, options)
  const previous = entries.find((entry) => managed.same(entry, manager))
  const others = entries.filter((entry) => !managed.same(entry, manager))
  const merged = live === undefined ? clone(config) : (merge(live, config, shape) as JsonObject)
  const changed = FieldSet.changed(managed.ownable(live ?? {}), managed.ownable(merged), shape) ?? {}
  const kept = settleConflicts(others, changed, options.force)
  const pruned = prune(merged, previous?.fields ?? {}, wanted, kept, shape)
  const unchanged = previous !== undefined && equal(previous.fields, wanted)
  managed.write(pruned, [...kept, { ...manager, time: unchanged ? previous.time : time, fields: wanted }])
  return pruned
}

/** Entries of an object nobody has applied to yet: all of it is credited to one manager. */
const entriesOf = (live: JsonObject, options: Options): ReadonlyArray<managed.Entry> => {
  const entries = managed.read(live)
  if (entries.length > 0) return entries
  const fields = FieldSet.of(managed.ownable(live), options.shape)
  const { apiVersion } = options.manager
  return [
    { manager: "before-first-apply", operation: "Update", apiVersion, subresource: "", time: options.time, fields }
  ]
}

/** Objects merge by member, keyed lists by element, sets by value; everything else is replaced. */
const merge = (live: Json | undefined, config: Json, shape: Shape.Shape | undefined): Json => {
  if (live === undefined || shape?.atomic === true) return clone(config)
  if (isObject(live) && isObject(config)) {
    const out: JsonObject = { ...live }
    for (const key of Object.keys(config)) {
      set(out, key, merge(get(live, key), config[key] ?? null, Shape.field(shape, key)))
    }
    return out
  }
  if (Array.isArray(live) && Array.isArray(config)) {
    if (shape?.set === true) return [...live, ...config.filter((one) => !live.includes(one))]
    if (FieldSet.isAssociative(shape)) return mergeElements(live, config, shape)
  }
  return clone(config)
}

const mergeElements = (live: Array<Json>, config: Array<Json>, shape: Shape.Shape): Array<Json> => {
  const out = [...live]
  const inner: Shape.Shape = shape.fields === undefined ? {} : { fields: shape.fields }
  for (const element of config) {
    const key = FieldSet.elementKey(element, shape)
    if (key === undefined) {
      throw Refusal.badRequest(
        `associative list without keys has an element that's a map type: ${JSON.stringify(element)}`
      )
    }
    const index = out.findIndex((one) => FieldSet.elementKey(one, shape) === key)
    if (index === -1) out.push(clone(element))
    else out[index] = merge(out[index], element, inner)
  }
  return out
}

interface Conflict {
  readonly entry: managed.Entry
  readonly fields: FieldSet.FieldSet
}

/** The others' entries after the apply; refuses when it would change what they own, unless it may take it. */
const settleConflicts = (
  others: ReadonlyArray<managed.Entry>,
  changed: FieldSet.FieldSet,
  force: boolean
): ReadonlyArray<managed.Entry> => {
  const conflicts: Array<Conflict> = []
  const kept = others.map((entry) => {
    const fields = FieldSet.intersection(entry.fields, changed)
    if (FieldSet.isEmpty(fields)) return entry
    conflicts.push({ entry, fields })
    return managed.owning(entry, FieldSet.difference(entry.fields, fields))
  })
  if (conflicts.length > 0 && !force) throw refuse(conflicts)
  return kept
}

const describe = (entry: managed.Entry): string => {
  const subresource = entry.subresource === "" ? "" : ` with subresource ${JSON.stringify(entry.subresource)}`
  const when = entry.operation === "Update" ? ` using ${entry.apiVersion} at ${entry.time}` : ""
  return `${JSON.stringify(entry.manager)}${subresource}${when}`
}

const refuse = (conflicts: ReadonlyArray<Conflict>): Refusal.Refusal => {
  const flat = conflicts.flatMap(({ entry, fields }) =>
    FieldSet.paths(fields).map((path) => ({ who: describe(entry), path }))
  )
  const causes = flat.map(({ path, who }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${who}`,
    field: path
  }))
  const first = flat[0]
  if (flat.length === 1 && first !== undefined) {
    return Refusal.applyConflict(`Apply failed with 1 conflict: conflict with ${first.who}: ${first.path}`, causes)
  }
  const lines = [...new Set(flat.map(({ who }) => who))]
    .sort()
    .flatMap((who) =>
      [`conflicts with ${who}:`].concat(flat.filter((one) => one.who === who).map(({ path }) => `- ${path}`))
    )
  return Refusal.applyConflict(`Apply failed with ${flat.length} conflicts: ${lines.join("\n")}`, causes)
}

/** Takes out what this manager used to send and no longer does, unless somebody else owns it too. */
const prune = (
  merged: JsonObject,
  previous: FieldSet.FieldSet,
  wanted: FieldSet.FieldSet,
  others: ReadonlyArray<managed.Entry>,
  shape: Shape.Shape
): JsonObject => {
  const dropped = FieldSet.difference(previous, wanted)
  const orphaned = others.reduce((fields, entry) => FieldSet.orphans(fields, entry.fields), dropped)
  if (FieldSet.isEmpty(orphaned)) return merged
  const kept = FieldSet.without(merged, orphaned, shape)
  return isObject(kept) ? kept : {}
}
