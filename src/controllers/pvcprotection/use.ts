/**
 * Which pods keep a claim from going. A pod that is on a node does, also when it has ended, because its volumes may still be mounted there; one that
 * is on none does not, because no kubelet starts a pod whose claim is being deleted. Source: kube-controller-manager's pvc-protection.
 */
import * as Key from "../../kube/Key.ts"
import * as Owner from "../../kube/Owner.ts"
import type { PersistentVolumeClaim, Pod } from "../../kube/resources.ts"
import type { Index } from "../../layers/Cache.ts"

type Volume = NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number]

const none: ReadonlyArray<string> = []

/** The claim of a volume: the one that it names, or the one that was made for it. */
const claimOf = (pod: Pod, { ephemeral, name, persistentVolumeClaim }: Volume): string | undefined =>
  persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${pod.metadata.name}-${name}`)

/** Keys of the claims that the pod names, whether it keeps them or not; none twice. */
export const claims = (pod: Pod): ReadonlyArray<Key.Key> => {
  const { volumes = none } = pod.spec ?? {}
  if (volumes.length === 0) return none
  const names = (volumes as ReadonlyArray<Volume>).map((volume) => claimOf(pod, volume))
  return [...new Set(names)].flatMap((name) => (name === undefined ? none : [Key.make(pod.metadata.namespace, name)]))
}

/** Value: the key of a claim; of pods that are on a node. */
export const byClaim: Index<Pod> = {
  name: "pvcprotection/claim",
  of: (pod) => (isPlaced(pod) ? claims(pod) : none)
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
