/**
 * A store of several namespaces, each filled by its own watch, with the reads of `Store`. `cache/informer/Namespaces.ts` decides when a
 * namespace is added or removed as a whole. A full state of one namespace does not visit the objects of another.
 */
import type { KubeObject } from "../../kube/Meta.ts"
import * as ResourceVersion from "../../kube/ResourceVersion.ts"
import * as Store from "./Store.ts"

/** A store whose namespaces are added and removed one by one. */
export interface PartedStore<A extends KubeObject> extends Store.Readable<A> {
  /** Adds a namespace that it does not have; its objects are visible once the part is shown. */
  readonly add: (namespace: string) => Part<A>
  /** Removes the namespace; its objects yield deletions, whether or not they still exist on the server. */
  readonly remove: (namespace: string) => ReadonlyArray<Store.Delta<A>>
  readonly part: (namespace: string) => Part<A> | undefined
  /** Marks the store as synced. */
  readonly settle: () => void
  readonly addIndex: Store.Store<A>["addIndex"]
}

export type Part<A extends KubeObject> = Store.Part<A>

export const make = <A extends KubeObject>(options: Store.Options = {}): PartedStore<A> => {
  const table = Store.makeTable<A>(options)
  const parts = new Map<string, Part<A>>()
  let synced = false
  return {
    ...Store.reading(table),
    get size() {
      return table.size()
    },
    /** The lowest version of its parts. */
    get resourceVersion() {
      let lowest: string | undefined
      for (const { resourceVersion } of parts.values()) {
        if (resourceVersion === undefined) return undefined
        if (lowest === undefined || ResourceVersion.compare(resourceVersion, lowest) < 0) lowest = resourceVersion
      }
      return lowest
    },
    get synced() {
      return synced
    },
    add: (namespace) => {
      const part = Store.follow(table, namespace)
      parts.set(namespace, part)
      return part
    },
    remove: (namespace) => {
      const part = parts.get(namespace)
      parts.delete(namespace)
      return part?.close() ?? []
    },
    part: (namespace) => parts.get(namespace),
    settle: () => {
      synced = true
    },
    addIndex: table.addIndex
  }
}
