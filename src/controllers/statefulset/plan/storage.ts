/**
 * The claims of one replica as they are and as they should be: which are missing, which have wrong owners, and which block a new pod. Source:
 * pkg/controller/statefulset: createMissingPersistentVolumeClaims, PodClaimIsStale.
 */
import type { Draft } from "../../../kube/Meta.ts"
import type { PersistentVolumeClaim } from "../../../kube/resources.ts"
import * as Identity from "../identity.ts"
import * as Spec from "../spec.ts"
import type { Snapshot } from "../snapshot.ts"
import * as Retention from "./retention.ts"

/** A draft with a name, for events. */
export type ClaimDraft = Draft<PersistentVolumeClaim> & { readonly metadata: { readonly name: string } }

/** The state of a replica's claims, in the order of the templates. */
export interface Storage {
  readonly missing: ReadonlyArray<ClaimDraft>
  /** Claims with the owners that they should have. */
  readonly ownerUpdates: ReadonlyArray<PersistentVolumeClaim>
  /** Names of claims with another controller, to which the policy does not apply. */
  readonly conflicting: ReadonlyArray<string>
  /** Names of claims that are being deleted: a new pod must not use them. */
  readonly going: ReadonlyArray<string>
  /** A claim is owned by a former pod of this name: no new pod before it is deleted. */
  readonly isStale: boolean
}

const nothing: Storage = { missing: [], ownerUpdates: [], conflicting: [], going: [], isStale: false }

export const of = (snapshot: Snapshot, ordinal: number, pod: Retention.Holder["pod"]): Storage => {
  const { claim: find, set } = snapshot
  const templates = Spec.claimTemplates(set)
  if (templates.length === 0) return nothing
  const holder: Retention.Holder = { set, ordinal, pod }
  const missing: Array<ClaimDraft> = []
  const ownerUpdates: Array<PersistentVolumeClaim> = []
  const conflicting: Array<string> = []
  const going: Array<string> = []
  let isStale = false
  for (const template of templates) {
    const name = Identity.claimName(template.metadata?.name ?? "", set, ordinal)
    const claim = find(name)
    if (claim === undefined) {
      missing.push(draft(holder, template, name))
      continue
    }
    const ownerReferences = Retention.owners(holder, claim)
    if (ownerReferences !== undefined) ownerUpdates.push({ ...claim, metadata: { ...claim.metadata, ownerReferences } })
    if (Retention.isConflicting(holder, claim)) conflicting.push(name)
    if (claim.metadata.deletionTimestamp !== undefined) going.push(name)
    if (Retention.isStale(holder, claim)) isStale = true
  }
  return { missing, ownerUpdates, conflicting, going, isStale }
}

/** A claim is created with its owners, so that it is never retained by mistake. */
const draft = (
  holder: Retention.Holder,
  {
    metadata: { annotations, finalizers, labels, ownerReferences = [] } = {},
    spec
  }: ReturnType<typeof Spec.claimTemplates>[number],
  name: string
): ClaimDraft => {
  const { set } = holder
  const { namespace } = set.metadata
  const owned = { metadata: { name, ownerReferences } }
  const owners = Retention.owners(holder, owned) ?? ownerReferences
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...labels, ...set.spec?.selector.matchLabels },
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(owners.length === 0 ? {} : { ownerReferences: owners })
    },
    ...(spec === undefined ? {} : { spec })
  }
}
