/**
 * Decides about a pod on a tainted node: a total function of the pod, the node's NoExecute taints, the scheduled eviction, and the time. A scheduled
 * eviction is never postponed, even if the pod gets longer tolerations. Times are monotonic milliseconds. Source: pkg/controller/tainteviction:
 * processPodOnNode.
 */
import type { Key } from "../../kube/Key.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import * as Taints from "../../kube/taints.ts"

/** A scheduled eviction. */
export interface Scheduled {
  /** When the taint was observed. */
  readonly since: number
  readonly due: number
  /** The pod was deleted; there is nothing left to do for it. */
  readonly isDone: boolean
}

export type Plan =
  /** There is nothing to do. */
  | { readonly _tag: "Leave" }
  /** The scheduled eviction is cancelled. */
  | { readonly _tag: "Cancel" }
  /** The scheduled eviction stays. */
  | { readonly _tag: "Keep"; readonly due: number }
  | { readonly _tag: "Schedule"; readonly since: number; readonly due: number }
  | { readonly _tag: "Evict" }

export interface Snapshot {
  readonly pod: Pod
  /** The NoExecute taints; undefined if the node is not in the cache. */
  readonly taints: ReadonlyArray<Taints.Taint> | undefined
  readonly scheduled: Scheduled | undefined
  readonly now: number
}

const leave: Plan = { _tag: "Leave" }

export const noExecuteTaints = (node: Node): ReadonlyArray<Taints.Taint> =>
  (node.spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute")

/**
 * How long the pod tolerates all taints, in milliseconds: 0, Infinity, or the shortest of its tolerations. Source:
 * pkg/controller/tainteviction: getMinTolerationTime.
 */
export const minTolerationMillis = (pod: Pod, taints: ReadonlyArray<Taints.Taint>): number => {
  const tolerations = pod.spec?.tolerations ?? []
  let shortest = Infinity
  for (const taint of taints) {
    const used = tolerations.find((toleration) => Taints.tolerates(toleration, taint))
    if (used === undefined) return 0
    if (used.tolerationSeconds !== undefined) shortest = Math.min(shortest, Math.max(0, used.tolerationSeconds * 1000))
  }
  return shortest
}

export const plan = ({ now, pod, scheduled, taints }: Snapshot): Plan => {
  const isDeleting = pod.metadata.deletionTimestamp !== undefined
  const held = scheduled?.isDone === false ? scheduled : undefined
  if (taints === undefined && held === undefined) return leave
  const time = taints === undefined ? Infinity : minTolerationMillis(pod, taints)
  if (taints !== undefined && time === Infinity) return scheduled === undefined ? leave : { _tag: "Cancel" }
  if (scheduled?.isDone === true) return leave
  const isDue = time === 0 || (held !== undefined && held.due <= now)
  // Already being deleted: nothing to add.
  if (isDue) return isDeleting ? leave : { _tag: "Evict" }
  if (held !== undefined) return { _tag: "Keep", due: held.due }
  return isDeleting ? leave : { _tag: "Schedule", since: now, due: now + time }
}

interface Entry extends Scheduled {
  /** For the event after the pod was deleted. */
  readonly pod: Pick<Pod, "metadata"> & { readonly apiVersion: "v1"; readonly kind: "Pod" }
  /** An event for the eviction was recorded. */
  readonly isRecorded: boolean
}

/** The scheduled evictions of one leadership term. The queue returns their keys when they are due. */
export type Evictions = Map<Key, Entry>

export const entryOf = ({ metadata: { name, namespace, uid } }: Pod, scheduled: Scheduled): Entry => ({
  ...scheduled,
  isRecorded: false,
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
