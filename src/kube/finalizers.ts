/**
 * The finalizers of an object as a list of names: while it is not empty, a deletion only marks the object. These are the lists alone; when
 * a name may be added and removed is what `finalize` of the controllers knows.
 */
import type { KubeObject } from "./Meta.ts"

const none: ReadonlyArray<string> = []

/** The finalizers of an object, in order; none where it has no list. */
export const of = (object: KubeObject): ReadonlyArray<string> => object.metadata.finalizers ?? none

/** Whether that finalizer holds the object. */
export const has = (object: KubeObject, name: string): boolean => of(object).includes(name)

/** The names with those that are missing at the end, each once. The very same list if none is missing. */
export const add = (names: ReadonlyArray<string>, ...more: ReadonlyArray<string>): ReadonlyArray<string> => {
  const missing = more.filter((name, index) => !names.includes(name) && more.indexOf(name) === index)
  return missing.length === 0 ? names : [...names, ...missing]
}

/** The names without that one, others in their order. The very same list if it is not there. */
export const remove = (names: ReadonlyArray<string>, name: string): ReadonlyArray<string> =>
  names.includes(name) ? names.filter((other) => other !== name) : names

/** Whether a deletion was asked for: what is left is to finalize it. */
export const isDeleting = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined
