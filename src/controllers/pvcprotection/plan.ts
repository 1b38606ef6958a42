/**
 * Decides about the finalizer of a claim: it is removed when the claim is being deleted and no pod uses it. A scheduled pod uses its claims even
 * after it has terminated, because its volumes may still be mounted; an unscheduled pod does not, because no kubelet starts a pod whose claim is
 * being deleted. Pure. Source: pkg/controller/volume/pvcprotection.
 */
import * as Finalizers from "../../kube/finalizers.ts"
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import type { PersistentVolumeClaim, Pod } from "../../kube/resources.ts"
import type { Index } from "../../layers/Cache.ts"

export const finalizer = "kubernetes.io/pvc-protection"

export type Plan =
  | { readonly _tag: "Nothing" }
  /** A pod uses the claim. */
  | { readonly _tag: "Keep" }
  /** No cached pod uses the claim: pods have to be listed from the server. */
  | { readonly _tag: "ListPods" }
  | { readonly _tag: "AddFinalizer"; readonly finalizers: ReadonlyArray<string> }
  | { readonly _tag: "RemoveFinalizer"; readonly finalizers: ReadonlyArray<string> }

/** Whether the claim is being deleted and still has the finalizer. */
export const isWaiting = (claim: PersistentVolumeClaim): boolean =>
  Finalizers.isDeleting(claim) && Finalizers.has(claim, finalizer)

/** Whether the finalizer may have to be added or removed. */
export const concerns = (claim: PersistentVolumeClaim): boolean =>
  Finalizers.isDeleting(claim) === Finalizers.has(claim, finalizer)

export interface Snapshot {
  readonly claim: PersistentVolumeClaim
  /** The cached pods that name the claim. */
  readonly cached: ReadonlyArray<Pod>
  /** The namespace's pods from the server; undefined if they were not listed. */
  readonly live: ReadonlyArray<Pod> | undefined
}

export const plan = ({ cached, claim, live }: Snapshot): Plan => {
  if (!concerns(claim)) return { _tag: "Nothing" }
  const names = Finalizers.of(claim)
  if (!Finalizers.isDeleting(claim)) return { _tag: "AddFinalizer", finalizers: Finalizers.add(names, finalizer) }
  if (cached.some((pod) => uses(pod, claim))) return { _tag: "Keep" }
  if (live === undefined) return { _tag: "ListPods" }
  return live.some((pod) => uses(pod, claim))
    ? { _tag: "Keep" }
    : { _tag: "RemoveFinalizer", finalizers: Finalizers.remove(names, finalizer) }
}

type Volume = NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number]

const none: ReadonlyArray<string> = []

/** The claim of a volume: the one that it names, or the one created for an ephemeral volume. */
const claimOf = (pod: Pod, { ephemeral, name, persistentVolumeClaim }: Volume): string | undefined =>
  persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${pod.metadata.name}-${name}`)

/** The distinct keys of the claims that the pod names, whether it uses them or not. */
export const claimsOf = (pod: Pod): ReadonlyArray<Key.Key> => {
  const { volumes = none } = pod.spec ?? {}
  if (volumes.length === 0) return none
  const names = (volumes as ReadonlyArray<Volume>).map((volume) => claimOf(pod, volume))
  return [...new Set(names)].flatMap((name) => (name === undefined ? none : [Key.make(pod.metadata.namespace, name)]))
}

/** Index value: the key of a claim. Holds scheduled pods only. */
export const byClaim: Index<Pod> = {
  name: "pvcprotection/claim",
  of: (pod) => (isScheduled(pod) ? claimsOf(pod) : none)
}

const isScheduled = ({ spec }: Pod): boolean => (spec?.nodeName ?? "") !== ""

export const uses = (pod: Pod, claim: PersistentVolumeClaim): boolean =>
  isScheduled(pod) &&
  (pod.spec?.volumes ?? []).some(
    (volume) =>
      volume.persistentVolumeClaim?.claimName === claim.metadata.name ||
      // The pod owns the claim of an ephemeral volume, which may be deleted before the pod once the kubelet has stopped the pod.
      (volume.ephemeral !== undefined &&
        !isStopped(pod) &&
        claimOf(pod, volume) === claim.metadata.name &&
        Owner.controlledBy(claim, pod.metadata.uid))
  )

const isStopped = ({ metadata }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0

/** The fields of a pod that these functions read, so that kept pods take little memory. */
export const trimmed = ({ metadata, spec }: Pod): Pod => {
  const { deletionGracePeriodSeconds: grace, deletionTimestamp, name, namespace, uid } = metadata
  const { nodeName, volumes } = spec ?? {}
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(grace === undefined ? {} : { deletionGracePeriodSeconds: grace })
    },
    spec: {
      containers: [],
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(volumes === undefined ? {} : { volumes })
    }
  }
}
