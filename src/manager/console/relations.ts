/**
 * The objects that owner references connect with one object: its owners up to the first, and its dependants down to the last. Whoever writes an
 * object chooses its references, so they may form cycles, name objects that do not exist, and be many: each object is shown once, and levels,
 * siblings and objects have limits. Pure.
 */
import * as Key from "../../kube/Key.ts"
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import type { Held } from "../../layers/Inspection.ts"
import { short } from "./cluster.ts"
import type * as Protocol from "./protocol.ts"

/**
 * The most objects that are shown, owners and dependants together; of these, the most that one object has in a direction, and the most levels; the
 * most references of an object that count; and the most objects that are looked at for dependants.
 */
export const limits = { shown: 200, siblings: 20, levels: 5, references: 20, looks: 200_000 }

type StateOf = (resource: Resource.Any, object: KubeObject) => string

export const none: Pick<Protocol.ObjectView, "owners" | "dependants"> = {
  owners: { objects: [], more: 0 },
  dependants: { objects: [], more: 0 }
}

export const of = (
  held: ReadonlyArray<Held>,
  object: KubeObject,
  kind: string,
  stateOf: StateOf
): Pick<Protocol.ObjectView, "owners" | "dependants"> => {
  const stores = wholeFirst(held)
  const room = { left: limits.shown }
  const reached = reach(stores, object, kind)
  return {
    owners: grow(object, (one) => ownersOf(stores, one), room, stateOf),
    dependants: grow(object, ({ metadata: { uid = "" } }) => reached.get(uid)?.dependants ?? [], room, stateOf)
  }
}

/** From the first store that has it; stores with whole objects first. */
export const find = (held: ReadonlyArray<Held>, key: string): KubeObject | undefined => {
  for (const { store } of wholeFirst(held)) {
    const object = store.get(key)
    if (object !== undefined) return object
  }
  return undefined
}

/** A store with the metadata only knows nothing of the state. Of other stores, larger ones come first. */
const wholeFirst = (held: ReadonlyArray<Held>): ReadonlyArray<Held> =>
  [...held].sort((a, b) => rankOf(a) - rankOf(b) || b.store.size - a.store.size)

const rankOf = ({ resource }: Held): number => (resource.projection === "metadata" ? 1 : 0)

/** An object at the other end of a reference; without `object`, it is not in the cache. */
interface Near {
  readonly uid: string
  readonly resource: Resource.Any | undefined
  readonly object: KubeObject | undefined
  /** What is known of an object that is not in the cache. */
  readonly named?: Pick<Protocol.Related, "kind" | "key">
}

interface Growing extends Protocol.Relations {
  readonly objects: Array<Protocol.Related>
  more: number
}

/** Level by level, so that the nearest objects are shown first. */
const grow = (
  root: KubeObject,
  nearOf: (object: KubeObject) => ReadonlyArray<Near>,
  room: { left: number },
  stateOf: StateOf
): Protocol.Relations => {
  const all: Growing = { objects: [], more: 0 }
  const seen = new Set([root.metadata.uid])
  let level = [{ object: root, into: all }]
  for (let depth = 0; level.length > 0; depth++) {
    const following: typeof level = []
    for (const { into, object } of level) {
      for (const one of nearOf(object)) {
        if (seen.has(one.uid)) continue
        seen.add(one.uid)
        if (depth === limits.levels || into.objects.length === limits.siblings || room.left === 0) {
          into.more++
          continue
        }
        room.left--
        const next: Growing = { objects: [], more: 0 }
        into.objects.push(show(one, next, stateOf))
        if (one.object !== undefined) following.push({ object: one.object, into: next })
      }
    }
    level = following
  }
  return all
}

const show = ({ named, object, resource }: Near, next: Protocol.Relations, stateOf: StateOf): Protocol.Related => ({
  resource: resource === undefined ? "" : Resource.qualifiedName(resource),
  kind: resource?.kind ?? named?.kind ?? "",
  key: object === undefined ? (named?.key ?? "") : Key.of(object),
  state: resource === undefined || object === undefined ? "not in the cache" : short(stateOf(resource, object)),
  next
})

const ownersOf = (held: ReadonlyArray<Held>, { metadata }: KubeObject): ReadonlyArray<Near> =>
  (metadata.ownerReferences ?? []).slice(0, limits.references).map((reference) => {
    const { kind, name, uid } = reference
    const own = held.filter(({ resource }) => resource.kind === kind && resource.group === groupOf(reference))
    const resource = own[0]?.resource
    const key = resource === undefined || resource.scope === "Cluster" ? name : Key.make(metadata.namespace, name)
    const object = find(own, key)
    return {
      uid,
      resource,
      object: object?.metadata.uid === uid ? object : undefined,
      named: { kind: short(kind), key: short(key) }
    }
  })

const groupOf = ({ apiVersion }: OwnerReference): string => {
  const slash = apiVersion.indexOf("/")
  return slash === -1 ? "" : apiVersion.slice(0, slash)
}

/** The dependants of an object that has been reached. */
interface Owner {
  readonly kind: string
  readonly dependants: Array<Near>
}

/** The objects of a kind, and what is known of them after they have been read. */
interface Source {
  readonly resource: Resource.Any
  readonly objects: ReadonlyArray<KubeObject>
  /** The kinds of their owners. */
  readonly owners: Set<string>
  /** When they were read; each reading has a number. */
  readAt: number
}

/**
 * The root and all objects below it, by uid. Smaller stores are read first: there are more pods than ReplicaSets and more of these than Deployments, so
 * one reading finds all levels. A store is read again only if an object was reached since, of a kind that owns objects in it.
 */
const reach = (held: ReadonlyArray<Held>, root: KubeObject, kind: string): ReadonlyMap<string, Owner> => {
  const reached = new Map<string, Owner>()
  const { uid = "" } = root.metadata
  if (uid !== "") reached.set(uid, { kind, dependants: [] })
  const sources = held
    .filter(({ resource, store }, at) => !held.slice(0, at).some((one) => covers(one, resource, store)))
    .map(({ resource, store }): Source => ({ resource, objects: store.list(), owners: new Set(), readAt: -1 }))
    .sort((a, b) => a.objects.length - b.objects.length)
  /** When an object of a kind was reached last. */
  const reachedAt = new Map<string, number>()
  let looks = 0
  let readings = 0
  for (let level = 0, isComplete = false; level <= limits.levels && !isComplete; level++) {
    isComplete = true
    for (const source of sources) {
      const { objects, owners, resource } = source
      const isDue =
        source.readAt === -1 || Array.from(owners).some((one) => (reachedAt.get(one) ?? -1) >= source.readAt)
      if (!isDue) continue
      source.readAt = readings++
      for (const object of objects) {
        if (looks++ === limits.looks) return reached
        const { ownerReferences } = object.metadata
        if (ownerReferences === undefined) continue
        const count = Math.min(ownerReferences.length, limits.references)
        for (let n = 0; n < count; n++) {
          const reference = ownerReferences[n] as OwnerReference
          owners.add(reference.kind)
          const owner = reached.get(reference.uid)
          if (owner === undefined || owner.kind !== reference.kind || object.metadata.uid === undefined) continue
          const { uid } = object.metadata
          owner.dependants.push({ uid, resource, object })
          if (reached.has(uid)) continue
          reached.set(uid, { kind: resource.kind, dependants: [] })
          reachedAt.set(resource.kind, source.readAt)
          isComplete = false
        }
      }
    }
  }
  return reached
}

/** Several stores may have a kind. Whether one that is not larger has no others than this one: as a sample, the first object is looked up. */
const covers = (one: Held, resource: Resource.Any, store: Held["store"]): boolean => {
  if (Resource.qualifiedName(one.resource) !== Resource.qualifiedName(resource)) return false
  const [first] = one.store.size < store.size ? [] : one.store.keys()
  return first !== undefined && (store.size === 0 || store.get(first) !== undefined)
}
