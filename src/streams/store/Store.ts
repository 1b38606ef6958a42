/**
 * The state of one informer: objects by key and by named index, kept up to date by applying changes. It is a plain
 * synchronous value. Each `apply` runs in one turn, so a reader sees the state before it or after it, nothing between:
 * a relist is collected aside and swapped in at `Synced`. What it yields are deltas, deletions that nobody watched among
 * them. Objects are kept as they came and must not be mutated; `freeze` enforces that.
 */
import type * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type { Change } from "../watch/Change.ts"
import type { Created, Delta } from "./Delta.ts"
import * as Table from "./objectTable.ts"

/** What a reader may do. */
export interface Readable<out A extends KubeObject> {
  /** Objects in the store. */
  readonly size: number
  /** The version the store stands at; undefined before the first sync. */
  readonly resourceVersion: string | undefined
  /** True once a first full state was swapped in; it never becomes false again. */
  readonly synced: boolean
  /** The object with that key. */
  readonly get: (key: Key.Key) => A | undefined
  /** All objects, in a new array. */
  readonly list: () => ReadonlyArray<A>
  /** The keys of all objects, in a new array. */
  readonly keys: () => ReadonlyArray<Key.Key>
  /** Objects for which the index function yields the value; none for an index that does not exist. */
  readonly byIndex: (name: string, value: string) => ReadonlyArray<A>
  /** Keys of what `byIndex` would yield. */
  readonly keysByIndex: (name: string, value: string) => ReadonlyArray<Key.Key>
  /** How many `byIndex` would yield, without looking at them. */
  readonly countByIndex: (name: string, value: string) => number
  /** Whether there is an index of that name. */
  readonly hasIndex: (name: string) => boolean
  /** The present state for a late subscriber: each object as a `Created` with `initial`. */
  readonly replay: () => ReadonlyArray<Created<A>>
}

/** A store and the way to change it; only its informer has this end. */
export interface Store<A extends KubeObject> extends Readable<A> {
  /** Applies one change and yields what it meant. Total: a change that says nothing new yields nothing. */
  readonly apply: (change: Change<A>) => ReadonlyArray<Delta<A>>
  /**
   * Adds an index, reading the present objects once; afterwards it is maintained change by change. A name that exists
   * keeps its first function. A function that throws puts the object under no value.
   */
  readonly addIndex: (name: string, of: (object: A) => ReadonlyArray<string>) => void
}

/** The index that every store has: objects by namespace; cluster-scoped objects are under the empty string. */
export const namespaceIndex = Table.namespaceIndex

/** Settings of a store. */
export type Options = Table.Options

/** An empty store that has not synced. */
export const make = <A extends KubeObject>(options: Options = {}): Store<A> => {
  const table = Table.make<A>(options)
  const whole = Table.follow(table)
  return {
    ...reading(table),
    get size() {
      return table.size()
    },
    get resourceVersion() {
      return whole.resourceVersion
    },
    get synced() {
      return whole.shown
    },
    apply: (change) => {
      const deltas = whole.apply(change)
      return change._tag === "Synced" && !whole.shown ? whole.show() : deltas
    },
    addIndex: table.addIndex
  }
}

/** What every store answers from its table. */
export const reading = <A extends KubeObject>(table: Table.Table<A>) => ({
  get: table.get,
  list: table.list,
  keys: table.keys,
  byIndex: table.byIndex,
  keysByIndex: table.keysByIndex,
  countByIndex: table.countByIndex,
  hasIndex: table.hasIndex,
  replay: table.replay
})
