/**
 * Whether a node is suitable for a pod, whatever else runs there: cordons, taints and tolerations, node selectors and node affinity. Each
 * rule is a total function of pod and node. Source: component-helpers scheduling/corev1.
 */
import * as NodeSelection from "../../kube/nodeSelection.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import * as Taints from "../../kube/taints.ts"

const readiness = (node: Node): string | undefined =>
  node.status?.conditions?.find(({ type }) => type === "Ready")?.status

/**
 * The node's taints, with the one that the node lifecycle controller sets on a node that is not ready: no pod is placed on such a node even
 * if that controller does not run.
 */
const taintsOf = (node: Node): ReadonlyArray<Taints.Taint> => {
  const taints: ReadonlyArray<Taints.Taint> = node.spec?.taints ?? []
  const ready = readiness(node)
  if (ready === "True") return taints
  const key = ready === "Unknown" ? "node.kubernetes.io/unreachable" : "node.kubernetes.io/not-ready"
  return taints.some((taint) => taint.key === key) ? taints : [...taints, { key, effect: "NoSchedule" }]
}

/** The first taint with one of these effects that the pod does not tolerate. */
export const untolerated = (pod: Pod, node: Node, effects: ReadonlyArray<string>): Taints.Taint | undefined =>
  Taints.untolerated(pod.spec?.tolerations, taintsOf(node), effects)

/** The number of PreferNoSchedule taints that the pod does not tolerate. */
export const untoleratedPreferNoSchedule = (pod: Pod, node: Node): number =>
  taintsOf(node).filter(
    (taint) => taint.effect === "PreferNoSchedule" && !Taints.isTolerated(pod.spec?.tolerations, taint)
  ).length

const cordon: Taints.Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }

export const isWanted = (pod: Pod, node: Node): boolean => NodeSelection.isWanted(pod.spec, node)

export const preference = (pod: Pod, node: Node): number => NodeSelection.preference(pod.spec, node)

/** Why the node is not suitable, with the reference scheduler's message; undefined if it is. */
export const obstacle = (pod: Pod, node: Node): string | undefined => {
  if (node.spec?.unschedulable === true && !Taints.isTolerated(pod.spec?.tolerations, cordon))
    return "node(s) were unschedulable"
  // The node lifecycle controller also sets a taint for a cordon; it is reported once.
  const taint = untolerated(pod, node, ["NoSchedule", "NoExecute"])
  if (taint !== undefined) return `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`
  return isWanted(pod, node) ? undefined : "node(s) didn't match Pod's node affinity/selector"
}
