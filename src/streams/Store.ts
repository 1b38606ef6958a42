/**
 * The state of one informer: objects by key and by named index, kept up to date by applying changes. It is a plain
 * synchronous value. Each `apply` runs in one turn, so a reader sees the state before it or after it, nothing between:
 * a relist is collected aside and swapped in at `Synced`. What it yields are deltas, deletions that nobody watched among
 * them. Objects are kept as they came and must not be mutated; `freeze` enforces that.
 */
import * as Key from "../kube/Key.ts"
import type { KubeObject } from "../kube/Meta.ts"
import * as ResourceVersion from "../kube/ResourceVersion.ts"
import type { Change, ObjectEvent } from "./Change.ts"
import type { Created, Delta } from "./Delta.ts"
import * as Index from "./Index.ts"

/** What a reader may do. */
export interface Readable<out A extends KubeObject> {
  /** Objects in the store. */
  readonly size: number
  /** The version the store stands at; undefined before the first sync. */
  readonly resourceVersion: string | undefined
  /** True once a first full state was swapped in; it never becomes false again. */
  readonly synced: boolean
  readonly get: (key: Key.Key) => A | undefined
  /** All objects, in a new array. */
  readonly list: () => ReadonlyArray<A>
  readonly keys: () => ReadonlyArray<Key.Key>
  /** Objects for which the index function yields the value; none for an index that does not exist. */
  readonly byIndex: (name: string, value: string) => ReadonlyArray<A>
  readonly keysByIndex: (name: string, value: string) => ReadonlyArray<Key.Key>
  readonly hasIndex: (name: string) => boolean
  /** The present state for a late subscriber: each object as a `Created` with `initial`. */
  readonly replay: () => ReadonlyArray<Created<A>>
}

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
export const namespaceIndex = "namespace"

export interface Options {
  /**
   * `true` freezes objects as they come; it costs about a quarter of the speed of a busy watch. `"onRead"` freezes what
   * `get`, `list`, `byIndex` and `replay` hand out, and leaves the objects of deltas to whoever passes them on.
   */
  readonly freeze?: boolean | "onRead" | undefined
}

export const make = <A extends KubeObject>(options: Options = {}): Store<A> => {
  const freeze = options.freeze === true
  const read: <T>(object: T) => T = options.freeze === "onRead" ? deepFreeze : (object) => object
  const indexes = Index.makeGroup<A>(namespaceIndex)
  let objects = new Map<Key.Key, A>()
  /** The full state under construction; undefined unless between `Restarted` and `Synced`. */
  let next: Map<Key.Key, A> | undefined
  let version: string | undefined
  let synced = false

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
    } else if (previous === undefined) {
      put(key, object)
      deltas.push({ _tag: "Created", object, initial: false })
    } else if (isNews(object, previous)) {
      put(key, object)
      replaced(previous, object, deltas)
    }
  }

  /** Deltas of going from the present state to `listed`, which then is the present state. One synchronous section. */
  const swap = (listed: Map<Key.Key, A>): Array<Delta<A>> => {
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
      if (previous === undefined) deltas.push({ _tag: "Created", object, initial: !synced })
      else replaced(previous, object, deltas)
    }
    return deltas
  }

  const apply = (change: Change<A>): ReadonlyArray<Delta<A>> => {
    switch (change._tag) {
      case "Restarted":
        next = new Map()
        return none
      case "Listed":
        if (next !== undefined) for (const object of change.objects) collect(next, "ADDED", object)
        return none
      case "Synced": {
        if (next === undefined) return none
        const deltas = swap(next)
        next = undefined
        synced = true
        version = change.resourceVersion
        return deltas
      }
      case "Changed": {
        if (next !== undefined) {
          for (const event of change.events) collect(next, event.type, event.object)
          return none
        }
        const deltas: Array<Delta<A>> = []
        for (const event of change.events) applyEvent(event, deltas)
        version = change.resourceVersion
        return deltas
      }
      case "Failed":
        return none
    }
  }

  return {
    get size() {
      return objects.size
    },
    get resourceVersion() {
      return version
    },
    get synced() {
      return synced
    },
    get: (key) => read(objects.get(key)),
    list: () => Array.from(objects.values(), (object) => read(object)),
    keys: () => Array.from(objects.keys()),
    byIndex: (name, value) => {
      const found: Array<A> = []
      for (const key of indexes.keys(name, value)) {
        const object = objects.get(key)
        if (object !== undefined) found.push(read(object))
      }
      return found
    },
    keysByIndex: (name, value) => Array.from(indexes.keys(name, value)),
    hasIndex: (name) => indexes.has(name),
    replay: () => Array.from(objects.values(), (object) => ({ _tag: "Created", object: read(object), initial: true })),
    apply,
    addIndex: (name, of) => indexes.add(name, of, objects)
  }
}

const none: ReadonlyArray<never> = []

/** A new state under an old name. Another uid is another object: the old one was deleted without our seeing it. */
const replaced = <A extends KubeObject>(previous: A, object: A, deltas: Array<Delta<A>>): void => {
  if (previous.metadata.uid === object.metadata.uid) {
    deltas.push({ _tag: "Updated", object, previous })
  } else {
    deltas.push({ _tag: "Deleted", object: previous, stateUnknown: true })
    deltas.push({ _tag: "Created", object, initial: false })
  }
}

const collect = <A extends KubeObject>(into: Map<Key.Key, A>, type: ObjectEvent<A>["type"], object: A): void => {
  const key = Key.of(object)
  const previous = into.get(key)
  if (type === "DELETED") {
    if (previous !== undefined && !isOlder(object, previous)) into.delete(key)
  } else if (previous === undefined || isNews(object, previous)) {
    into.set(key, object)
  }
}

/** Same uid and same version: nothing happened to the object between two lists. Without a version we cannot know. */
const isSame = (a: KubeObject, b: KubeObject): boolean =>
  a.metadata.resourceVersion !== undefined &&
  a.metadata.resourceVersion === b.metadata.resourceVersion &&
  a.metadata.uid === b.metadata.uid

/** False for a duplicate and for a state older than the stored one. Versions that are no numbers are only equal or not. */
const isNews = (object: KubeObject, stored: KubeObject): boolean =>
  object.metadata.resourceVersion === undefined ||
  (object.metadata.resourceVersion !== stored.metadata.resourceVersion && !isOlder(object, stored))

const isOlder = (object: KubeObject, stored: KubeObject): boolean => {
  const a = object.metadata.resourceVersion
  const b = stored.metadata.resourceVersion
  return a !== undefined && b !== undefined && ResourceVersion.compare(a, b) < 0
}

/** Freezes the object and everything in it, in place. Stops at what is frozen already: a frozen object was frozen whole. */
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
