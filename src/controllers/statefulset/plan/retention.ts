/**
 * The owner of a claim under the retention policy, which the garbage collector acts on: the set with `whenDeleted`, the condemned pod with
 * `whenScaled`, or none. Source: pkg/controller/statefulset: updateClaimOwnerRefForSetAndPod.
 */
import type { OwnerReference } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import * as Resource from "../../../kube/Resource.ts"
import { type PersistentVolumeClaim, Pod, StatefulSet } from "../../../kube/resources.ts"
import * as Identity from "../identity.ts"
import * as Spec from "../spec.ts"

/** The replica that claims belong to, whether its pod exists or not. */
export interface Holder {
  readonly set: StatefulSet
  readonly ordinal: number
  readonly pod: Pod | undefined
}

type References = ReadonlyArray<OwnerReference>

type Owned = Pick<PersistentVolumeClaim, "metadata">

const referencesOf = ({ metadata }: Owned): References => metadata.ownerReferences ?? none

const none: References = []

const names = (resource: Resource.Any, name: string, reference: OwnerReference): boolean =>
  reference.kind === resource.kind && reference.name === name && reference.apiVersion === Resource.apiVersion(resource)

const namesSet = ({ set }: Holder, reference: OwnerReference): boolean =>
  names(StatefulSet, set.metadata.name, reference)

const namesPod = ({ ordinal, set }: Holder, reference: OwnerReference): boolean =>
  names(Pod, Identity.podName(set, ordinal), reference)

/** Whether a former set or pod of the same name owns the claim: it is left to the garbage collector. */
const isOfNamesake = (holder: Holder, claim: Owned): boolean =>
  referencesOf(claim).some(
    (reference) =>
      (namesSet(holder, reference) && reference.uid !== holder.set.metadata.uid) ||
      (namesPod(holder, reference) && reference.uid !== holder.pod?.metadata.uid)
  )

/** Whether the claim is deleted with a former pod of this name: a new pod would lose its volume. */
export const isStale = (holder: Holder, claim: PersistentVolumeClaim): boolean =>
  Spec.retention(holder.set).whenScaled &&
  referencesOf(claim).some((reference) => namesPod(holder, reference) && reference.uid !== holder.pod?.metadata.uid)

/** Whether another controller owns the claim, so that its owners are not changed. Always false if the policy retains claims. */
export const isConflicting = (holder: Holder, claim: Owned): boolean => {
  const { whenDeleted, whenScaled } = Spec.retention(holder.set)
  if (!whenDeleted && !whenScaled) return false
  return (
    isOfNamesake(holder, claim) ||
    referencesOf(claim).some(
      (reference) => reference.controller === true && !namesSet(holder, reference) && !namesPod(holder, reference)
    )
  )
}

/** The owners that follow from the policy. */
const wanted = ({ ordinal, pod, set }: Holder): References => {
  const { whenDeleted, whenScaled } = Spec.retention(set)
  const isDeletedWithPod = whenScaled && !Spec.isInRange(set, ordinal)
  if (isDeletedWithPod) return pod === undefined ? none : [Owner.reference(Pod, pod)]
  return whenDeleted ? [Owner.reference(StatefulSet, set)] : none
}

/** The references that the claim should have; undefined if it has them, or if a former set or pod of the same name owns it. */
export const owners = (holder: Holder, claim: Owned): References | undefined => {
  if (isOfNamesake(holder, claim)) return undefined
  const before = referencesOf(claim)
  const others = before.filter((reference) => !namesSet(holder, reference) && !namesPod(holder, reference))
  const after = isConflicting(holder, claim) ? none : wanted(holder)
  const ours = before.filter((reference) => !others.includes(reference))
  const isRight = ours.length === after.length && after.every(({ uid }) => ours.some((one) => controls(one, uid)))
  return isRight ? undefined : [...others, ...after]
}

const controls = ({ controller, uid }: OwnerReference, by: string): boolean => uid === by && controller === true
