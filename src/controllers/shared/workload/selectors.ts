/**
 * Label selectors of owners in the workload loops. An empty selector is rejected for all kinds but Job: the API server stores no such owner of
 * another kind, and acting on all pods of a namespace is too dangerous.
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

type Labels = Readonly<Record<string, string>> | undefined

/** Whether an owner selects the labels. An owner whose selector is absent or cannot be used selects nothing. */
export const selecting =
  <O>(selectorOf: (owner: O) => Selector.LabelSelector | undefined) =>
  (owner: O, labels: Labels): boolean => {
    const selector = selectorOf(owner)
    return selector !== undefined && Selector.matchesLabels(selector, labels)
  }
