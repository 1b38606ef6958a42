/**
 * Compares owner references with the coordinates of their owner. A reference has kind, version, name and uid
 * but no namespace: the owner is in the dependent's namespace or cluster-scoped. Pure. Source:
 * pkg/controller/garbagecollector: partitionDependents, getAlternateOwnerIdentity.
 */
import type { OwnerReference } from "../../kube/Meta.ts"
import * as Identity from "./identity.ts"
import type { Uid } from "./identity.ts"

/** The parts of a node that are read here. */
interface Dependent {
  readonly identity: Identity.Identity
  readonly owners: ReadonlyArray<OwnerReference>
}

/** Whether one of the references blocks a foreground deletion of that owner. */
export const blocks = (references: ReadonlyArray<OwnerReference>, owner: Uid): boolean =>
  references.some(({ blockOwnerDeletion, uid }) => uid === owner && blockOwnerDeletion === true)

/** Equal apart from the flags. */
export const namesSame = (a: OwnerReference, b: OwnerReference): boolean =>
  a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion

/**
 * Why a reference from that namespace may not name the owner with that uid: `misplaced` if the owner was observed in
 * another namespace, `doubtful` if the coordinates differ or were never observed. Another API version may still be
 * correct, which only the server knows.
 */
export const doubt = (
  { identity, isObserved }: { readonly identity: Identity.Identity; readonly isObserved: boolean },
  reference: OwnerReference,
  namespace: string
): "misplaced" | "doubtful" | undefined => {
  if (identity.namespace !== "" && identity.namespace !== namespace) return isObserved ? "misplaced" : "doubtful"
  if (!Identity.isNamedBy(identity, reference)) return "doubtful"
  // Coordinates from a cluster-scoped dependent: the kind may be namespaced, and this dependent's coordinates the right
  // ones.
  return identity.namespace === "" && namespace !== "" && !isObserved ? "doubtful" : undefined
}

/**
 * The dependents that name the owner correctly, and those that do not. A dependent with two references to one uid may
 * be in both.
 */
export const partition = <A extends Dependent>(
  dependents: ReadonlyArray<A>,
  owner: Identity.Identity
): { readonly matching: ReadonlyArray<A>; readonly mistaken: ReadonlyArray<A> } => {
  const matching: Array<A> = []
  const mistaken: Array<A> = []
  for (const dependent of dependents) {
    const references = dependent.owners.filter(({ uid }) => uid === owner.uid)
    if (references.some((reference) => agrees(owner, reference, dependent.identity.namespace))) matching.push(dependent)
    if (references.some((reference) => !agrees(owner, reference, dependent.identity.namespace)))
      mistaken.push(dependent)
  }
  return { matching, mistaken }
}

const agrees = (owner: Identity.Identity, reference: OwnerReference, namespace: string): boolean =>
  (owner.namespace === "" || owner.namespace === namespace) && Identity.isNamedBy(owner, reference)

/**
 * The next alternative coordinates that dependents have for an absent owner, in order, starting again after the last.
 */
export const alternative = (
  dependents: ReadonlyArray<Dependent>,
  absent: Identity.Identity
): Identity.Identity | undefined => {
  const others = dependents
    .flatMap(({ identity, owners }) =>
      owners
        .filter((reference) => reference.uid === absent.uid && !agrees(absent, reference, identity.namespace))
        .map((reference) => {
          // A kind that was found to be cluster-scoped is so under any name.
          const sameKind = reference.apiVersion === absent.apiVersion && reference.kind === absent.kind
          return Identity.named(reference, absent.namespace === "" && sameKind ? "" : identity.namespace)
        })
    )
    .sort(Identity.compare)
  return others.find((other) => Identity.compare(other, absent) > 0) ?? others[0]
}
