/**
 * Ownership between objects. Any number of references may name an owner; at most one of them is the controlling one, and that is
 * the tree the workload loops live on. Identity is the uid: a name can be given to another object later.
 * A reference that the garbage collector would take for a dangling one is refused before it is written.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { KubeObject, ObjectMeta, OwnerReference } from "./Meta.ts"
import * as Resource from "./Resource.ts"

/** The reference that marks the managing controller, if there is one. Of several, which validation forbids, the first counts. */
export const controllerOf = (object: KubeObject): OwnerReference | undefined => {
  const references = object.metadata.ownerReferences
  if (references === undefined) return undefined
  for (const reference of references) if (reference.controller === true) return reference
  return undefined
}

/** Whether the object with that uid is the managing controller. */
export const controlledBy = (object: KubeObject, uid: string | undefined): boolean =>
  uid !== undefined && controllerOf(object)?.uid === uid

/** The reference a new dependent carries: controlling, and in the way of a foreground deletion. The owner must be stored: it has a uid. */
export const reference = (resource: Resource.Any, owner: KubeObject): OwnerReference => ({
  apiVersion: Resource.apiVersion(resource),
  kind: resource.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true
})

/** A reference would do harm, or cannot be. */
export class OwnerError extends Data.TaggedError("OwnerError")<{
  /** Which of the rules the reference would break. */
  readonly reason:
    /** Another object controls the dependent: this one. */
    | { readonly _tag: "AlreadyOwned"; readonly by: OwnerReference }
    /** Owner and dependent are in two namespaces: the owner would not be found, and the dependent deleted. */
    | { readonly _tag: "CrossNamespace" }
    /** The dependent has no namespace, but its owner has one. */
    | { readonly _tag: "ClusterScopedDependent" }
    /** The owner has no uid: it was never stored. */
    | { readonly _tag: "NotStored" }
  readonly message: string
}> {}

/** Who is to own a dependent, and how. */
export interface Ownership {
  /** The owner's kind. */
  readonly resource: Resource.Any
  /** The owner as it is stored. */
  readonly owner: KubeObject
  /** Whether the owner manages the dependent; of those there is one at most. True unless said otherwise. */
  readonly controller?: boolean | undefined
  /** Whether a foreground deletion of the owner waits for the dependent. True unless said otherwise. */
  readonly blockOwnerDeletion?: boolean | undefined
}

/** What can have an owner: an object, or a draft of one. */
interface Dependent {
  readonly metadata: Partial<ObjectMeta>
}

/**
 * The dependent with a reference to its owner, in the place of an older one to an object of that kind and name. A draft must name
 * its namespace. Source: controller-runtime SetControllerReference, SetOwnerReference.
 */
export const set = <A extends Dependent>(dependent: A, ownership: Ownership): Result.Result<A, OwnerError> => {
  const { blockOwnerDeletion = true, controller = true, owner, resource } = ownership
  const problem = problemOf(dependent, ownership)
  if (problem !== undefined) return Result.fail(problem)
  const { apiVersion, kind, name, uid } = reference(resource, owner)
  const mine: OwnerReference = {
    apiVersion,
    kind,
    name,
    uid,
    ...(controller ? { controller } : {}),
    ...(blockOwnerDeletion ? { blockOwnerDeletion } : {})
  }
  const before = dependent.metadata.ownerReferences ?? []
  const place = before.findIndex((other) => isSameObject(other, mine))
  const ownerReferences = place === -1 ? [...before, mine] : before.map((other, i) => (i === place ? mine : other))
  return Result.succeed({ ...dependent, metadata: { ...dependent.metadata, ownerReferences } })
}

/** Whether the object is among the owners. */
export const has = (dependent: Dependent, owner: KubeObject): boolean =>
  owner.metadata.uid !== undefined &&
  dependent.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true

/** The dependent without references to that owner; the very same one if there is none. */
export const remove = <A extends Dependent>(dependent: A, owner: KubeObject): A =>
  has(dependent, owner)
    ? {
        ...dependent,
        metadata: {
          ...dependent.metadata,
          ownerReferences: dependent.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.metadata.uid)
        }
      }
    : dependent

const problemOf = (dependent: Dependent, ownership: Ownership): OwnerError | undefined => {
  const { controller = true, owner, resource } = ownership
  const { name = "", namespace, ownerReferences = [] } = dependent.metadata
  const refuse = (reason: OwnerError["reason"], why: string) =>
    new OwnerError({ reason, message: `${resource.kind} "${owner.metadata.name}" cannot own "${name}": ${why}` })
  if (owner.metadata.uid === undefined || owner.metadata.uid === "") {
    return refuse({ _tag: "NotStored" }, "it has no uid, so it was never stored")
  }
  if (owner.metadata.namespace !== undefined && namespace === undefined) {
    return refuse({ _tag: "ClusterScopedDependent" }, "it is in a namespace and its dependent is in none")
  }
  if (owner.metadata.namespace !== undefined && namespace !== owner.metadata.namespace) {
    return refuse({ _tag: "CrossNamespace" }, `they are in the namespaces ${owner.metadata.namespace} and ${namespace}`)
  }
  const mine = reference(resource, owner)
  const by = controller ? ownerReferences.find((other) => other.controller === true) : undefined
  return by === undefined || isSameObject(by, mine)
    ? undefined
    : refuse({ _tag: "AlreadyOwned", by }, `${by.kind} "${by.name}" controls it already`)
}

/** One name in one kind is one object at a time, whatever the version it was named by; an older uid is of one that is gone. */
const isSameObject = (a: OwnerReference, b: OwnerReference): boolean =>
  a.kind === b.kind && a.name === b.name && groupOf(a.apiVersion) === groupOf(b.apiVersion)

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")))
