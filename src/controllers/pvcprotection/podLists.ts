/**
 * What the server said of the pods of a namespace, so that many claims that are deleted together are asked for once. An answer serves those claims
 * that asked before the question was put: what it says is as new as whatever made them ask. Plain synchronous state of one term.
 */
import type { Key } from "../../kube/Key.ts"
import type { Pod } from "../../kube/resources.ts"

export interface PodLists {
  /** Something has happened that concerns the claim. */
  readonly note: (claim: Key) => void
  readonly forget: (claim: Key) => void
  /** The pods of the namespace that use claims, if the server was asked for them since then. */
  readonly find: (claim: Key, namespace: string) => ReadonlyArray<Pod> | undefined
  /** A question is put now; the answer is kept with what this yields. */
  readonly begin: () => number
  readonly keep: (namespace: string, begun: number, pods: ReadonlyArray<Pod>) => void
}

/** Namespaces whose last answer is kept. */
const kept = 16

interface PodList {
  readonly begun: number
  readonly pods: ReadonlyArray<Pod>
}

export const make = (): PodLists => {
  let time = 0
  /** When something last happened, for claims that are being deleted. */
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
