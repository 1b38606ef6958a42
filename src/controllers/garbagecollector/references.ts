/**
 * What owner references say of an owner, and whether it can be true. A reference names kind, version, name and uid, never a
 * namespace: an owner is in the dependent's namespace or in none. Pure and total.
 */
import type { OwnerReference } from "../../kube/Meta.ts"
import * as Identity from "./Identity.ts"
import type { Uid } from "./Identity.ts"

/** The part of a node that is looked at here. */
interface Dependent {
  readonly identity: Identity.Identity
  readonly owners: ReadonlyArray<OwnerReference>
}

/** Whether one of the references keeps a foreground deletion of that owner waiting. */
export const blocks = (references: ReadonlyArray<OwnerReference>, owner: Uid): boolean =>
  references.some(({ blockOwnerDeletion, uid }) => uid === owner && blockOwnerDeletion === true)

/** The same owner under the same coordinates, whatever the flags. */
export const namesSame = (a: OwnerReference, b: OwnerReference): boolean =>
  a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion

/**
 * Why a reference from that namespace may not lead to the owner with that uid: `misplaced` if the owner has been observed in
 * another namespace, `doubtful` if the coordinates differ or are hearsay. A version may differ and the reference hold all
 * the same, which only the server knows.
 */
export const doubt = (
  owner: { readonly identity: Identity.Identity; readonly observed: boolean },
  reference: OwnerReference,
  namespace: string
): "misplaced" | "doubtful" | undefined => {
  const { identity, observed } = owner
  if (identity.namespace !== "" && identity.namespace !== namespace) return observed ? "misplaced" : "doubtful"
  if (!Identity.isNamedBy(identity, reference)) return "doubtful"
  // Hearsay from a cluster-scoped dependent: the kind may be a namespaced one, and this dependent the one that is right.
  return identity.namespace === "" && namespace !== "" && !observed ? "doubtful" : undefined
}

/**
 * Those that name the owner as it is, and those that name it otherwise. A dependent with two references to one uid may be
 * among both.
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

/** What else the dependents call the owner that is not there: the next name in order, after the last the first. */
export const alternative = (
  dependents: ReadonlyArray<Dependent>,
  absent: Identity.Identity
): Identity.Identity | undefined => {
  const others = dependents
    .flatMap(({ identity, owners }) =>
      owners
        .filter((reference) => reference.uid === absent.uid && !agrees(absent, reference, identity.namespace))
        .map((reference) => {
          // A kind that has just been found to be cluster-scoped is so under any name.
          const sameKind = reference.apiVersion === absent.apiVersion && reference.kind === absent.kind
          return Identity.named(reference, absent.namespace === "" && sameKind ? "" : identity.namespace)
        })
    )
    .sort(Identity.compare)
  return others.find((other) => Identity.compare(other, absent) > 0) ?? others[0]
}
