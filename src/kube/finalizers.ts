/**
 * The finalizers of an object as a list of names: while it is not empty, a deletion only marks the object. Pure functions of lists; the
 * controllers' `finalize` decides when a name is added and removed.
 */
import type { KubeObject } from "./Meta.ts"

const none: ReadonlyArray<string> = []

/** The finalizers of an object, in order; none where it has no list. */
export const of = (object: KubeObject): ReadonlyArray<string> => object.metadata.finalizers ?? none

/** Whether that finalizer holds the object. */
export const has = (object: KubeObject, name: string): boolean => of(object).includes(name)

/** The names, followed by those that are missing, each once. The argument itself if none is missing. */
export const add = (names: ReadonlyArray<string>, ...more: ReadonlyArray<string>): ReadonlyArray<string> => {
  const missing = more.filter((name, index) => !names.includes(name) && more.indexOf(name) === index)
  return missing.length === 0 ? names : [...names, ...missing]
}

/** The names without that one, others in their order. The argument itself if it is not there. */
export const remove = (names: ReadonlyArray<string>, name: string): ReadonlyArray<string> =>
  names.includes(name) ? names.filter((other) => other !== name) : names

/** Whether the object is being deleted, so that its finalizers have to run. */
export const isDeleting = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined
