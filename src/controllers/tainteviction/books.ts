/**
 * Which evictions were decided on: the pods on tainted nodes and nobody else, for one term of leadership. A new term notices the taints anew. Plain
 * synchronous state; whoever is due first is known to the queue, whose heap is the only one.
 */
import type { Key } from "../../kube/Key.ts"
import type { Pod } from "../../kube/resources.ts"
import type { Scheduled } from "./plan.ts"

export interface Entry extends Scheduled {
  /** To tell of it when it is gone. */
  readonly pod: Pick<Pod, "metadata"> & { readonly apiVersion: "v1"; readonly kind: "Pod" }
  /** The user was told that it is to go. */
  readonly isTold: boolean
}

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
