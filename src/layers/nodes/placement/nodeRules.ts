/**
 * Whether a node will do for a pod, whatever else runs there: cordons, taints and tolerations, node selectors and node
 * affinity. Each rule is a total function of pod and node; what cannot be understood matches nothing. Source:
 * component-helpers scheduling/corev1 and its nodeaffinity.
 */
import type { Node, Pod } from "../../../kube/resources.ts"
import * as Selector from "../../../kube/Selector.ts"

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

type Spec = NonNullable<Pod["spec"]>
type Toleration = NonNullable<Spec["tolerations"]>[number]
type Term = NonNullable<
  NonNullable<NonNullable<Spec["affinity"]>["nodeAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]
>["nodeSelectorTerms"][number]
type Expressions = Term["matchExpressions"]

const tolerates = (toleration: Toleration, taint: Taint): boolean =>
  (toleration.effect === undefined || toleration.effect === "" || toleration.effect === taint.effect) &&
  (toleration.key === undefined || toleration.key === ""
    ? toleration.operator === "Exists"
    : toleration.key === taint.key) &&
  (toleration.operator === "Exists" || (toleration.value ?? "") === (taint.value ?? ""))

const isTolerated = (pod: Pod, taint: Taint): boolean =>
  (pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint))

const readiness = (node: Node): string | undefined =>
  node.status?.conditions?.find(({ type }) => type === "Ready")?.status

/**
 * The node's taints, and the one that a node controller gives to a node that is not ready: whether or not such a controller
 * runs, nothing is put on a node that does not answer.
 */
const taintsOf = (node: Node): ReadonlyArray<Taint> => {
  const taints: ReadonlyArray<Taint> = node.spec?.taints ?? []
  const ready = readiness(node)
  if (ready === "True") return taints
  const key = ready === "Unknown" ? "node.kubernetes.io/unreachable" : "node.kubernetes.io/not-ready"
  return taints.some((taint) => taint.key === key) ? taints : [...taints, { key, effect: "NoSchedule" }]
}

/** The first taint with one of these effects that the pod does not tolerate. */
export const untolerated = (pod: Pod, node: Node, effects: ReadonlyArray<string>): Taint | undefined =>
  taintsOf(node).find((taint) => effects.includes(taint.effect) && !isTolerated(pod, taint))

/** How many taints would rather not have the pod. */
export const dislikes = (pod: Pod, node: Node): number =>
  taintsOf(node).filter((taint) => taint.effect === "PreferNoSchedule" && !isTolerated(pod, taint)).length

const cordon: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }

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
export const isWanted = (pod: Pod, node: Node): boolean => {
  const labels = node.metadata.labels ?? {}
  for (const [key, value] of Object.entries(pod.spec?.nodeSelector ?? {}))
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node))
}

/** The sum of the weights of the preferred terms that match; an empty term matches everything. */
export const preference = (pod: Pod, node: Node): number => {
  let sum = 0
  for (const one of pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    const { matchExpressions = [], matchFields = [] } = one.preference
    const isEmpty = matchExpressions.length + matchFields.length === 0
    if (isEmpty || matchesTerm(one.preference, node)) sum += one.weight
  }
  return sum
}

/** Why the node will not do, in the reference scheduler's words; undefined if it will. */
export const obstacle = (pod: Pod, node: Node): string | undefined => {
  if (node.spec?.unschedulable === true && !isTolerated(pod, cordon)) return "node(s) were unschedulable"
  // A cordon is also a taint where a node controller runs; it is told once.
  const taint = untolerated(pod, node, ["NoSchedule", "NoExecute"])
  if (taint !== undefined) return `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`
  return isWanted(pod, node) ? undefined : "node(s) didn't match Pod's node affinity/selector"
}
