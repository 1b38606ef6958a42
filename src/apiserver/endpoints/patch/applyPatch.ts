/**
 * Server-side apply: the applied configuration is the whole intent of its manager. Merges it into the live object, finds conflicts with
 * other managers, removes fields that the manager no longer sends and that no other manager owns, and updates the managed fields. Pure:
 * returns a new object. Source: structured-merge-diff: merge.Updater.
 */
import { at, clone, get, isObject, set } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as StatusError from "../../StatusError.ts"
import * as Shape from "../../scheme/Shape.ts"
import * as fields from "../../storage/fields.ts"
import * as FieldSet from "../../storage/FieldSet.ts"
import * as managed from "../../storage/managedFields.ts"

export interface Options {
  readonly manager: managed.Manager
  readonly force: boolean
  /** Fields that may change although another manager owns them. Default: none. */
  readonly allowed?: FieldSet.FieldSet | undefined
  /** Timestamp for changed entries. */
  readonly time: string
  readonly shape: Shape.Shape
  /** Brings a merged object to its stored form, in place: empty values are compared, but may not be stored. */
  readonly settle: (object: JsonObject) => void
}

export interface Live {
  readonly object: JsonObject
  readonly owners: managed.Owners
}

/** `live` is undefined when the object does not exist yet. */
export const apply = (live: Live | undefined, config: JsonObject, options: Options): Live | StatusError.StatusError => {
  const { manager, settle, shape, time } = options
  if ((at(config, "metadata", "managedFields") ?? null) !== null) {
    return StatusError.badRequest("metadata.managedFields must be nil")
  }
  const before = live?.object ?? {}
  const wanted = fields.applied(fields.ownable(config), shape)
  const owners = live === undefined ? managed.none : ownersOf(live, options)
  const previous = owners.find((entry) => managed.same(entry, manager))
  const others = owners.filter((entry) => entry !== previous)
  const merged = mergeMembers(before, config, shape)
  if (StatusError.isRefusal(merged)) return merged
  const object = previous === undefined ? merged : pruned(merged, previous.fields.tree, wanted, others, shape)
  const difference = fields.between(before, object, shape)
  const kept = difference === undefined ? others : settleConflicts(others, difference, options)
  if (StatusError.isRefusal(kept)) return kept
  const own = managed.entry(manager, time, wanted)
  settle(object)
  const same = difference === undefined || fields.between(before, object, shape) === undefined
  const unchanged =
    same && previous !== undefined && own !== undefined && managed.equalFields(previous.fields, own.fields)
  return { object, owners: managed.settled([...kept, unchanged ? previous : own]) }
}

/** The managed fields of an object without any: all of its fields belong to one manager. */
const ownersOf = ({ object, owners }: Live, { manager, shape, time }: Options): managed.Owners => {
  if (owners.length > 0) return owners
  const before = { ...manager, manager: "before-first-apply", operation: "Update", subresource: "" } as const
  return managed.created(fields.all(object, shape), before, time)
}

/**
 * Objects merge by member, keyed lists by element, sets by value; everything else is replaced. Null removes a value, except one that
 * merges.
 */
const merge = (
  live: Json | undefined,
  config: Json,
  shape: Shape.Shape | undefined
): Json | StatusError.StatusError => {
  if (live === undefined || shape?.atomic === true) return clone(config)
  if (config === null) return fields.isWhole(live, shape) ? null : live
  if (isObject(live) && isObject(config)) return mergeMembers(live, config, shape)
  if (Array.isArray(live) && Array.isArray(config)) {
    if (shape?.set === true) return [...live, ...config.filter((one) => !live.includes(one))]
    if (fields.isAssociative(shape)) return mergeElements(live, config, shape)
  }
  return clone(config)
}

const mergeMembers = (
  live: JsonObject,
  config: JsonObject,
  shape: Shape.Shape | undefined
): JsonObject | StatusError.StatusError => {
  const out: JsonObject = { ...live }
  for (const key of Object.keys(config)) {
    const merged = merge(get(live, key), config[key] ?? null, Shape.field(shape, key))
    if (StatusError.isRefusal(merged)) return merged
    set(out, key, merged)
  }
  return out
}

const mergeElements = (
  live: Array<Json>,
  config: Array<Json>,
  shape: Shape.Shape
): Array<Json> | StatusError.StatusError => {
  const out = [...live]
  const inner = fields.elementShape(shape)
  for (const element of config) {
    const key = fields.elementKey(element, shape)
    if (key === undefined) {
      return StatusError.badRequest(
        `associative list without keys has an element that's a map type: ${JSON.stringify(element)}`
      )
    }
    const index = out.findIndex((one) => fields.elementKey(one, shape) === key)
    const merged = index === -1 ? clone(element) : merge(out[index], element, inner)
    if (StatusError.isRefusal(merged)) return merged
    if (index === -1) out.push(merged)
    else out[index] = merged
  }
  return out
}

/** Removes the fields that this manager no longer sends and that no other manager owns. */
const pruned = (
  merged: JsonObject,
  previous: FieldSet.FieldSet,
  wanted: FieldSet.FieldSet,
  others: ReadonlyArray<managed.Entry>,
  shape: Shape.Shape
): JsonObject => {
  if (FieldSet.contains(wanted, previous)) return merged
  const owned = others.reduce((all, entry) => FieldSet.union(all, entry.fields.tree), wanted)
  const kept = fields.pruned(merged, previous, owned, shape)
  return isObject(kept) ? kept : {}
}

interface Conflict {
  readonly entry: managed.Entry
  readonly fields: FieldSet.FieldSet
}

/** The entries of other managers after the apply; a refusal when it would change their fields, unless forced. */
const settleConflicts = (
  others: ReadonlyArray<managed.Entry>,
  { changed, removed }: fields.Difference,
  { allowed = FieldSet.empty, force }: Pick<Options, "allowed" | "force">
): ReadonlyArray<managed.Entry | undefined> | StatusError.StatusError => {
  const conflicts: Array<Conflict> = others.flatMap((entry) => {
    const common = FieldSet.difference(FieldSet.intersection(entry.fields.tree, changed), allowed)
    return FieldSet.isEmpty(common) ? [] : [{ entry, fields: common }]
  })
  if (conflicts.length > 0 && !force) return conflicting(conflicts)
  return others.map((entry) => managed.without(entry, changed, removed))
}

const describe = (entry: managed.Entry): string => {
  const subresource = entry.subresource === "" ? "" : ` with subresource ${JSON.stringify(entry.subresource)}`
  const version = entry.operation === "Update" ? ` using ${entry.apiVersion}` : ""
  return `${JSON.stringify(entry.manager)}${subresource}${version}`
}

const conflicting = (conflicts: ReadonlyArray<Conflict>): StatusError.StatusError => {
  const flat = conflicts.flatMap((conflict) =>
    FieldSet.paths(conflict.fields).map((path) => ({ who: describe(conflict.entry), path }))
  )
  const causes = flat.map(({ path, who }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${who}`,
    field: path
  }))
  const first = flat[0]
  if (flat.length === 1 && first !== undefined) {
    return StatusError.applyConflict(`Apply failed with 1 conflict: conflict with ${first.who}: ${first.path}`, causes)
  }
  const lines = [...new Set(flat.map(({ who }) => who))]
    .sort()
    .flatMap((who) =>
      [`conflicts with ${who}:`].concat(flat.filter((one) => one.who === who).map(({ path }) => `- ${path}`))
    )
  return StatusError.applyConflict(`Apply failed with ${flat.length} conflicts: ${lines.join("\n")}`, causes)
}
