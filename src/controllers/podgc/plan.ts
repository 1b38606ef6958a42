/**
 * Decides which pods are deleted, and which status is written before. A total function of the cached objects and of the nodes known to be gone.
 * Source: pkg/controller/podgc: gc.
 */
import * as Patch from "../../kube/Patch.ts"
import * as PodStatus from "../../kube/pod.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

export type Why =
  /** It has ended, and more pods than the threshold have. */
  | "terminated"
  /** It is being deleted on a node that is not ready and was declared out of service. */
  | "terminating-out-of-service"
  /** Its node is gone. */
  | "orphaned"
  /** It is being deleted and never got a node. */
  | "terminating-unscheduled"

export interface Removal {
  readonly pod: Pod
  readonly why: Why
}

export interface Given {
  readonly pods: ReadonlyArray<Pod>
  /** All that the cache has. */
  readonly nodes: ReadonlyArray<Node>
  /** Names of nodes that the server said do not exist. */
  readonly lost: ReadonlySet<string>
  /** How many pods that have ended are kept; 0 or less keeps all. */
  readonly threshold: number
}

export const nodeOf = (pod: Pod): string => pod.spec?.nodeName ?? ""

/** The nodes that pods are bound to and that are not there. */
export const missingNodes = (pods: ReadonlyArray<Pod>, nodes: ReadonlyArray<Node>): ReadonlySet<string> => {
  const there = new Set(nodes.map((node) => node.metadata.name))
  const missing = new Set<string>()
  for (const pod of pods) {
    const node = nodeOf(pod)
    if (node !== "" && !there.has(node)) missing.add(node)
  }
  return missing
}

/** Each pod at most once, for the first reason in the order of {@link Why}; none for which nothing is left to do here. */
export const plan = ({ lost, nodes, pods, threshold }: Given): ReadonlyArray<Removal> => {
  const outOfService = new Set(nodes.filter(isOutOfService).map((node) => node.metadata.name))
  const isDeleted = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined
  const removals = new Map<Pod, Why>()
  const add = (why: Why, found: ReadonlyArray<Pod>): void => {
    for (const pod of found) if (!removals.has(pod) && !isHeld(pod)) removals.set(pod, why)
  }
  add("terminated", excess(pods.filter(PodStatus.isTerminal), threshold))
  add("terminating-out-of-service", pods.filter((pod) => isDeleted(pod) && outOfService.has(nodeOf(pod))).sort(order))
  add(
    "orphaned",
    pods.filter((pod) => lost.has(nodeOf(pod)))
  )
  add(
    "terminating-unscheduled",
    pods.filter((pod) => isDeleted(pod) && nodeOf(pod) === "")
  )
  return Array.from(removals, ([pod, why]) => ({ pod, why }))
}

/** Terminating with grace period zero and kept by finalizers: upstream deletes such a pod again and again. */
const isHeld = (pod: Pod): boolean =>
  PodStatus.isTerminal(pod) &&
  pod.metadata.deletionTimestamp !== undefined &&
  (pod.metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
  (pod.metadata.finalizers ?? []).length > 0

const excess = (ended: ReadonlyArray<Pod>, threshold: number): ReadonlyArray<Pod> => {
  const count = ended.length - threshold
  return threshold <= 0 || count <= 0 ? [] : [...ended].sort(order).slice(0, count)
}

/** Evicted pods go first, then the oldest, then by name. */
const order = (a: Pod, b: Pod): number =>
  Number(isEvicted(b)) - Number(isEvicted(a)) ||
  compare(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
  compare(a.metadata.name, b.metadata.name) ||
  compare(a.metadata.namespace ?? "", b.metadata.namespace ?? "")

const isEvicted = (pod: Pod): boolean => pod.status?.phase === "Failed" && pod.status.reason === "Evicted"

/** By code unit: timestamps of the API have one form, so their texts order as their times do. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const isOutOfService = (node: Node): boolean =>
  node.spec?.taints?.some(({ key }) => key === "node.kubernetes.io/out-of-service") === true &&
  node.status?.conditions?.some(({ status, type }) => type === "Ready" && status === "True") !== true

/**
 * The status patch before the deletion, since no kubelet reports that the pod has failed; undefined if it has ended. The uid is a precondition
 * against another pod of the same name.
 */
export const verdict = ({ pod, why }: Removal, now: number): Patch.Patch | undefined => {
  if (PodStatus.isTerminal(pod)) return undefined
  const { generation, uid } = pod.metadata
  const observed = generation === undefined ? {} : { observedGeneration: generation }
  const conditions = why === "orphaned" ? { conditions: [{ ...disruption(pod, now), ...observed }] } : {}
  return Patch.strategic({ metadata: { uid }, status: { phase: "Failed", ...observed, ...conditions } })
}

const disruption = (pod: Pod, now: number) => {
  const type = "DisruptionTarget"
  const before = pod.status?.conditions?.find((one) => one.type === type)
  return {
    type,
    status: "True",
    reason: "DeletionByPodGC",
    message: "PodGC: node no longer exists",
    // A condition that held before has held since then.
    lastTransitionTime:
      before?.status === "True" && before.lastTransitionTime !== undefined
        ? before.lastTransitionTime
        : Time.format(now)
  }
}

/** Since when each node that is missing has been so, or was last suspected. */
type Quarantine = ReadonlyMap<string, number>

export const noQuarantine: Quarantine = new Map()

const quarantineTime = 40_000

interface Look {
  readonly quarantine: Quarantine
  /** In the order of `missing`. Whatever comes of it, each is suspected again only when the time has passed anew. */
  readonly suspects: ReadonlyArray<string>
}

/**
 * A node that pods name and the cache does not have may only be late: it is suspected when it was missing at every look for forty seconds. Times are
 * monotonic milliseconds. Source: discoverDeletedNodes.
 */
export const quarantined = (before: Quarantine, missing: ReadonlySet<string>, now: number): Look => {
  const quarantine = new Map<string, number>()
  const suspects: Array<string> = []
  for (const node of missing) {
    const since = before.get(node) ?? now
    const isDue = now - since >= quarantineTime
    if (isDue) suspects.push(node)
    quarantine.set(node, isDue ? now : since)
  }
  return { quarantine, suspects }
}
