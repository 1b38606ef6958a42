/**
 * The selectors of owners, as the workload loops use them. One that selects nothing is none. One that selects everything is none either, except for
 * Jobs: no server stores such an owner of another kind, and what it would do to the pods of others is too much to risk.
 */
import * as Result from "effect/Result"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Selector from "../../../kube/Selector.ts"

/** Undefined for an absent, an empty and an unreadable selector. */
export const usable = (spec: Selector.LabelSelectorSpec | undefined): Selector.LabelSelector | undefined => {
  const selector = readable(spec)
  return selector?.length === 0 ? undefined : selector
}

/** Undefined for an absent and an unreadable selector; an empty one selects everything, as a Job may ask for with `manualSelector`. */
export const readable = (spec: Selector.LabelSelectorSpec | undefined): Selector.LabelSelector | undefined => {
  if (spec === undefined) return undefined
  const selector = Selector.fromSpec(spec)
  return Result.isSuccess(selector) ? selector.success : undefined
}

/** Reads the selector of an object once: cached objects do not change. */
export const memoised = <O extends KubeObject>(
  selectorOf: (owner: O) => Selector.LabelSelector | undefined
): ((owner: O) => Selector.LabelSelector | undefined) => {
  const known = new WeakMap<O, Selector.LabelSelector | null>()
  return (owner) => {
    let selector = known.get(owner)
    if (selector === undefined) {
      selector = selectorOf(owner) ?? null
      known.set(owner, selector)
    }
    return selector ?? undefined
  }
}
