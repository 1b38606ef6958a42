/** Which fields differ between two versions of an object, as the paths that a reader would name. Names only, never values. */
import type { KubeObject } from "../../kube/Meta.ts"
import { excerpt } from "../../kube/printable.ts"

/** The most paths; the last one then says how many more there are. */
export const mostPaths = 8

/** The most characters of a name, because the names of some fields of custom resources are chosen by users. */
const longest = 100

/** Objects that are nested deeper than this are not compared: the API server accepts more levels than the stack has room for. */
const deepest = 200

/** Fields that every write changes. */
const always: ReadonlySet<string> = new Set(["resourceVersion", "managedFields", "generation"])

/** Fields whose parts are looked at: `status.conditions`, not `status`. */
const opened: ReadonlySet<string> = new Set(["metadata", "spec", "status"])

/** In the order of the objects: `["metadata.labels", "status.conditions"]`. Empty when only bookkeeping fields of the metadata differ. */
export const changedPaths = (previous: KubeObject, object: KubeObject): ReadonlyArray<string> => {
  const paths: Array<string> = []
  const before = previous as unknown as Fields
  const after = object as unknown as Fields
  each(before, after, (field) => {
    const [was, is] = [before[field], after[field]]
    if (!opened.has(field) || !isMap(was) || !isMap(is)) {
      if (!same(was, is)) paths.push(short(field))
      return
    }
    each(was, is, (name) => {
      if (field === "metadata" && always.has(name)) return
      if (!same(was[name], is[name])) paths.push(`${field}.${short(name)}`)
    })
  })
  return paths.length <= mostPaths ? paths : [...paths.slice(0, mostPaths - 1), `${paths.length - mostPaths + 1} more`]
}

type Fields = Readonly<Record<string, unknown>>

/** Calls with each name of a field of either. */
const each = (before: Fields, after: Fields, use: (name: string) => void): void => {
  for (const name of Object.keys(before)) use(name)
  for (const name of Object.keys(after)) if (!Object.hasOwn(before, name)) use(name)
}

const short = (name: string): string => (name.length <= longest ? name : excerpt(name, longest))

/** Objects are compared as the JSON that they are; most fields are texts and numbers, or unchanged ones. */
const same = (a: unknown, b: unknown, depth = 0): boolean => {
  if (a === b) return true
  if (depth > deepest) return false
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((one, i) => same(one, b[i], depth + 1))
  if (Array.isArray(b)) return false
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => Object.hasOwn(b, name) && same((a as Fields)[name], (b as Fields)[name], depth + 1))
}

const isMap = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value)
