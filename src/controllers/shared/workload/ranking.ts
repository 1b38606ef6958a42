/**
 * The order in which surplus pods are deleted: pods that have progressed least or cost least first. Eight rules, each used only if the pods are equal
 * by those before it. Ages are compared by their logarithm to base two, and equal ones by uid, so that successive scale-downs do not always delete the
 * youngest. Source: pkg/controller: ActivePodsWithRanks.
 */
import type { Pod } from "../../../kube/resources.ts"
import * as PodFacts from "../../../kube/pod.ts"
import * as Time from "../../../kube/time.ts"

/** On a pod: an int32 as text, the cost of its deletion compared to that of other pods. */
export const deletionCost = "controller.kubernetes.io/pod-deletion-cost"

/** The inputs of the rules, read from the pod once for all comparisons. */
interface Rank {
  readonly pod: Pod
  readonly uid: string
  readonly assigned: boolean
  readonly phase: number
  readonly ready: boolean
  readonly cost: number
  /** Active pods of the same family on the same node. */
  readonly colocated: number
  /** Milliseconds since 1970; undefined if the pod has no such time. */
  readonly readySince: number | undefined
  readonly created: number | undefined
  readonly restarts: number
  readonly sidecarRestarts: number
}

/**
 * The `count` pods to delete, in that order; all pods in their given order if there are no more than `count`. `related`: the pods that count for
 * colocation on a node, including these, in any phase; evaluated only if a pod stays.
 */
export const victims = (
  pods: ReadonlyArray<Pod>,
  count: number,
  related: () => Iterable<Pod>,
  now: number
): ReadonlyArray<Pod> => {
  if (count >= pods.length) return pods
  const colocatedByNode = colocatedByNodeOf(related())
  return pods
    .map((pod) => rankOf(pod, colocatedByNode))
    .sort((a, b) => compare(a, b, now))
    .slice(0, Math.max(0, count))
    .map((rank) => rank.pod)
}

/** The pods of a Job in deletion order: without cost and colocation, and with exact ages. Source: pkg/controller: ActivePods. */
export const byDeletionOrder = (pods: ReadonlyArray<Pod>): ReadonlyArray<Pod> =>
  pods
    .map((pod) => rankOf(pod, new Map()))
    .sort(compareExactly)
    .map((rank) => rank.pod)

const compareExactly = (a: Rank, b: Rank): number =>
  byProgress(a, b) ||
  (a.ready ? youngerFirst(a.readySince, b.readySince) : 0) ||
  byRestarts(a, b) ||
  youngerFirst(a.created, b.created)

/** A pod without the time counts as younger than any other. */
const youngerFirst = (x: number | undefined, y: number | undefined): number =>
  x === y ? 0 : x === undefined ? -1 : y === undefined ? 1 : y - x

const compare = (a: Rank, b: Rank, now: number): number => {
  const difference = byProgress(a, b)
  if (difference !== 0) return difference
  if (a.cost !== b.cost) return a.cost - b.cost
  if (a.colocated !== b.colocated) return b.colocated - a.colocated
  return (
    (a.ready ? byAge(a, b, a.readySince, b.readySince, now) : 0) ||
    byRestarts(a, b) ||
    byAge(a, b, a.created, b.created, now)
  )
}

/** Pods that have progressed less are deleted first. */
const byProgress = (a: Rank, b: Rank): number => {
  if (a.assigned !== b.assigned) return a.assigned ? 1 : -1
  if (a.phase !== b.phase) return a.phase - b.phase
  if (a.ready !== b.ready) return a.ready ? 1 : -1
  return 0
}

const byRestarts = (a: Rank, b: Rank): number => b.restarts - a.restarts || b.sidecarRestarts - a.sidecarRestarts

/** The younger pod first; one without the time counts as younger than any other. */
const byAge = (a: Rank, b: Rank, x: number | undefined, y: number | undefined, now: number): number => {
  if (x === y) return 0
  if (x === undefined || y === undefined) return x === undefined ? -1 : 1
  return magnitude(now - x) - magnitude(now - y) || (a.uid < b.uid ? -1 : 1)
}

/** The logarithm to base two of an age in nanoseconds, rounded down; -1 for a time in the future. */
const magnitude = (millis: number): number => (millis > 0 ? Math.floor(Math.log2(millis * 1e6)) : -1)

/** Active pods by node; those without a node share the empty name. */
const colocatedByNodeOf = (related: Iterable<Pod>): ReadonlyMap<string, number> => {
  const colocatedByNode = new Map<string, number>()
  for (const pod of related) {
    if (!PodFacts.isActive(pod)) continue
    const node = pod.spec?.nodeName ?? ""
    colocatedByNode.set(node, (colocatedByNode.get(node) ?? 0) + 1)
  }
  return colocatedByNode
}

const rankOf = (pod: Pod, colocatedByNode: ReadonlyMap<string, number>): Rank => ({
  pod,
  uid: pod.metadata.uid ?? "",
  assigned: (pod.spec?.nodeName ?? "") !== "",
  phase: phases[pod.status?.phase ?? ""] ?? 0,
  ready: PodFacts.isReady(pod),
  cost: costOf(pod.metadata.annotations?.[deletionCost]),
  colocated: colocatedByNode.get(pod.spec?.nodeName ?? "") ?? 0,
  readySince: PodFacts.readySince(pod),
  created: Time.parse(pod.metadata.creationTimestamp),
  restarts: mostRestarts(pod.status?.containerStatuses),
  sidecarRestarts: mostRestarts(sidecarsOf(pod))
})

/** Any other phase ranks with Pending. */
const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

/** Zero unless the text is an int32 without a plus sign; leading zeros are accepted only after a minus sign. Source: pkg/apis/core/helper: GetDeletionCostFromPodAnnotations. */
const costOf = (text: string | undefined): number => {
  if (text === undefined || !/^(?:0|[1-9]\d*|-\d+)$/.test(text)) return 0
  const cost = Number(text)
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0
}

type ContainerStatuses = NonNullable<Pod["status"]>["containerStatuses"]

const mostRestarts = (statuses: ContainerStatuses): number =>
  statuses === undefined ? 0 : statuses.reduce((most, status) => Math.max(most, status.restartCount), 0)

/** The statuses of the sidecars: init containers with restartPolicy Always. */
const sidecarsOf = (pod: Pod): ContainerStatuses => {
  const names = pod.spec?.initContainers?.flatMap(({ name, restartPolicy }) =>
    restartPolicy === "Always" ? [name] : []
  )
  return names === undefined || names.length === 0
    ? undefined
    : pod.status?.initContainerStatuses?.filter(({ name }) => names.includes(name))
}
