/**
 * Decides which pods are deleted, and which status is written before the deletion. Pure functions of the cached objects and of the nodes that the
 * server does not have. Source: pkg/controller/podgc: gc.
 */
import * as Patch from "../../kube/Patch.ts"
import * as PodStatus from "../../kube/pod.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

export type Why =
  /** The pod has ended, and the number of ended pods is above the threshold. */
  | "terminated"
  /** The pod is being deleted on a node that is not ready and has the out-of-service taint. */
  | "terminating-out-of-service"
  /** The pod's node does not exist. */
  | "orphaned"
  /** The pod is being deleted and was never scheduled. */
  | "terminating-unscheduled"

export interface Removal {
  readonly pod: Pod
  readonly why: Why
}

export interface Snapshot {
  readonly pods: ReadonlyArray<Pod>
  /** All nodes in the cache. */
  readonly nodes: ReadonlyArray<Node>
  /** Names of nodes that the server does not have. */
  readonly lost: ReadonlySet<string>
  /** How many pods that have ended are kept; 0 or less keeps all. */
  readonly threshold: number
}

export const nodeOf = (pod: Pod): string => pod.spec?.nodeName ?? ""

/** Names of nodes that pods are bound to and that are not in `nodes`. */
export const missingNodes = (pods: ReadonlyArray<Pod>, nodes: ReadonlyArray<Node>): ReadonlySet<string> => {
  const present = new Set(nodes.map((node) => node.metadata.name))
  const missing = new Set<string>()
  for (const pod of pods) {
    const node = nodeOf(pod)
    if (node !== "" && !present.has(node)) missing.add(node)
  }
  return missing
}

/** Each pod at most once, for the first reason in the order of {@link Why}; no pod that only its finalizers keep. */
export const plan = ({ lost, nodes, pods, threshold }: Snapshot): ReadonlyArray<Removal> => {
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

/** Terminated, being deleted with grace period zero, and kept by finalizers. Upstream sends another deletion in each run, which changes nothing. */
const isHeld = (pod: Pod): boolean =>
  PodStatus.isTerminal(pod) &&
  pod.metadata.deletionTimestamp !== undefined &&
  (pod.metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
  (pod.metadata.finalizers ?? []).length > 0

const excess = (ended: ReadonlyArray<Pod>, threshold: number): ReadonlyArray<Pod> => {
  const count = ended.length - threshold
  return threshold <= 0 || count <= 0 ? [] : [...ended].sort(order).slice(0, count)
}

/** Evicted pods first, then the oldest, then by name. Source: pkg/controller/podgc: byEvictionAndCreationTimestamp. */
const order = (a: Pod, b: Pod): number =>
  Number(isEvicted(b)) - Number(isEvicted(a)) ||
  compare(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
  compare(a.metadata.name, b.metadata.name) ||
  compare(a.metadata.namespace ?? "", b.metadata.namespace ?? "")

const isEvicted = (pod: Pod): boolean => pod.status?.phase === "Failed" && pod.status.reason === "Evicted"

/** By code unit. Timestamps of the API have one format, so their texts have the order of their times. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const isOutOfService = (node: Node): boolean =>
  node.spec?.taints?.some(({ key }) => key === "node.kubernetes.io/out-of-service") === true &&
  node.status?.conditions?.some(({ status, type }) => type === "Ready" && status === "True") !== true

/**
 * The status patch before the deletion, because no kubelet will report the failure; undefined if the pod has ended. The uid is a precondition, so that
 * a new pod of the same name is not changed.
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
    // A condition that was True already keeps its transition time.
    lastTransitionTime:
      before?.status === "True" && before.lastTransitionTime !== undefined
        ? before.lastTransitionTime
        : Time.format(now)
  }
}

/** For each missing node, since when it is missing, or when it was last suspected. */
type Quarantine = ReadonlyMap<string, number>

export const noQuarantine: Quarantine = new Map()

const quarantineTime = 40_000

interface Quarantined {
  readonly quarantine: Quarantine
  /** In the order of `missing`. A suspect is returned again only after another quarantine time. */
  readonly suspects: ReadonlyArray<string>
}

/**
 * The cache of nodes may lag behind the cache of pods, so a node is suspected only after it was missing in every run for forty seconds. Times are
 * monotonic milliseconds. Source: pkg/controller/podgc: discoverDeletedNodes.
 */
export const quarantined = (before: Quarantine, missing: ReadonlySet<string>, now: number): Quarantined => {
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
