/**
 * Facts about the objects of the model, by scans over all of them: which owners exist, which objects wait for which,
 * and whether anything is left to collect.
 */
import type * as Identity from "../../../src/controllers/garbagecollector/identity.ts"
import type { KubeObject, OwnerReference } from "../../../src/kube/Meta.ts"

/**
 * The watched kinds. `Node` is cluster-scoped. Besides there are `Silent`, which the server knows and no informer
 * watches, and `Ghost`, which it does not know.
 */
export const kinds = ["Parent", "Child", "Node"]

export interface Stored extends Identity.Identity {
  readonly owners: ReadonlyArray<OwnerReference>
  readonly finalizers: ReadonlyArray<string>
  readonly deleting: boolean
  readonly version: number
}

export const show = (object: Stored): string =>
  `${object.kind} ${object.namespace}/${object.name} ${object.uid}${object.deleting ? " deleting" : ""} ${object.finalizers.join()} <- ${object.owners.map(({ kind, name, uid }) => `${kind} ${name} ${uid}`).join(", ")}`

export const metadataOf = (object: Stored): KubeObject["metadata"] => ({
  name: object.name,
  uid: object.uid,
  resourceVersion: String(object.version),
  ownerReferences: object.owners,
  finalizers: object.finalizers,
  ...(object.namespace === "" ? {} : { namespace: object.namespace }),
  ...(object.deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {})
})

/** A violated rule. */
export class Violation extends Error {}

export class Oracle {
  readonly all = new Map<string, Stored>()

  stored(uid: string): Stored {
    const object = this.all.get(uid)
    if (object === undefined) throw new Violation(`${uid} does not exist`)
    return object
  }

  exists({ apiVersion, kind, name, namespace, uid }: Identity.Identity): boolean {
    const object = this.all.get(uid)
    return (
      object !== undefined &&
      object.apiVersion === apiVersion &&
      object.kind === kind &&
      object.name === name &&
      (kind === "Node" || object.namespace === namespace)
    )
  }

  standing(object: Stored, reference: OwnerReference): "solid" | "waiting" | "dangling" | "unknowable" {
    if (reference.kind === "Ghost" || (object.namespace === "" && reference.kind !== "Node")) return "unknowable"
    if (!this.exists({ ...reference, namespace: object.namespace })) return "dangling"
    const owner = this.stored(reference.uid)
    return owner.deleting && owner.finalizers.includes("foregroundDeletion") ? "waiting" : "solid"
  }

  /** Objects without an informer are not collected, and no object waits for them. */
  watched(): ReadonlyArray<Stored> {
    return [...this.all.values()].filter(({ kind }) => kinds.includes(kind))
  }

  dependents(uid: string, blocking: boolean): ReadonlyArray<Stored> {
    return this.watched().filter(({ owners }) =>
      owners.some((one) => one.uid === uid && (!blocking || one.blockOwnerDeletion === true))
    )
  }

  /** Without those that wait for the owner themselves: in a cycle one object must be deleted first. */
  blocking(uid: string): ReadonlyArray<Stored> {
    return this.dependents(uid, true).filter((one) => !this.waitsFor(one, uid, []))
  }

  waitsFor(object: Stored, owner: string, seen: ReadonlyArray<string>): boolean {
    if (!object.deleting || !object.finalizers.includes("foregroundDeletion") || seen.includes(object.uid)) return false
    if (object.uid === owner) return true
    return this.dependents(object.uid, true).some((one) => this.waitsFor(one, owner, [...seen, object.uid]))
  }

  /** Nothing is left to delete, to strip or to orphan. */
  checkRest(): void {
    for (const object of this.watched()) {
      const standings = object.owners.map((one) => this.standing(object, one))
      if (object.deleting && object.finalizers.includes("orphan")) throw new Violation(`not orphaned: ${show(object)}`)
      if (object.deleting && object.finalizers.includes("foregroundDeletion")) {
        if (this.blocking(object.uid).length === 0)
          throw new Violation(`kept its finalizer without blocking dependents: ${show(object)}`)
        if (!this.dependents(object.uid, true).some((one) => this.isStuck(one, new Set())))
          throw new Violation(`waits for nothing: ${show(object)}`)
      } else if (!object.deleting && standings.length > 0 && !standings.includes("unknowable")) {
        if (!standings.includes("solid")) throw new Violation(`not collected: ${show(object)}`)
        if (standings.some((one) => one !== "solid")) throw new Violation(`not stripped: ${show(object)}`)
      }
    }
  }

  /** Held by a user's finalizer, by an owner of unknown kind, or by an object that is held. */
  isStuck(object: Stored, seen: Set<string>): boolean {
    if (seen.has(object.uid)) return false
    seen.add(object.uid)
    return (
      object.finalizers.includes("example.com/hold") ||
      object.owners.some((one) => this.standing(object, one) === "unknowable") ||
      this.dependents(object.uid, true).some((one) => this.isStuck(one, seen))
    )
  }
}
