/**
 * What becomes of a pod on a node that drives pods away: a total function of the pod, the node's taints, what was decided before, and the time.
 * A schedule that there is stays, whatever else the pod comes to tolerate: an eviction is never put off. Times are monotonic milliseconds.
 * Source: pkg/controller/tainteviction: processPodOnNode.
 */
import type { Key } from "../../kube/Key.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import * as Taints from "../../kube/taints.ts"

/** An eviction that was decided on. */
export interface Scheduled {
  /** When the taint was noticed. */
  readonly since: number
  readonly due: number
  /** The pod was told to go; there is nothing left to do for it. */
  readonly isDone: boolean
}

export type Decision =
  /** Nothing is to happen to it. */
  | { readonly _tag: "Leave" }
  /** What was decided before holds no more. */
  | { readonly _tag: "Cancel" }
  /** What was decided before holds. */
  | { readonly _tag: "Keep"; readonly due: number }
  | { readonly _tag: "Schedule"; readonly since: number; readonly due: number }
  | { readonly _tag: "Evict" }

export interface Given {
  readonly pod: Pod
  /** Those that drive pods away; undefined if nobody knows the node. */
  readonly taints: ReadonlyArray<Taints.Taint> | undefined
  readonly scheduled: Scheduled | undefined
  readonly now: number
}

const leave: Decision = { _tag: "Leave" }

export const driving = (node: Node): ReadonlyArray<Taints.Taint> =>
  (node.spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute")

/** How long the pod stands all of the taints, in milliseconds: not at all, for ever, or for the shortest time it says. */
export const patience = (pod: Pod, taints: ReadonlyArray<Taints.Taint>): number => {
  const tolerations = pod.spec?.tolerations ?? []
  let shortest = Infinity
  for (const taint of taints) {
    const used = tolerations.find((toleration) => Taints.tolerates(toleration, taint))
    if (used === undefined) return 0
    if (used.tolerationSeconds !== undefined) shortest = Math.min(shortest, Math.max(0, used.tolerationSeconds * 1000))
  }
  return shortest
}

export const decide = ({ now, pod, scheduled, taints }: Given): Decision => {
  const isGoing = pod.metadata.deletionTimestamp !== undefined
  const held = scheduled?.isDone === false ? scheduled : undefined
  if (taints === undefined && held === undefined) return leave
  const time = taints === undefined ? Infinity : patience(pod, taints)
  if (taints !== undefined && time === Infinity) return scheduled === undefined ? leave : { _tag: "Cancel" }
  if (scheduled?.isDone === true) return leave
  const isDue = time === 0 || (held !== undefined && held.due <= now)
  // Whoever deleted it has said all there is to say.
  if (isDue) return isGoing ? leave : { _tag: "Evict" }
  if (held !== undefined) return { _tag: "Keep", due: held.due }
  return isGoing ? leave : { _tag: "Schedule", since: now, due: now + time }
}

interface Entry extends Scheduled {
  /** To tell of it when it is gone. */
  readonly pod: Pick<Pod, "metadata"> & { readonly apiVersion: "v1"; readonly kind: "Pod" }
  /** The user was told that it is to go. */
  readonly isTold: boolean
}

/** The evictions that were decided on, for one term of leadership. The queue knows which is due first. */
export type Books = Map<Key, Entry>

export const entryOf = ({ metadata: { name, namespace, uid } }: Pod, scheduled: Scheduled): Entry => ({
  ...scheduled,
  isTold: false,
  pod: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid })
    }
  }
})
