/**
 * A store of some namespaces, each fed by a watch of its own: one state to its readers, like that of a single watch. A namespace
 * comes in and goes out as a whole. Whoever feeds it decides when; nothing is decided here. Work per event is that of
 * `Store`: a namespace costs one map entry, and the full state of one never looks at the objects of another.
 */
import type { KubeObject } from "../../kube/Meta.ts"
import * as ResourceVersion from "../../kube/ResourceVersion.ts"
import type { Delta } from "./Delta.ts"
import * as Table from "./objectTable.ts"
import * as Store from "./Store.ts"

/** A store of some namespaces, each of which has a watch of its own, comes by itself and may go again. */
export interface PartedStore<A extends KubeObject> extends Store.Readable<A> {
  /** Begins with a namespace that it does not have. Nothing of it is seen before the part is shown. */
  readonly add: (namespace: string) => Part<A>
  /** Takes the namespace out; the deltas say that its objects are gone from here, whatever has become of them. */
  readonly remove: (namespace: string) => ReadonlyArray<Delta<A>>
  readonly part: (namespace: string) => Part<A> | undefined
  /** From now on it is synced. */
  readonly settle: () => void
  readonly addIndex: Store.Store<A>["addIndex"]
}

export type Part<A extends KubeObject> = Table.Part<A>

export const make = <A extends KubeObject>(options: Store.Options = {}): PartedStore<A> => {
  const table = Table.make<A>(options)
  const parts = new Map<string, Part<A>>()
  let synced = false
  return {
    ...Store.reading(table),
    get size() {
      return table.size()
    },
    /** The lowest of its parts: at least so far all of them are. */
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
      const part = Table.follow(table, namespace)
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
