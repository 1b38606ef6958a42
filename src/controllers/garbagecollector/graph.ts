/**
 * The graph of owner references, as the informers have reported them: a plain synchronous value that takes events and
 * returns findings. It decides nothing: each finding is checked against the server before an object is deleted. An
 * owner that is known only from references is a virtual node until it is observed or proven absent.
 *
 * Invariants: the index holds exactly the inverse of all nodes' references, whether or not the owner has a node; a
 * virtual node has at least one dependent and no references of its own. Source: pkg/controller/garbagecollector:
 * GraphBuilder.processGraphChanges.
 */
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"
import * as Identity from "./identity.ts"
import type { Uid } from "./identity.ts"
import * as References from "./references.ts"

export type Metadata = KubeObject["metadata"]

/** A live view: later events change it. */
export interface Node {
  readonly identity: Identity.Identity
  /** The object as it was last observed; undefined for a virtual node, which has its identity from a reference. */
  readonly observed: Metadata | undefined
  readonly owners: ReadonlyArray<OwnerReference>
  readonly beingDeleted: boolean
  /** What the deletion waits for; `orphan` takes precedence if both finalizers are set. */
  readonly waitsFor: "orphaning" | "dependents" | undefined
}

export type Event =
  /** An informer reported the object as added or updated. */
  | { readonly _tag: "Observed"; readonly identity: Identity.Identity; readonly metadata: Metadata }
  /** An informer reported the object as deleted; `watched` is false if that was inferred from a list. */
  | { readonly _tag: "Deleted"; readonly uid: Uid; readonly watched: boolean }
  /**
   * The server has no object with that uid at those coordinates. `clusterScoped` is the scope of the kind according to the server: if true, the
   * namespace of a virtual node is meaningless. If the virtual node still exists after this event, it has other coordinates to verify.
   */
  | { readonly _tag: "Absent"; readonly identity: Identity.Identity; readonly clusterScoped: boolean }
  /** No informer watches the kind in this version any more: no events of its objects will follow. */
  | { readonly _tag: "Unwatched"; readonly apiVersion: string; readonly kind: string }

/** The findings of some events; a uid occurs once. */
export interface Findings {
  /** Nodes whose references have to be checked. */
  readonly toDelete: ReadonlySet<Uid>
  /** Virtual nodes whose existence has to be verified. */
  readonly toVerify: ReadonlySet<Uid>
  /** Nodes whose dependents have to be orphaned. */
  readonly toOrphan: ReadonlySet<Uid>
  /** Owners that were proven absent and are still referred to. */
  readonly absent: ReadonlyArray<Identity.Identity>
  /** Dependents that name an owner in another namespace. */
  readonly misplaced: ReadonlyArray<Misplaced>
}

export interface Misplaced {
  readonly dependent: Identity.Identity
  readonly reference: OwnerReference
}

export interface Graph {
  /** Applies events in order. An event that changes nothing has no findings. */
  readonly apply: (events: Iterable<Event>) => Findings
  /** Takes an update of an observed object that changes neither its owners nor its deletion, as nearly all do. False for others, which `apply` takes. */
  readonly refresh: (apiVersion: string, metadata: Metadata) => boolean
  readonly get: (uid: Uid) => Node | undefined
  /** The nodes with a reference to that uid. */
  readonly dependents: (uid: Uid) => ReadonlyArray<Node>
  /**
   * The dependents that block a foreground deletion of that owner, without those that wait for the owner themselves: a
   * cycle would never finish.
   */
  readonly blocking: (uid: Uid) => ReadonlyArray<Node>
  readonly size: () => number
  /** All nodes, in no order. */
  readonly nodes: () => Iterable<Node>
}

interface Entry extends Node {
  identity: Identity.Identity
  observed: Metadata | undefined
  owners: ReadonlyArray<OwnerReference>
  beingDeleted: boolean
  waitsFor: Node["waitsFor"]
}

/** `Findings` under construction. */
interface Noting extends Findings {
  readonly toDelete: Set<Uid>
  readonly toVerify: Set<Uid>
  readonly toOrphan: Set<Uid>
  readonly absent: Array<Identity.Identity>
  readonly misplaced: Array<Misplaced>
}

export const make = (): Graph => {
  const nodes = new Map<Uid, Entry>()
  const index = new Map<Uid, Set<Uid>>()

  const dependentsOf = (uid: Uid): ReadonlyArray<Entry> =>
    Array.from(index.get(uid) ?? [], (one) => nodes.get(one)).filter((node) => node !== undefined)

  const blockersOf = (uid: Uid): ReadonlyArray<Entry> =>
    dependentsOf(uid).filter(({ owners }) => References.blocks(owners, uid))

  /** Whether the node waits, directly or through others, for the owner's deletion. */
  const waitsInTurn = (from: Entry, owner: Uid): boolean => {
    const seen = new Set<Entry>()
    const next = [from]
    for (let node = next.pop(); node !== undefined; node = next.pop()) {
      if (node.waitsFor !== "dependents" || seen.has(node)) continue
      if (node.identity.uid === owner) return true
      seen.add(node)
      next.push(...blockersOf(node.identity.uid))
    }
    return false
  }

  const observe = (identity: Identity.Identity, metadata: Metadata, note: Noting): void => {
    const { deletionTimestamp, finalizers, ownerReferences } = metadata
    const node = nodes.get(identity.uid) ?? entry(identity, metadata)
    nodes.set(identity.uid, node)
    if (node.observed === undefined && !Identity.isSame(node.identity, identity)) examineMistaken(identity, note)
    node.observed = metadata
    // Also for an observed node: its resource may be watched in another version now.
    node.identity = identity
    relink(node, ownerReferences ?? none, note)
    node.beingDeleted = deletionTimestamp !== undefined
    enter(node, node.beingDeleted ? phaseOf(finalizers ?? []) : undefined, note)
  }

  /** Enqueues the dependents whose reference differs from the observed owner. */
  const examineMistaken = (owner: Identity.Identity, note: Noting): void => {
    for (const { identity, owners } of References.partition(dependentsOf(owner.uid), owner).mistaken) {
      note.toDelete.add(identity.uid)
      if (owner.namespace !== "" && owner.namespace !== identity.namespace) {
        const reference = owners.find(({ uid }) => uid === owner.uid)
        if (reference !== undefined) note.misplaced.push({ dependent: identity, reference })
      }
    }
  }

  /**
   * Enqueues on every event of an object that is being deleted: between two events the finalizer may have been removed
   * and added again.
   */
  const enter = (node: Entry, waitsFor: Node["waitsFor"], note: Noting): void => {
    const before = node.waitsFor
    node.waitsFor = waitsFor
    const { uid } = node.identity
    if (waitsFor === "orphaning") note.toOrphan.add(uid)
    if (waitsFor !== "dependents") return
    if (before !== waitsFor) for (const dependent of index.get(uid) ?? []) note.toDelete.add(dependent)
    if (before !== waitsFor || blockersOf(uid).length === 0) note.toDelete.add(uid)
  }

  /** Replaces the node's references. */
  const relink = (node: Entry, owners: ReadonlyArray<OwnerReference>, note: Noting): void => {
    const before = node.owners
    if (before === owners) return
    node.owners = owners
    const newlyBlocks = (uid: Uid) => References.blocks(owners, uid) && !References.blocks(before, uid)
    for (const { uid } of before) {
      if (References.blocks(before, uid) && !References.blocks(owners, uid) && nodes.has(uid)) note.toDelete.add(uid)
      if (!owners.some((other) => other.uid === uid)) unlink(node.identity.uid, uid)
    }
    // A reference that can never be resolved keeps a cluster-scoped object from deletion; the removed reference may have been the last such one.
    if (node.identity.namespace === "" && before.some(({ uid }) => !owners.some((other) => other.uid === uid))) {
      note.toDelete.add(node.identity.uid)
    }
    // A node in foreground deletion now blocks another owner, which may close a cycle of objects that wait for each other.
    if (node.waitsFor === "dependents" && owners.some(({ uid }) => newlyBlocks(uid)))
      note.toDelete.add(node.identity.uid)
    for (const reference of owners) {
      if (!before.some((other) => References.namesSame(other, reference))) link(node, reference, note)
    }
  }

  const link = (node: Entry, reference: OwnerReference, note: Noting): void => {
    const present = index.get(reference.uid)
    if (present === undefined) index.set(reference.uid, new Set([node.identity.uid]))
    else present.add(node.identity.uid)
    const owner = nodes.get(reference.uid)
    if (owner === undefined) {
      nodes.set(reference.uid, entry(Identity.named(reference, node.identity.namespace), undefined))
      note.toVerify.add(reference.uid)
      return
    }
    const known = { identity: owner.identity, isObserved: owner.observed !== undefined }
    const doubt = References.doubt(known, reference, node.identity.namespace)
    // A new dependent of an owner in foreground deletion is enqueued, whichever of the two was observed first.
    if (doubt !== undefined || owner.waitsFor === "dependents") note.toDelete.add(node.identity.uid)
    if (doubt === "misplaced") note.misplaced.push({ dependent: node.identity, reference })
  }

  const unlink = (dependent: Uid, owner: Uid): void => {
    const present = index.get(owner)
    present?.delete(dependent)
    if (present === undefined || present.size > 0) return
    index.delete(owner)
    // A virtual node without dependents is removed.
    if (isVirtual(nodes.get(owner))) nodes.delete(owner)
  }

  /** Removes the node. Its dependents are enqueued, and the owners whose foreground deletion it may have blocked. */
  const remove = (node: Entry, provenAbsent: Identity.Identity | undefined, note: Noting): void => {
    const { uid } = node.identity
    nodes.delete(uid)
    for (const owner of node.owners) {
      unlink(uid, owner.uid)
      if (nodes.get(owner.uid)?.waitsFor === "dependents") note.toDelete.add(owner.uid)
    }
    const left = index.get(uid)
    if (left === undefined) return
    if (provenAbsent !== undefined) note.absent.push(provenAbsent)
    for (const dependent of left) note.toDelete.add(dependent)
  }

  const absent = (requested: Identity.Identity, clusterScoped: boolean, note: Noting): void => {
    const node = nodes.get(requested.uid)
    if (node === undefined) return
    const proven = clusterScoped ? { ...requested, namespace: "" } : requested
    const isRequested = Identity.isSame(node.identity, requested)
    const { matching, mistaken } = References.partition(dependentsOf(requested.uid), proven)
    if (node.observed === undefined ? mistaken.length === 0 : isRequested) return remove(node, proven, note)
    // The object may exist under other coordinates: only dependents with these coordinates are enqueued.
    if (matching.length > 0) note.absent.push(proven)
    for (const { identity } of matching) note.toDelete.add(identity.uid)
    if (node.observed !== undefined || !isRequested) return
    node.identity = References.alternative(mistaken, proven) ?? node.identity
  }

  /**
   * A node without dependents would never be enqueued again, so it is removed like a deleted one. One with dependents
   * becomes virtual: it is observed again if its resource is watched again, else its existence is verified.
   */
  const unwatch = (apiVersion: string, kind: string, note: Noting): void => {
    for (const node of Array.from(nodes.values())) {
      const { identity } = node
      if (node.observed === undefined || identity.apiVersion !== apiVersion || identity.kind !== kind) continue
      if (!index.has(identity.uid)) {
        remove(node, undefined, note)
        continue
      }
      relink(node, none, note)
      Object.assign(node, entry(identity, undefined))
      note.toVerify.add(identity.uid)
    }
  }

  const applyOne = (event: Event, note: Noting): void => {
    switch (event._tag) {
      case "Observed":
        return observe(event.identity, event.metadata, note)
      case "Deleted": {
        const node = nodes.get(event.uid)
        if (node !== undefined) remove(node, event.watched ? node.identity : undefined, note)
        return
      }
      case "Absent":
        return absent(event.identity, event.clusterScoped, note)
      case "Unwatched":
        return unwatch(event.apiVersion, event.kind, note)
    }
  }

  return {
    apply: (events) => {
      const note: Noting = { toDelete: new Set(), toVerify: new Set(), toOrphan: new Set(), absent: [], misplaced: [] }
      for (const event of events) applyOne(event, note)
      return note
    },
    refresh: (apiVersion, metadata) => {
      const node = nodes.get(metadata.uid ?? "")
      if (node?.observed === undefined || node.identity.apiVersion !== apiVersion) return false
      if (node.beingDeleted || metadata.deletionTimestamp !== undefined) return false
      // The store keeps equal references once.
      if (node.owners !== (metadata.ownerReferences ?? none)) return false
      node.observed = metadata
      return true
    },
    get: (uid) => nodes.get(uid),
    dependents: dependentsOf,
    blocking: (uid) => blockersOf(uid).filter((dependent) => !waitsInTurn(dependent, uid)),
    size: () => nodes.size,
    nodes: () => nodes.values()
  }
}

const none: ReadonlyArray<never> = []

const entry = (identity: Identity.Identity, observed: Metadata | undefined): Entry => ({
  identity,
  observed,
  owners: none,
  beingDeleted: false,
  waitsFor: undefined
})

/** Whether the node is there, and no informer has observed its object. */
export const isVirtual = (node: Node | undefined): boolean => node !== undefined && node.observed === undefined

const phaseOf = (finalizers: ReadonlyArray<string>): Node["waitsFor"] =>
  finalizers.includes(orphanFinalizer)
    ? "orphaning"
    : finalizers.includes(foregroundFinalizer)
      ? "dependents"
      : undefined

/** Set by a deletion with the propagation policy Orphan. Source: meta/v1: FinalizerOrphanDependents. */
export const orphanFinalizer = "orphan"

/** Set by a deletion with the propagation policy Foreground. Source: meta/v1: FinalizerDeleteDependents. */
export const foregroundFinalizer = "foregroundDeletion"
