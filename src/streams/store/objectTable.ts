/**
 * The objects of a store and its indexes, and how the changes of one watch get in: `follow` is that, for a watch of everything or of
 * one namespace. A full state is collected aside and comes in as a whole; what it means is told as deltas. Plain and
 * synchronous: each function runs in one turn, so nobody sees anything half done. What readers may do is `Store.ts`.
 */
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as ResourceVersion from "../../kube/ResourceVersion.ts"
import type { Change, ObjectEvent } from "../watch/Change.ts"
import type { Created, Delta } from "./Delta.ts"
import * as Index from "./Index.ts"

/** The index that every store has: objects by namespace; cluster-scoped objects are under the empty string. */
export const namespaceIndex = "namespace"

export interface Options {
  /**
   * `true` freezes objects as they come; it costs about a quarter of the speed of a busy watch. `"onRead"` freezes what
   * `get`, `list`, `byIndex` and `replay` hand out, and leaves the objects of deltas to whoever passes them on.
   */
  readonly freeze?: boolean | "onRead" | undefined
}

export type Table<A extends KubeObject> = ReturnType<typeof make<A>>

export const make = <A extends KubeObject>(options: Options = {}) => {
  const freeze = options.freeze === true
  const read: <T>(object: T) => T = options.freeze === "onRead" ? deepFreeze : (object) => object
  const indexes = Index.makeGroup<A>(namespaceIndex)
  let objects = new Map<Key.Key, A>()

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

  /** The same for one namespace: the others are not looked at. */
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
    swap,
    swapNamespace
  }
}

/** What follows one watch. Between its creation and `show` its objects are kept aside, and nobody is told of them. */
export interface Part<A extends KubeObject> {
  /** The version its watch stands at; undefined before its first full state. */
  readonly resourceVersion: string | undefined
  /** True once it has had a full state; it never becomes false again. */
  readonly complete: boolean
  /** True from `show` on, until `remove`. */
  readonly shown: boolean
  /** Applies one change and yields what it meant. Total: a change that says nothing new yields nothing, nor does a hidden part. */
  readonly apply: (change: Change<A>) => ReadonlyArray<Delta<A>>
  /** Once, when complete: its objects come in. They were there before we looked, hence `initial`. */
  readonly show: () => ReadonlyArray<Delta<A>>
  /** For ever: its objects go, whatever has become of them, and nothing gets in any more. */
  readonly close: () => ReadonlyArray<Delta<A>>
}

/** Of everything there is, or of one namespace; a table has either one of the first or any number of the second. */
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
        if (next !== undefined) for (const object of change.objects) collect(next, "ADDED", object)
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
          for (const event of change.events) collect(aside, event.type, event.object)
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
