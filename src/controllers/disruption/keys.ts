/**
 * What the keys of the loop name: a budget, or - marked, beside them in one queue - a pod that more than one budget selects, or a pod that was told to
 * go and may have stayed.
 */
import * as Key from "../../kube/Key.ts"
import type { Pod } from "../../kube/resources.ts"

export type Subject =
  | { readonly _tag: "Budget"; readonly key: Key.Key }
  | { readonly _tag: "Shared"; readonly key: Key.Key }
  | { readonly _tag: "Stale"; readonly key: Key.Key }

/** No name has them. */
const marks = { Shared: "#shared", Stale: "#stale" } as const

export const shared = (pod: Pod): Key.Key => Key.of(pod) + marks.Shared

export const stale = (pod: Pod): Key.Key => Key.of(pod) + marks.Stale

export const subjectOf = (key: Key.Key): Subject => {
  const at = key.indexOf("#")
  if (at === -1) return { _tag: "Budget", key }
  return { _tag: key.slice(at) === marks.Stale ? "Stale" : "Shared", key: key.slice(0, at) }
}
