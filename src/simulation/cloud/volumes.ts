/**
 * The simulated storage: it provisions volumes and binds them to claims, as an ordinary client. In a cluster that is the work of
 * kube-controller-manager and of a storage driver. `binding.ts` decides; each decision is one or two writes, whose events ask for the next
 * decision. A volume that two claims want at once goes to the first write, because writes name the version that was read.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Patch from "../../kube/Patch.ts"
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../kube/resources.ts"
import * as Resource from "../../kube/Resource.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import { Cache } from "../../layers/Cache.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import * as CallFailure from "../callFailure.ts"
import * as Binding from "./binding.ts"

export const component = "persistentvolume-controller"

export interface Options {
  /** Keys of claims, which have a namespace, and of volumes, which have none. */
  readonly queue: KeyedQueue
  readonly events: EventSink["event"]
}

type Client = KubeClient["Service"]

const standard = {
  apiVersion: Resource.apiVersion(StorageClass),
  kind: StorageClass.kind,
  metadata: { name: "standard", annotations: { [Binding.annotations.isDefaultClass]: "true" } },
  provisioner: Binding.provisioner,
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
  allowVolumeExpansion: true
}

/** Creates the class `standard` as the default one, unless the cluster has a default class. */
export const ensureDefaultClass = Effect.fnUntraced(function* (client: Client) {
  const { items } = yield* client.list(StorageClass)
  if (Binding.defaultClass(items) !== undefined) return
  yield* client.create(StorageClass, standard).pipe(
    Effect.catchIf(
      (error) => ApiError.hasReason(error, "AlreadyExists"),
      () => Effect.void
    )
  )
})

/** Runs until interrupted. */
export const run = Effect.fnUntraced(function* ({ events, queue }: Options) {
  const cache = yield* Cache
  const client = yield* KubeClient
  const claims = yield* cache.subscribe(PersistentVolumeClaim)
  const volumes = yield* cache.subscribe(PersistentVolume)
  const classes = yield* cache.subscribe(StorageClass)
  const stores: Binding.Stores = { claims: claims.store, volumes: volumes.store, classes: classes.store }
  /** Unbound claims, by key, and the last event about what they wait for. */
  const waiting = new Map<Key.Key, string>()
  const retryWaiting = (): void => {
    for (const key of waiting.keys()) queue.addUnsafe(key)
  }

  yield* claims.onDeltas((deltas) => {
    for (const { _tag, object } of deltas) {
      if (_tag === "Deleted") waiting.delete(Key.of(object))
      else queue.addUnsafe(Key.of(object))
      const volume = object.spec?.volumeName ?? ""
      if (volume !== "") queue.addUnsafe(volume)
    }
  })
  yield* volumes.onDeltas((deltas) => {
    for (const { _tag, object } of deltas) {
      if (_tag !== "Deleted") queue.addUnsafe(Key.of(object))
      const { claimRef } = object.spec ?? {}
      if (claimRef === undefined) retryWaiting()
      else queue.addUnsafe(Key.make(claimRef.namespace, claimRef.name ?? ""))
    }
  })
  yield* classes.onDeltas(retryWaiting)

  const syncClaim = Effect.fnUntraced(function* (key: Key.Key, claim: PersistentVolumeClaim) {
    const action = Binding.nextForClaim(claim, stores)
    if (action._tag !== "Wait") {
      if (action._tag === "None" && claim.status?.phase !== "Bound") waiting.set(key, waiting.get(key) ?? "")
      else waiting.delete(key)
      return yield* apply(client, events, claim, action)
    }
    if (waiting.get(key) === action.message) return undefined
    waiting.set(key, action.message)
    return yield* events(claim, action.type, action.reason, action.message)
  })
  const reconcile = (key: Key.Key): Effect.Effect<void, ApiError.ApiError> => {
    const isClaim = Key.parse(key).namespace !== undefined
    const claim = isClaim ? stores.claims.get(key) : undefined
    const volume = isClaim ? undefined : stores.volumes.get(key)
    if (claim !== undefined) return syncClaim(key, claim)
    return volume === undefined ? Effect.void : applyToVolume(client, volume, Binding.nextForVolume(volume, stores))
  }

  yield* claims.synced
  yield* volumes.synced
  yield* classes.synced
  return yield* Reconcile.run(queue, {
    concurrency: 1,
    timeout: "none",
    reconcile: (key) => CallFailure.logFailure(reconcile(key))
  })
})

const apply = Effect.fnUntraced(function* (
  client: Client,
  events: EventSink["event"],
  claim: PersistentVolumeClaim,
  action: Exclude<Binding.ClaimAction, { readonly _tag: "Wait" }>
) {
  const { name, namespace, resourceVersion, uid } = claim.metadata
  const target = { namespace, name }
  const seen = { resourceVersion, uid }
  switch (action._tag) {
    case "None":
      return
    case "SetClass":
      yield* client.patch(
        PersistentVolumeClaim,
        target,
        Patch.merge({ metadata: seen, spec: { storageClassName: action.name } })
      )
      return
    case "Provision": {
      yield* client.create(PersistentVolume, provisioned(claim, action)).pipe(
        Effect.catchIf(
          (error) => ApiError.hasReason(error, "AlreadyExists"),
          () => Effect.void
        )
      )
      const message = `Successfully provisioned volume ${action.volumeName}`
      return yield* events(claim, "Normal", "ProvisioningSucceeded", message)
    }
    case "Reserve": {
      const { metadata } = action.volume
      const body = {
        metadata: {
          resourceVersion: metadata.resourceVersion,
          annotations: { [Binding.annotations.boundByController]: "yes" }
        },
        spec: { claimRef: referenceTo(claim) }
      }
      yield* client.patch(PersistentVolume, { name: metadata.name }, Patch.merge(body))
      return
    }
    case "Bind": {
      const { metadata, spec } = action.volume
      const bound = {
        metadata: {
          ...seen,
          annotations: { [Binding.annotations.bindCompleted]: "yes", [Binding.annotations.boundByController]: "yes" }
        },
        spec: { volumeName: metadata.name }
      }
      yield* client.patch(PersistentVolumeClaim, target, Patch.merge(bound))
      const status = { phase: "Bound", accessModes: spec?.accessModes, capacity: spec?.capacity }
      yield* client.patch(PersistentVolumeClaim, { ...target, subresource: "status" }, Patch.merge({ status }))
      return
    }
    case "Expand": {
      const capacity = { storage: action.storage }
      yield* client.patch(PersistentVolume, { name: action.volume.metadata.name }, Patch.merge({ spec: { capacity } }))
      yield* client.patch(
        PersistentVolumeClaim,
        { ...target, subresource: "status" },
        Patch.merge({ status: { capacity } })
      )
      return
    }
    case "Lose": {
      yield* client.patch(
        PersistentVolumeClaim,
        { ...target, subresource: "status" },
        Patch.merge({ metadata: seen, status: { phase: "Lost" } })
      )
      return yield* events(
        claim,
        "Warning",
        "ClaimLost",
        "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
      )
    }
  }
})

const referenceTo = ({ metadata }: PersistentVolumeClaim) => ({
  apiVersion: "v1",
  kind: PersistentVolumeClaim.kind,
  namespace: metadata.namespace ?? "",
  name: metadata.name,
  uid: metadata.uid ?? ""
})

const provisioned = (
  claim: PersistentVolumeClaim,
  { class: own, volumeName }: Extract<Binding.ClaimAction, { readonly _tag: "Provision" }>
): PersistentVolume => ({
  apiVersion: "v1",
  kind: PersistentVolume.kind,
  metadata: { name: volumeName, annotations: { [Binding.annotations.provisionedBy]: Binding.provisioner } },
  spec: {
    accessModes: claim.spec?.accessModes ?? [],
    capacity: { storage: claim.spec?.resources?.requests?.["storage"] ?? "0" },
    claimRef: referenceTo(claim),
    csi: { driver: "volumes.simulation", volumeHandle: volumeName },
    persistentVolumeReclaimPolicy: own.reclaimPolicy ?? "Delete",
    storageClassName: own.metadata.name,
    volumeMode: claim.spec?.volumeMode ?? "Filesystem"
  }
})

const applyToVolume = (client: Client, volume: PersistentVolume, action: Binding.VolumeAction) => {
  const { name, resourceVersion, uid } = volume.metadata
  switch (action._tag) {
    case "None":
      return Effect.void
    case "Delete": {
      const preconditions = uid === undefined ? {} : { uid }
      return Effect.asVoid(client.delete(PersistentVolume, { name }, { preconditions }))
    }
    case "Phase": {
      const body = { metadata: { resourceVersion }, status: { phase: action.phase } }
      return Effect.asVoid(client.patch(PersistentVolume, { name, subresource: "status" }, Patch.merge(body)))
    }
  }
}
