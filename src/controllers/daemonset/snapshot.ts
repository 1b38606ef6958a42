/**
 * The input of one sync: each node with its eligibility and the set's pods for it. Plan and status use the same
 * snapshot, so they agree with each other. Source: pkg/controller/daemon: getNodesToDaemonPods.
 */
import * as PodFacts from "../../kube/pod.ts"
import type { DaemonSet, Node, Pod } from "../../kube/resources.ts"
import * as Pods from "./pods.ts"
import * as Spec from "./spec.ts"
import * as Eligibility from "./plan/eligibility.ts"

/** A node's name and the set's pods for it. */
export interface Place extends Eligibility.Verdict {
  readonly name: string
  /** False for a node that is not in the cache but is the target of a pod. */
  readonly exists: boolean
  /** Without terminal pods that are being deleted; the preferred pod first. */
  readonly pods: ReadonlyArray<Pod>
}

export interface Snapshot {
  readonly set: DaemonSet
  /** Of the current revision. */
  readonly hash: string
  readonly places: ReadonlyArray<Place>
  /** Nodes that should have a pod. */
  readonly desired: number
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Observed {
  readonly set: DaemonSet
  readonly hash: string
  readonly nodes: ReadonlyArray<Node>
  /** All pods that the set has claimed, in every phase. */
  readonly pods: ReadonlyArray<Pod>
  readonly now: number
}

export const take = ({ hash, nodes, now, pods, set }: Observed): Snapshot => {
  const byTarget = new Map<string, Array<Pod>>()
  for (const pod of pods) {
    const target = Pods.target(pod)
    if (target === undefined || (PodFacts.isTerminal(pod) && isTerminating(pod))) continue
    const there = byTarget.get(target)
    if (there === undefined) byTarget.set(target, [pod])
    else there.push(pod)
  }
  for (const there of byTarget.values()) there.sort(Pods.first)
  const judge = Eligibility.judge(set)
  const places: Array<Place> = nodes.map((node) => {
    const { name } = node.metadata
    const there = byTarget.get(name) ?? noPods
    byTarget.delete(name)
    return { ...judge(node), name, exists: true, pods: there }
  })
  for (const [name, there] of byTarget)
    places.push({ shouldRun: false, mayStay: false, name, exists: false, pods: there })
  const desired = places.reduce((sum, { shouldRun }) => (shouldRun ? sum + 1 : sum), 0)
  return { set, hash, places, desired, now }
}

const noPods: ReadonlyArray<Pod> = []

export const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

export const isAvailable = ({ now, set }: Snapshot, pod: Pod): boolean =>
  PodFacts.isAvailable(pod, Spec.minReadySeconds(set), now)

export const isUpdated = ({ hash, set }: Snapshot, pod: Pod): boolean => Pods.isUpdated(set, hash, pod)
