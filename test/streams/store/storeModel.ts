/**
 * The reference for `Store`: it recomputes its state from all changes at every step. A property compares a store with it for random
 * changes.
 */
import * as Key from "../../../src/kube/Key.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type { Change, ObjectEvent } from "../../../src/streams/watch/protocol.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import * as Store from "../../../src/streams/store/Store.ts"

/** One random step; numbers are reduced to the possible range. */
export interface Operation {
  readonly kind: number
  readonly name: number
  readonly label: number
  readonly lag: number
}

const names = 12
const labels = ["", "red", "green", "blue", "red,blue"]
const indexOf = (object: KubeObject): ReadonlyArray<string> =>
  (object.metadata.labels?.["colour"] ?? "").split(",").filter((value) => value !== "")

/** A server that makes changes from random numbers: events in order, duplicate and old events, lists, unfinished lists. */
export class Script {
  version = 1
  readonly objects = new Map<string, KubeObject>()
  readonly old: Array<ObjectEvent<KubeObject>> = []

  object(operation: Operation, uid: string): KubeObject {
    const colour = labels[operation.label % labels.length] ?? ""
    return {
      metadata: {
        name: `o${operation.name % names}`,
        ...(operation.name % 3 === 0 ? {} : { namespace: `ns${operation.name % 3}` }),
        uid,
        resourceVersion: String(++this.version),
        ...(colour === "" ? {} : { labels: { colour } })
      }
    }
  }

  /** Executes one operation and returns the changes that the watch delivers; it may miss some, which a relist repairs. */
  next(operation: Operation): ReadonlyArray<Change<KubeObject>> {
    switch (operation.kind % 8) {
      case 0:
      case 1:
      case 2:
        return [this.changed([this.write(operation)])]
      case 3:
        return [this.changed(this.erase(operation))]
      case 4: {
        const again = this.old[operation.lag % Math.max(1, this.old.length)]
        return again === undefined ? [] : [this.changed([again])]
      }
      case 5: {
        for (let i = 0; i < operation.lag % 6; i++) {
          this.write({ ...operation, name: operation.name + i })
          this.erase({ ...operation, name: operation.name + 2 * i + 1 })
        }
        return []
      }
      case 6:
        return [{ _tag: "Restarted" }, this.listed(operation.lag % 4)]
      default: {
        const listed = this.listed(names * 3)
        const split = operation.lag % (listed.objects.length + 1)
        return [
          { _tag: "Restarted" },
          { _tag: "Listed", objects: listed.objects.slice(0, split) },
          { _tag: "Listed", objects: listed.objects.slice(split) },
          ...(operation.label % 2 === 0 ? [] : [this.changed([this.write(operation)])]),
          ...(operation.label % 3 === 0 ? [] : [this.changed(this.erase({ ...operation, name: operation.lag }))]),
          { _tag: "Synced", resourceVersion: String(this.version) }
        ]
      }
    }
  }

  private changed(events: ReadonlyArray<ObjectEvent<KubeObject>>): Change<KubeObject> {
    return { _tag: "Changed", events, resourceVersion: String(this.version) }
  }

  private listed(count: number) {
    return { _tag: "Listed", objects: Array.from(this.objects.values()).slice(0, count) } as const
  }

  private write(operation: Operation): ObjectEvent<KubeObject> {
    const present = this.objects.get(Key.of(this.object(operation, "")))
    const recreated = operation.label % 7 === 6
    const object = this.object(
      operation,
      recreated ? `u${this.version}` : (present?.metadata.uid ?? `u${this.version}`)
    )
    this.objects.set(Key.of(object), object)
    const event: ObjectEvent<KubeObject> = { type: present === undefined ? "ADDED" : "MODIFIED", object }
    this.old.push(event)
    return event
  }

  private erase(operation: Operation): ReadonlyArray<ObjectEvent<KubeObject>> {
    const present = this.objects.get(Key.of(this.object(operation, "")))
    if (present === undefined) return []
    this.objects.delete(Key.of(present))
    const metadata = { ...present.metadata, resourceVersion: String(++this.version) }
    const event: ObjectEvent<KubeObject> = { type: "DELETED", object: { metadata } }
    this.old.push(event)
    return [event]
  }
}

type Objects = ReadonlyMap<string, KubeObject>

const versionOf = (object: KubeObject | undefined): number => Number(object?.metadata.resourceVersion ?? 0)

/** The naive rules: it copies all objects and compares versions as numbers. */
export class Reference {
  objects: Objects = new Map()
  private next: Objects | undefined

  apply(change: Change<KubeObject>): void {
    if (change._tag === "Restarted") this.next = new Map()
    if (change._tag === "Listed" && this.next !== undefined) {
      for (const object of change.objects) this.next = with_(this.next, { type: "ADDED", object })
    }
    if (change._tag === "Synced" && this.next !== undefined) {
      this.objects = this.next
      this.next = undefined
    }
    if (change._tag === "Changed") {
      for (const event of change.events) {
        if (this.next === undefined) this.objects = with_(this.objects, event)
        else this.next = with_(this.next, event)
      }
    }
  }
}

const with_ = (objects: Objects, event: ObjectEvent<KubeObject>): Objects => {
  const key = Key.of(event.object)
  const stored = objects.get(key)
  if (
    event.type === "DELETED"
      ? versionOf(event.object) < versionOf(stored)
      : versionOf(event.object) <= versionOf(stored)
  ) {
    return objects
  }
  const copy = new Map(objects)
  if (event.type === "DELETED") copy.delete(key)
  else copy.set(key, event.object)
  return copy
}

const show = (object: KubeObject): string =>
  `${Key.of(object)} ${object.metadata.uid} ${object.metadata.resourceVersion} ${object.metadata.labels?.["colour"] ?? ""}`

const shown = (objects: Iterable<KubeObject>): string => Array.from(objects, show).sort().join("\n")

/** Applying the deltas to the objects before must give those of the store now, with no delta missing and none twice. */
const replayed = (before: Objects, deltas: ReadonlyArray<Delta<KubeObject>>): Objects | string => {
  const known = new Map(before)
  for (const delta of deltas) {
    const key = Key.of(delta.object)
    const present = known.get(key)
    if (delta._tag === "Created") {
      if (present !== undefined) return `${key} created twice`
      known.set(key, delta.object)
    } else if (present === undefined) return `${key} ${delta._tag} but unknown`
    else if (delta._tag === "Deleted") known.delete(key)
    else if (delta.previous !== present || present.metadata.uid !== delta.object.metadata.uid)
      return `${key} not an update`
    else known.set(key, delta.object)
  }
  return known
}

/** Undefined if the store behaves like the reference for all operations, otherwise the difference. */
export const check = (operations: ReadonlyArray<Operation>): string | undefined => {
  const script = new Script()
  const reference = new Reference()
  const store = Store.make<KubeObject>()
  store.addIndex("colour", indexOf)
  for (const operation of operations) {
    for (const change of script.next(operation)) {
      const before = new Map(Array.from(store.list(), (object) => [Key.of(object), object]))
      const deltas = store.apply(change)
      reference.apply(change)
      const wrong = difference(store, reference.objects, replayed(before, deltas))
      if (wrong !== undefined) return `${wrong}, after ${change._tag}`
    }
  }
  return undefined
}

const difference = (store: Store.Store<KubeObject>, expected: Objects, known: Objects | string): string | undefined => {
  if (typeof known === "string") return known
  if (shown(store.list()) !== shown(expected.values())) return "the objects differ"
  if (shown(known.values()) !== shown(expected.values())) return "the deltas do not lead to the objects"
  if (store.size !== expected.size || store.keys().some((key) => store.get(key) === undefined)) return "the keys differ"
  const all = Array.from(expected.values())
  for (const value of ["red", "green", "blue"]) {
    const found = all.filter((object) => indexOf(object).includes(value))
    if (store.keysByIndex("colour", value).length !== found.length) return `the keys of the index differ for ${value}`
    if (shown(store.byIndex("colour", value)) !== shown(found)) return `the index differs for ${value}`
  }
  for (const namespace of ["", "ns1", "ns2"]) {
    const found = all.filter((object) => (object.metadata.namespace ?? "") === namespace)
    if (shown(store.byIndex("namespace", namespace)) !== shown(found)) return `the namespace ${namespace} differs`
  }
  return undefined
}
