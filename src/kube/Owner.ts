/**
 * Ownership between objects. An object may have any number of owner references, of which at most one has `controller: true`; workload
 * controllers find their dependents by that one. An owner is identified by its uid, because a later object may have the same name.
 * `set` refuses a reference that the garbage collector would treat as dangling.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { KubeObject, ObjectMeta, OwnerReference } from "./Meta.ts"
import * as Resource from "./Resource.ts"

/**
 * The reference to the managing controller, if there is one. Validation forbids several; of those the first counts.
 *
 * @example
 * ```ts
 * const owner = { metadata: { namespace: "shop", name: "web", uid: "1" } }
 * const ownerReferences = [Owner.reference(Deployment, owner)]
 * assert.equal(Owner.controllerOf({ metadata: { namespace: "shop", name: "web-1", ownerReferences } })?.uid, "1")
 * assert.equal(Owner.controllerOf(owner), undefined)
 * ```
 */
export const controllerOf = (object: KubeObject): OwnerReference | undefined => {
  const references = object.metadata.ownerReferences
  if (references === undefined) return undefined
  for (const reference of references) if (reference.controller === true) return reference
  return undefined
}

/** Whether the object with that uid is the managing controller. */
export const controlledBy = (object: KubeObject, uid: string | undefined): boolean =>
  uid !== undefined && controllerOf(object)?.uid === uid

/**
 * The reference of a new dependent to its controller, with `blockOwnerDeletion`. The owner must be stored, so that it has a uid.
 *
 * @example
 * ```ts
 * const { apiVersion, controller, name } = Owner.reference(Deployment, { metadata: { name: "web", uid: "1" } })
 * assert.deepEqual([apiVersion, name, controller], ["apps/v1", "web", true])
 * ```
 */
export const reference = (resource: Resource.Any, owner: KubeObject): OwnerReference => ({
  apiVersion: Resource.apiVersion(resource),
  kind: resource.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true
})

/** An owner reference was refused: the garbage collector would delete the dependent for it, or it is invalid. */
export class OwnerError extends Data.TaggedError("OwnerError")<{
  /** Which of the rules the reference would break. */
  readonly reason:
    /** Another object, this one, controls the dependent. */
    | { readonly _tag: "AlreadyOwned"; readonly by: OwnerReference }
    /** Owner and dependent are in different namespaces: the garbage collector would not find the owner, and delete the dependent. */
    | { readonly _tag: "CrossNamespace" }
    /** The dependent has no namespace, but its owner has one. */
    | { readonly _tag: "ClusterScopedDependent" }
    /** The owner has no uid: it was never stored. */
    | { readonly _tag: "NotStored" }
  readonly message: string
}> {}

/** The owner of a dependent, and the kind of ownership. */
export interface Ownership {
  /** The owner's kind. */
  readonly resource: Resource.Any
  /** The owner as it is stored. */
  readonly owner: KubeObject
  /** Whether the owner manages the dependent; at most one owner does. Default: true. */
  readonly controller?: boolean | undefined
  /** Whether a foreground deletion of the owner waits for the dependent. Default: true. */
  readonly blockOwnerDeletion?: boolean | undefined
}

/** What can have an owner: an object, or a draft of one. */
interface Dependent {
  readonly metadata: Partial<ObjectMeta>
}

/**
 * The dependent with a reference to its owner, which replaces an older reference to an object of the same kind and name. A draft must
 * have its namespace. Source: controller-runtime SetControllerReference, SetOwnerReference.
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

/** The dependent without references to that owner; the argument itself if there are none. */
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

/** A kind and a name identify one object at a time, in whatever version; another uid is that of an earlier object. */
const isSameObject = (a: OwnerReference, b: OwnerReference): boolean =>
  a.kind === b.kind && a.name === b.name && groupOf(a.apiVersion) === groupOf(b.apiVersion)

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")))
