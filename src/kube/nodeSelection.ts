/**
 * Which nodes a pod asks for: its node selector and its node affinity. Total functions of the pod's spec and the node; a term that is
 * malformed matches nothing. Source: component-helpers scheduling/corev1/nodeaffinity.
 */
import type { Node, Pod } from "./resources.ts"
import * as Selector from "./Selector.ts"

type Spec = NonNullable<Pod["spec"]>
type Term = NonNullable<
  NonNullable<NonNullable<Spec["affinity"]>["nodeAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]
>["nodeSelectorTerms"][number]
type Expressions = Term["matchExpressions"]

const operators = new Set<string>(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
const isOperator = (text: string): text is Selector.Operator => operators.has(text)

const matches = (expressions: Expressions, labels: Readonly<Record<string, string>> | undefined): boolean =>
  (expressions ?? []).every(
    ({ key, operator, values }) =>
      isOperator(operator) && Selector.matchesLabels([{ key, operator, values: values ?? [] }], labels)
  )

/** A term without requirements matches nothing. */
const matchesTerm = ({ matchExpressions = [], matchFields = [] }: Term, node: Node): boolean =>
  matchExpressions.length + matchFields.length > 0 &&
  matches(matchExpressions, node.metadata.labels) &&
  matches(matchFields, { "metadata.name": node.metadata.name })

/** The pod's node selector and the required part of its node affinity. */
export const isWanted = (spec: Pod["spec"], node: Node): boolean => {
  const labels = node.metadata.labels ?? {}
  for (const [key, value] of Object.entries(spec?.nodeSelector ?? {}))
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node))
}

/** The sum of the weights of the preferred terms that match; an empty term matches everything. */
export const preference = (spec: Pod["spec"], node: Node): number => {
  let sum = 0
  for (const one of spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    const { matchExpressions = [], matchFields = [] } = one.preference
    const isEmpty = matchExpressions.length + matchFields.length === 0
    if (isEmpty || matchesTerm(one.preference, node)) sum += one.weight
  }
  return sum
}
