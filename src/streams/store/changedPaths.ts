/** Which fields differ between two versions of an object, as the paths that a reader would name. Names only, never values. */
import { equal } from "../../kube/equality.ts"
import type { KubeObject } from "../../kube/Meta.ts"

/** The most paths; the last one then says how many more there are. */
export const mostPaths = 8

/** Fields that every write changes. */
const always: ReadonlySet<string> = new Set(["resourceVersion", "managedFields", "generation"])

/** Fields whose parts are looked at: `status.conditions`, not `status`. */
const opened: ReadonlySet<string> = new Set(["metadata", "spec", "status"])

/** Sorted as in the objects: `["metadata.labels", "status.conditions"]`. Empty when only bookkeeping fields of the metadata differ. */
export const changedPaths = (previous: KubeObject, object: KubeObject): ReadonlyArray<string> => {
  const paths = differing(previous, object).flatMap((field) => {
    const [before, after] = [valueOf(previous, field), valueOf(object, field)]
    if (!opened.has(field) || !isMap(before) || !isMap(after)) return [field]
    const inner = differing(before, after).filter((name) => field !== "metadata" || !always.has(name))
    return inner.map((name) => `${field}.${name}`)
  })
  return paths.length <= mostPaths ? paths : [...paths.slice(0, mostPaths - 1), `${paths.length - mostPaths + 1} more`]
}

const differing = (before: object, after: object): ReadonlyArray<string> =>
  Array.from(new Set([...Object.keys(before), ...Object.keys(after)])).filter(
    (name) => !equal(valueOf(before, name), valueOf(after, name))
  )

const valueOf = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined

const isMap = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value)
