/**
 * Whether a node will do for a pod, whatever else runs there: cordons, taints and tolerations, node selectors and node
 * affinity. Each rule is a total function of pod and node. Source: component-helpers scheduling/corev1.
 */
import * as NodeSelection from "../../kube/nodeSelection.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import * as Taints from "../../kube/taints.ts"

const readiness = (node: Node): string | undefined =>
  node.status?.conditions?.find(({ type }) => type === "Ready")?.status

/**
 * The node's taints, and the one that a node controller gives to a node that is not ready: whether or not such a controller
 * runs, nothing is put on a node that does not answer.
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

/** How many taints would rather not have the pod. */
export const dislikes = (pod: Pod, node: Node): number =>
  taintsOf(node).filter(
    (taint) => taint.effect === "PreferNoSchedule" && !Taints.isTolerated(pod.spec?.tolerations, taint)
  ).length

const cordon: Taints.Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }

export const isWanted = (pod: Pod, node: Node): boolean => NodeSelection.isWanted(pod.spec, node)

export const preference = (pod: Pod, node: Node): number => NodeSelection.preference(pod.spec, node)

/** Why the node will not do, in the reference scheduler's words; undefined if it will. */
export const obstacle = (pod: Pod, node: Node): string | undefined => {
  if (node.spec?.unschedulable === true && !Taints.isTolerated(pod.spec?.tolerations, cordon))
    return "node(s) were unschedulable"
  // A cordon is also a taint where a node controller runs; it is reported once.
  const taint = untolerated(pod, node, ["NoSchedule", "NoExecute"])
  if (taint !== undefined) return `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`
  return isWanted(pod, node) ? undefined : "node(s) didn't match Pod's node affinity/selector"
}
