/**
 * Decides what happens to a claim: the finalizer is removed when the claim is being deleted and no pod uses it. A scheduled pod uses its claims even
 * after it has ended, because its volumes may still be mounted; an unscheduled one does not, because no kubelet starts a pod whose claim is being
 * deleted. Pure and total. Source: pkg/controller/volume/pvcprotection.
 */
import * as Finalizers from "../../kube/finalizers.ts"
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import type { PersistentVolumeClaim, Pod } from "../../kube/resources.ts"
import type { Index } from "../../layers/Cache.ts"

export const finalizer = "kubernetes.io/pvc-protection"

export type Plan =
  | { readonly _tag: "Nothing" }
  /** Some pod uses it. */
  | { readonly _tag: "Keep" }
  /** Nothing that the cache knows of uses it: the server is to be asked. */
  | { readonly _tag: "Ask" }
  | { readonly _tag: "Hold"; readonly finalizers: ReadonlyArray<string> }
  | { readonly _tag: "LetGo"; readonly finalizers: ReadonlyArray<string> }

/** Whether it is being deleted, and waits for us. */
export const isWaiting = (claim: PersistentVolumeClaim): boolean =>
  Finalizers.isDeleting(claim) && Finalizers.has(claim, finalizer)

/** Whether there is anything to do for it, or may be. */
export const concerns = (claim: PersistentVolumeClaim): boolean =>
  Finalizers.isDeleting(claim) === Finalizers.has(claim, finalizer)

/** `cached`: pods of the cache that may use it. `live`: those of the server, or of their namespace; undefined if it was not asked. */
export const plan = (
  claim: PersistentVolumeClaim,
  cached: ReadonlyArray<Pod>,
  live: ReadonlyArray<Pod> | undefined
): Plan => {
  if (!concerns(claim)) return { _tag: "Nothing" }
  const names = Finalizers.of(claim)
  if (!Finalizers.isDeleting(claim)) return { _tag: "Hold", finalizers: Finalizers.add(names, finalizer) }
  if (cached.some((pod) => keeps(pod, claim))) return { _tag: "Keep" }
  if (live === undefined) return { _tag: "Ask" }
  return live.some((pod) => keeps(pod, claim))
    ? { _tag: "Keep" }
    : { _tag: "LetGo", finalizers: Finalizers.remove(names, finalizer) }
}

type Volume = NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number]

const none: ReadonlyArray<string> = []

/** The claim of a volume: the one that it names, or the one that was made for it. */
const claimOf = (pod: Pod, { ephemeral, name, persistentVolumeClaim }: Volume): string | undefined =>
  persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${pod.metadata.name}-${name}`)

/** Keys of the claims that the pod names, whether it keeps them or not; none twice. */
export const claimsOf = (pod: Pod): ReadonlyArray<Key.Key> => {
  const { volumes = none } = pod.spec ?? {}
  if (volumes.length === 0) return none
  const names = (volumes as ReadonlyArray<Volume>).map((volume) => claimOf(pod, volume))
  return [...new Set(names)].flatMap((name) => (name === undefined ? none : [Key.make(pod.metadata.namespace, name)]))
}

/** Value: the key of a claim; of pods that are on a node. */
export const byClaim: Index<Pod> = {
  name: "pvcprotection/claim",
  of: (pod) => (isPlaced(pod) ? claimsOf(pod) : none)
}

const isPlaced = ({ spec }: Pod): boolean => (spec?.nodeName ?? "") !== ""

export const keeps = (pod: Pod, claim: PersistentVolumeClaim): boolean =>
  isPlaced(pod) &&
  (pod.spec?.volumes ?? []).some(
    (volume) =>
      volume.persistentVolumeClaim?.claimName === claim.metadata.name ||
      // What was made for the volume is the pod's own; once the kubelet is done with the pod it may go before it.
      (volume.ephemeral !== undefined &&
        !isShutDown(pod) &&
        claimOf(pod, volume) === claim.metadata.name &&
        Owner.controlledBy(claim, pod.metadata.uid))
  )

const isShutDown = ({ metadata }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0

/** What the questions above need of a pod, and no more: to be kept for a while. */
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
