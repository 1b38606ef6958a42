/**
 * The state of one informer: objects by key and by index, updated by the changes of a watch. Plain and synchronous: a reader sees the state
 * before a change or after it. A full state is collected separately and replaces the present one at `Synced`. Each change yields deltas,
 * including those of missed deletions. Objects are stored without a copy and must not be mutated; `freeze` enforces that.
 * Source: client-go's tools/cache: threadSafeMap, DeltaFIFO.
 */
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as ResourceVersion from "../../kube/ResourceVersion.ts"
import type { Change, ObjectEvent } from "../watch/protocol.ts"
import * as Index from "./Index.ts"
import * as Sharing from "./sharing.ts"

/**
 * What a listener of an informer receives: one change of one object, with its previous state. A deletion that the watch missed arrives
 * with `stateUnknown`; an object that was deleted and recreated under one name arrives as a deletion and a creation.
 */
export type Delta<A> = Created<A> | Updated<A> | Deleted<A>

/** An object that was not in the store before. */
export interface Created<out A> {
  readonly _tag: "Created"
  /** The object as it is now. */
  readonly object: A
  /** True for the objects of the first list: they existed before the watch. */
  readonly initial: boolean
}

/** An object that has changed, or that a resync distributes again. */
export interface Updated<out A> {
  readonly _tag: "Updated"
  /** The object as it is now. */
  readonly object: A
  /** The object as it was in the store; `===` the object for a resync. */
  readonly previous: A
}

/** An object that is no longer in the store. */
export interface Deleted<out A> {
  readonly _tag: "Deleted"
  /** The last known state, which is the final one only if `stateUnknown` is false. */
  readonly object: A
  /** True when the deletion was inferred from a list instead of being watched. */
  readonly stateUnknown: boolean
}

/** The read operations of a store. */
export interface Readable<out A extends KubeObject> {
  /** The number of objects. */
  readonly size: number
  /** The version that the store has reached; undefined before the first sync. */
  readonly resourceVersion: string | undefined
  /** True once the store has a full state; it never becomes false again. */
  readonly synced: boolean
  /** The object with that key; undefined when there is none. */
  readonly get: (key: Key.Key) => A | undefined
  /** All objects, in a new array. */
  readonly list: () => ReadonlyArray<A>
  /** The keys of all objects, in a new array. */
  readonly keys: () => ReadonlyArray<Key.Key>
  /** The objects for which the index function returns the value; none for an index that does not exist. */
  readonly byIndex: (name: string, value: string) => ReadonlyArray<A>
  /** The keys of the objects that `byIndex` returns. */
  readonly keysByIndex: (name: string, value: string) => ReadonlyArray<Key.Key>
  /** How many objects `byIndex` returns. */
  readonly countByIndex: (name: string, value: string) => number
  /** Whether there is an index of that name. */
  readonly hasIndex: (name: string) => boolean
  /** The present state for a late subscriber: each object as a `Created` with `initial`. */
  readonly replay: () => ReadonlyArray<Created<A>>
}

/** A store with its write operations, which only its informer has. */
export interface Store<A extends KubeObject> extends Readable<A> {
  /** Applies one change and yields its deltas; none for one that changes nothing. */
  readonly apply: (change: Change<A>) => ReadonlyArray<Delta<A>>
  /**
   * Adds an index of the present objects; each change then updates it. A name that exists keeps its first function. If the function throws
   * for an object, the object has no values.
   */
  readonly addIndex: (name: string, of: (object: A) => ReadonlyArray<string>) => void
}

/** The index that every store has: objects by namespace; cluster-scoped objects are under the empty string. */
export const namespaceIndex = "namespace"

/** Settings of a store. */
export interface Options {
  /**
   * `true` freezes objects before they are stored, which makes a busy watch about a quarter slower. `"onRead"` freezes the objects that `get`,
   * `list`, `byIndex` and `replay` return, not those of deltas.
   */
  readonly freeze?: boolean | "onRead" | undefined
}

/** An empty store that has not synced. */
export const make = <A extends KubeObject>(options: Options = {}): Store<A> => {
  const table = makeTable<A>(options)
  const whole = follow(table)
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

/** The reads of a `Store` and a `PartedStore`. */
export const reading = <A extends KubeObject>(table: Table<A>) => ({
  get: table.get,
  list: table.list,
  keys: table.keys,
  byIndex: table.byIndex,
  keysByIndex: table.keysByIndex,
  countByIndex: table.countByIndex,
  hasIndex: table.hasIndex,
  replay: table.replay
})

/** The objects and indexes of a store, without a watch: what `Store` and `PartedStore` are made of. */
export type Table<A extends KubeObject> = ReturnType<typeof makeTable<A>>

/** An empty table. */
export const makeTable = <A extends KubeObject>(options: Options = {}) => {
  const freeze = options.freeze === true
  const read: <T>(object: T) => T = options.freeze === "onRead" ? deepFreeze : (object) => object
  const indexes = Index.makeGroup<A>(namespaceIndex)
  let objects = new Map<Key.Key, A>()

  const shareParts = Sharing.make()

  const put = (key: Key.Key, object: A): void => {
    objects.set(key, freeze ? deepFreeze(object) : object)
    indexes.set(key, object)
  }

  const drop = (key: Key.Key): void => {
    objects.delete(key)
    indexes.delete(key)
  }

  const applyEvent = (event: ObjectEvent<A>, deltas: Array<Delta<A>>): void => {
    const object = event.object
    const key = Key.of(object)
    const previous = objects.get(key)
    if (event.type === "DELETED") {
      if (previous === undefined || isOlder(object, previous)) return
      drop(key)
      deltas.push({ _tag: "Deleted", object: freeze ? deepFreeze(object) : object, stateUnknown: false })
    } else if (previous === undefined || isNewer(object, previous)) {
      shareParts(objects, key, object)
      put(key, object)
      if (previous === undefined) deltas.push({ _tag: "Created", object, initial: false })
      else replaced(previous, object, deltas)
    }
  }

  /** Adds an event to a state that is not shown yet. */
  const collect = (into: Map<Key.Key, A>, type: ObjectEvent<A>["type"], object: A): void => {
    const key = Key.of(object)
    const previous = into.get(key)
    if (type === "DELETED") {
      if (previous !== undefined && !isOlder(object, previous)) into.delete(key)
    } else if (previous === undefined || isNewer(object, previous)) {
      shareParts(into, key, object)
      into.set(key, object)
    }
  }

  /** Replaces the present state with `listed` and returns the deltas. One synchronous section. */
  const swap = (listed: Map<Key.Key, A>, initial: boolean): Array<Delta<A>> => {
    const deltas: Array<Delta<A>> = []
    const before = objects
    objects = listed
    for (const [key, object] of before) {
      if (listed.has(key)) continue
      indexes.delete(key)
      deltas.push({ _tag: "Deleted", object, stateUnknown: true })
    }
    for (const [key, object] of listed) {
      const previous = before.get(key)
      if (previous !== undefined && isSame(object, previous)) {
        listed.set(key, previous)
        continue
      }
      if (freeze) deepFreeze(object)
      indexes.set(key, object)
      if (previous === undefined) deltas.push({ _tag: "Created", object, initial })
      else replaced(previous, object, deltas)
    }
    return deltas
  }

  /** The same for one namespace; objects of the others are not visited. */
  const swapNamespace = (namespace: string, listed: ReadonlyMap<Key.Key, A>, initial: boolean): Array<Delta<A>> => {
    const deltas: Array<Delta<A>> = []
    for (const key of Array.from(indexes.keys(namespaceIndex, namespace))) {
      const object = objects.get(key)
      if (object === undefined || listed.has(key)) continue
      drop(key)
      deltas.push({ _tag: "Deleted", object, stateUnknown: true })
    }
    for (const [key, object] of listed) {
      const previous = objects.get(key)
      if (previous !== undefined && isSame(object, previous)) continue
      put(key, object)
      if (previous === undefined) deltas.push({ _tag: "Created", object, initial })
      else replaced(previous, object, deltas)
    }
    return deltas
  }

  return {
    size: () => objects.size,
    get: (key: Key.Key): A | undefined => read(objects.get(key)),
    list: (): ReadonlyArray<A> => Array.from(objects.values(), (object) => read(object)),
    keys: (): ReadonlyArray<Key.Key> => Array.from(objects.keys()),
    byIndex: (name: string, value: string): ReadonlyArray<A> => {
      const found: Array<A> = []
      for (const key of indexes.keys(name, value)) {
        const object = objects.get(key)
        if (object !== undefined) found.push(read(object))
      }
      return found
    },
    keysByIndex: (name: string, value: string): ReadonlyArray<Key.Key> => Array.from(indexes.keys(name, value)),
    countByIndex: (name: string, value: string): number => indexes.count(name, value),
    hasIndex: (name: string): boolean => indexes.has(name),
    replay: (): ReadonlyArray<Created<A>> =>
      Array.from(objects.values(), (object) => ({ _tag: "Created", object: read(object), initial: true })),
    addIndex: (name: string, of: (object: A) => ReadonlyArray<string>): void => indexes.add(name, of, objects),
    applyEvent,
    collect,
    swap,
    swapNamespace
  }
}

/** The objects of one watch. Until `show` they are kept separately and yield no deltas. */
export interface Part<A extends KubeObject> {
  /** The version that its watch has reached; undefined before its first full state. */
  readonly resourceVersion: string | undefined
  /** True once it has had a full state; it never becomes false again. */
  readonly complete: boolean
  /** True from `show` on, until `remove`. */
  readonly shown: boolean
  /** Applies one change and yields its deltas; none before `show`. */
  readonly apply: (change: Change<A>) => ReadonlyArray<Delta<A>>
  /** Adds its objects to the store, as `initial`. Call it once, when the part is complete. */
  readonly show: () => ReadonlyArray<Delta<A>>
  /** Removes its objects and ignores later changes. */
  readonly close: () => ReadonlyArray<Delta<A>>
}

/** A part of a table, with all objects or those of one namespace. A table has either one part, or one for each of several namespaces. */
export const follow = <A extends KubeObject>(table: Table<A>, namespace?: string): Part<A> => {
  /** The full state under construction; undefined unless between `Restarted` and `Synced`. */
  let next: Map<Key.Key, A> | undefined
  /** The state of a part that is complete and not shown. */
  let held: Map<Key.Key, A> | undefined
  let version: string | undefined
  let shown = false
  let closed = false

  const swap = (listed: Map<Key.Key, A>, initial: boolean): ReadonlyArray<Delta<A>> =>
    namespace === undefined ? table.swap(listed, initial) : table.swapNamespace(namespace, listed, initial)

  const apply = (change: Change<A>): ReadonlyArray<Delta<A>> => {
    if (closed) return none
    switch (change._tag) {
      case "Restarted":
        next = new Map()
        return none
      case "Listed":
        if (next !== undefined) for (const object of change.objects) table.collect(next, "ADDED", object)
        return none
      case "Synced": {
        if (next === undefined) return none
        const listed = next
        next = undefined
        version = change.resourceVersion
        if (shown) return swap(listed, false)
        held = listed
        return none
      }
      case "Changed": {
        const aside = next ?? held
        if (next === undefined) version = change.resourceVersion
        if (aside !== undefined) {
          for (const event of change.events) table.collect(aside, event.type, event.object)
          return none
        }
        const deltas: Array<Delta<A>> = []
        for (const event of change.events) table.applyEvent(event, deltas)
        return deltas
      }
      case "Failed":
        return none
    }
  }

  return {
    get resourceVersion() {
      return version
    },
    get complete() {
      return shown || held !== undefined
    },
    get shown() {
      return shown
    },
    apply,
    show: () => {
      if (held === undefined) return none
      const listed = held
      held = undefined
      shown = true
      return swap(listed, true)
    },
    close: () => {
      closed = true
      held = undefined
      if (!shown) return none
      shown = false
      return swap(new Map(), false)
    }
  }
}

const none: ReadonlyArray<never> = []

/** The deltas of a new state under an existing key. With another uid it is another object, and the deletion of the old one was missed. */
const replaced = <A extends KubeObject>(previous: A, object: A, deltas: Array<Delta<A>>): void => {
  if (previous.metadata.uid === object.metadata.uid) {
    deltas.push({ _tag: "Updated", object, previous })
  } else {
    deltas.push({ _tag: "Deleted", object: previous, stateUnknown: true })
    deltas.push({ _tag: "Created", object, initial: false })
  }
}

/** Same uid and same version; false where there is no version. */
const isSame = (a: KubeObject, b: KubeObject): boolean =>
  a.metadata.resourceVersion !== undefined &&
  a.metadata.resourceVersion === b.metadata.resourceVersion &&
  a.metadata.uid === b.metadata.uid

/** False for a duplicate and for a state older than the stored one. Versions that are not numbers have no order. */
const isNewer = (object: KubeObject, stored: KubeObject): boolean =>
  object.metadata.resourceVersion === undefined ||
  (object.metadata.resourceVersion !== stored.metadata.resourceVersion && !isOlder(object, stored))

const isOlder = (object: KubeObject, stored: KubeObject): boolean => {
  const a = object.metadata.resourceVersion
  const b = stored.metadata.resourceVersion
  return a !== undefined && b !== undefined && ResourceVersion.compare(a, b) < 0
}

/** Freezes the object and everything in it, in place. It skips frozen values, because their contents are frozen too. */
export const deepFreeze = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) freezeAll(value)
  return value
}

/** A plain loop that calls itself for objects only: it runs for every object of every event. */
const freezeAll = (value: object): void => {
  Object.freeze(value)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i]
      if (typeof item === "object" && item !== null && !Object.isFrozen(item)) freezeAll(item)
    }
    return
  }
  for (const key in value) {
    const item: unknown = value[key as keyof typeof value]
    if (typeof item === "object" && item !== null && !Object.isFrozen(item)) freezeAll(item)
  }
}
