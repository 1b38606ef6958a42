/** Texts that users know from kube-controller-manager, as it spells them. Source: the Go types' own text. */
import type { Selector } from "./spec.ts"

/** A selector inside a sentence: `nil`, `&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}`. */
export const selector = (given: Selector | undefined): string => {
  if (given === undefined) return "nil"
  const { matchExpressions = [], matchLabels = {} } = given
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key] ?? ""},`)
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`
}
