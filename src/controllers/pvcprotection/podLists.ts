/**
 * Live pod lists by namespace, so that claims deleted together share one request. A list serves only claims whose last change was noted before the
 * request started, so it is never older than the change. Plain synchronous state of one leadership term.
 */
import type { Key } from "../../kube/Key.ts"
import type { Pod } from "../../kube/resources.ts"

export interface PodLists {
  /** The claim, or a pod that may use it, has changed. */
  readonly note: (claim: Key) => void
  readonly forget: (claim: Key) => void
  /** The pods of the namespace that use claims, if they were listed after that change. */
  readonly find: (claim: Key, namespace: string) => ReadonlyArray<Pod> | undefined
  /** Call before the request; `keep` takes the returned time. */
  readonly begin: () => number
  readonly keep: (namespace: string, begun: number, pods: ReadonlyArray<Pod>) => void
}

/** The number of namespaces whose last list is kept. */
const kept = 16

interface PodList {
  readonly begun: number
  readonly pods: ReadonlyArray<Pod>
}

export const make = (): PodLists => {
  let time = 0
  /** The time of the last change, for claims that are being deleted. */
  const noted = new Map<Key, number>()
  /** Oldest first. */
  const podLists = new Map<string, PodList>()
  return {
    note: (claim) => void noted.set(claim, time++),
    forget: (claim) => void noted.delete(claim),
    find: (claim, namespace) => {
      const podList = podLists.get(namespace)
      const since = noted.get(claim)
      return podList !== undefined && since !== undefined && since < podList.begun ? podList.pods : undefined
    },
    begin: () => time,
    keep: (namespace, begun, pods) => {
      podLists.delete(namespace)
      podLists.set(namespace, { begun, pods })
      if (podLists.size > kept) for (const oldest of podLists.keys()) return void podLists.delete(oldest)
    }
  }
}
