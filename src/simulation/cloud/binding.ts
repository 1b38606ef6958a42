/**
 * Which volume a claim gets, and what becomes of a volume whose claim is gone: total functions of a claim or a volume and of the stores. A
 * claim gets the smallest suitable volume that exists, else a new one if its class is of the simulated provisioner; a class that waits for
 * the first consumer needs the scheduler's choice of a node first. Source: pkg/controller/volume/persistentvolume: syncClaim, syncVolume.
 */
import * as Result from "effect/Result"
import * as Key from "../../kube/Key.ts"
import * as Quantity from "../../kube/quantity.ts"
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Readable } from "../../streams/store/Store.ts"

/** The provisioner of the simulated storage, in StorageClasses. */
export const provisioner = "simulation/volumes"

export const annotations = {
  bindCompleted: "pv.kubernetes.io/bind-completed",
  boundByController: "pv.kubernetes.io/bound-by-controller",
  provisionedBy: "pv.kubernetes.io/provisioned-by",
  isDefaultClass: "storageclass.kubernetes.io/is-default-class",
  /** The node that the scheduler has chosen for the first pod that uses the claim. */
  selectedNode: "volume.kubernetes.io/selected-node"
} as const

export interface Stores {
  readonly claims: Readable<PersistentVolumeClaim>
  readonly volumes: Readable<PersistentVolume>
  readonly classes: Readable<StorageClass>
}

export type ClaimAction =
  | { readonly _tag: "None" }
  /** Nothing can be done at present; the event says what the claim waits for. */
  | { readonly _tag: "Wait"; readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string }
  /** Sets the default class, which was created after the claim. */
  | { readonly _tag: "SetClass"; readonly name: string }
  | { readonly _tag: "Provision"; readonly class: StorageClass; readonly volumeName: string }
  /** Assigns the volume to the claim, in the volume. */
  | { readonly _tag: "Reserve"; readonly volume: PersistentVolume }
  /** Completes the binding, in the claim. */
  | { readonly _tag: "Bind"; readonly volume: PersistentVolume }
  /** Enlarges a provisioned volume, as the claim requests. */
  | { readonly _tag: "Expand"; readonly volume: PersistentVolume; readonly storage: string }
  /** The volume of a bound claim is gone. */
  | { readonly _tag: "Lose" }

const none: ClaimAction = { _tag: "None" }

const wait = (type: "Normal" | "Warning", reason: string, message: string): ClaimAction => ({
  _tag: "Wait",
  type,
  reason,
  message
})

export const nextForClaim = (claim: PersistentVolumeClaim, stores: Stores): ClaimAction => {
  if (claim.metadata.deletionTimestamp !== undefined) return none
  const volumeName = claim.spec?.volumeName ?? ""
  if (volumeName !== "") {
    const volume = stores.volumes.get(volumeName)
    if (volume !== undefined) return bindTo(claim, volume, stores)
    return claim.status?.phase === "Bound" ? { _tag: "Lose" } : none
  }
  const own = stores.classes.get(claim.spec?.storageClassName ?? "")
  const isDelayed =
    own?.volumeBindingMode === "WaitForFirstConsumer" &&
    claim.metadata.annotations?.[annotations.selectedNode] === undefined
  const volume = bestVolume(claim, isDelayed, stores)
  if (volume !== undefined) return bindTo(claim, volume, stores)
  if (isDelayed)
    return wait("Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
  return withoutVolume(claim, own, stores)
}

const withoutVolume = (
  claim: PersistentVolumeClaim,
  own: StorageClass | undefined,
  { classes }: Stores
): ClaimAction => {
  const className = claim.spec?.storageClassName
  if (className === undefined) {
    const found = defaultClass(classes.list())
    if (found !== undefined) return { _tag: "SetClass", name: found.metadata.name }
  }
  if (className === undefined || className === "")
    return wait("Normal", "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
  if (own === undefined)
    return wait("Warning", "ProvisioningFailed", `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`)
  if (own.provisioner !== provisioner) {
    if (own.provisioner === "kubernetes.io/no-provisioner") return none
    const message = `Waiting for a volume to be created either by the external provisioner '${own.provisioner}' or manually by the system administrator.`
    return wait("Normal", "ExternalProvisioning", message)
  }
  if (claim.spec?.selector !== undefined)
    return wait("Warning", "ProvisioningFailed", "claim.Spec.Selector is not supported for dynamic provisioning")
  return { _tag: "Provision", class: own, volumeName: `pvc-${claim.metadata.uid ?? ""}` }
}

/** The newest default class; of equally old ones the first by name. Source: pkg/volume/util: GetDefaultClass. */
export const defaultClass = (classes: ReadonlyArray<StorageClass>): StorageClass | undefined =>
  classes
    .filter(({ metadata }) => metadata.annotations?.[annotations.isDefaultClass] === "true")
    .sort((a, b) => {
      const [x, y] = [String(a.metadata.creationTimestamp), String(b.metadata.creationTimestamp)]
      return x === y ? (a.metadata.name < b.metadata.name ? -1 : 1) : x > y ? -1 : 1
    })[0]

const bindTo = (claim: PersistentVolumeClaim, volume: PersistentVolume, { classes }: Stores): ClaimAction => {
  const { claimRef } = volume.spec ?? {}
  if (claimRef === undefined || (isNamed(claimRef, claim) && (claimRef.uid ?? "") === ""))
    return volume.metadata.deletionTimestamp === undefined ? { _tag: "Reserve", volume } : none
  // The volume belongs to another claim; this one waits for it.
  if (!isNamed(claimRef, claim) || claimRef.uid !== claim.metadata.uid) return none
  const { bindCompleted } = annotations
  const isBound =
    claim.spec?.volumeName === volume.metadata.name &&
    claim.metadata.annotations?.[bindCompleted] === "yes" &&
    claim.status?.phase === "Bound"
  if (!isBound) return { _tag: "Bind", volume }
  const storage = claim.spec?.resources?.requests?.["storage"]
  const canGrow = classes.get(claim.spec?.storageClassName ?? "")?.allowVolumeExpansion === true && isOurs(volume)
  return canGrow && storage !== undefined && Quantity.compare(storage, claim.status?.capacity?.["storage"]) === 1
    ? { _tag: "Expand", volume, storage }
    : none
}

type ClaimRef = NonNullable<NonNullable<PersistentVolume["spec"]>["claimRef"]>

const isNamed = ({ name, namespace }: ClaimRef, { metadata }: PersistentVolumeClaim): boolean =>
  name === metadata.name && namespace === metadata.namespace

/** The volume that is reserved for the claim, else the smallest free one that suits it. */
const bestVolume = (
  claim: PersistentVolumeClaim,
  onlyReserved: boolean,
  { volumes }: Stores
): PersistentVolume | undefined => {
  let best: PersistentVolume | undefined
  for (const volume of volumes.list()) {
    const { claimRef } = volume.spec ?? {}
    if (claimRef !== undefined && isNamed(claimRef, claim)) {
      if ((claimRef.uid ?? "") === "" || claimRef.uid === claim.metadata.uid) return volume
      continue
    }
    if (onlyReserved || claimRef !== undefined || !isSuitable(volume, claim)) continue
    if (best === undefined || Quantity.compare(sizeOf(volume), sizeOf(best)) === -1) best = volume
  }
  return best
}

const sizeOf = ({ spec }: PersistentVolume): string | undefined => spec?.capacity?.["storage"]

const isSuitable = (volume: PersistentVolume, { spec }: PersistentVolumeClaim): boolean => {
  const own = volume.spec
  if (volume.metadata.deletionTimestamp !== undefined || own === undefined) return false
  if ((own.storageClassName ?? "") !== (spec?.storageClassName ?? "")) return false
  if ((own.volumeMode ?? "Filesystem") !== (spec?.volumeMode ?? "Filesystem")) return false
  if (!(spec?.accessModes ?? []).every((mode) => own.accessModes?.includes(mode) === true)) return false
  const order = Quantity.compare(sizeOf(volume), spec?.resources?.requests?.["storage"])
  if (order === undefined || order < 0) return false
  if (spec?.selector === undefined) return true
  const selector = Selector.fromSpec(spec.selector)
  return Result.isSuccess(selector) && Selector.matchesLabels(selector.success, volume.metadata.labels)
}

const isOurs = ({ metadata }: PersistentVolume): boolean =>
  metadata.annotations?.[annotations.provisionedBy] === provisioner

export type VolumeAction =
  | { readonly _tag: "None" }
  | { readonly _tag: "Phase"; readonly phase: "Available" | "Bound" | "Released" }
  | { readonly _tag: "Delete" }

/** A volume that was not provisioned here is only released: nothing here can delete its storage. */
export const nextForVolume = (volume: PersistentVolume, { claims }: Stores): VolumeAction => {
  if (volume.metadata.deletionTimestamp !== undefined) return { _tag: "None" }
  const { claimRef, persistentVolumeReclaimPolicy } = volume.spec ?? {}
  const phase = (phase: "Available" | "Bound" | "Released"): VolumeAction =>
    volume.status?.phase === phase ? { _tag: "None" } : { _tag: "Phase", phase }
  if (claimRef === undefined || (claimRef.uid ?? "") === "") return phase("Available")
  const claim = claims.get(Key.make(claimRef.namespace, claimRef.name ?? ""))
  if (claim?.metadata.uid === claimRef.uid)
    return claim?.spec?.volumeName === volume.metadata.name ? phase("Bound") : { _tag: "None" }
  return persistentVolumeReclaimPolicy === "Delete" && isOurs(volume) ? { _tag: "Delete" } : phase("Released")
}
