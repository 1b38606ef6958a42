/** Kinds about volumes: `storage.k8s.io`. */
import type {
  V1CSIDriver,
  V1CSINode,
  V1CSIStorageCapacity,
  V1StorageClass,
  V1VolumeAttachment,
  V1VolumeAttributesClass
} from "@kubernetes/client-node"
import type { Stored } from "../Meta.ts"
import * as Resource from "../Resource.ts"

const storage = { group: "storage.k8s.io", version: "v1" } as const

/** How volumes for claims are provisioned. Cluster-scoped. */
export interface StorageClass extends Stored<V1StorageClass> {}
export const StorageClass = /* @__PURE__ */ Resource.make<StorageClass>()({
  ...storage,
  kind: "StorageClass",
  plural: "storageclasses",
  scope: "Cluster"
})

/** A volume that is, or is to be, attached to a node. Cluster-scoped. */
export interface VolumeAttachment extends Stored<V1VolumeAttachment> {}
export const VolumeAttachment = /* @__PURE__ */ Resource.make<VolumeAttachment>()({
  ...storage,
  kind: "VolumeAttachment",
  plural: "volumeattachments",
  scope: "Cluster"
})

/** Properties of volumes that can change after they are provisioned. Cluster-scoped. */
export interface VolumeAttributesClass extends Stored<V1VolumeAttributesClass> {}
export const VolumeAttributesClass = /* @__PURE__ */ Resource.make<VolumeAttributesClass>()({
  ...storage,
  kind: "VolumeAttributesClass",
  plural: "volumeattributesclasses",
  scope: "Cluster"
})

/** What a CSI driver can do. Cluster-scoped. */
export interface CSIDriver extends Stored<V1CSIDriver> {}
export const CSIDriver = /* @__PURE__ */ Resource.make<CSIDriver>()({
  ...storage,
  kind: "CSIDriver",
  plural: "csidrivers",
  scope: "Cluster"
})

/** The CSI drivers of a node; it has the name of the node. Cluster-scoped. */
export interface CSINode extends Stored<V1CSINode> {}
export const CSINode = /* @__PURE__ */ Resource.make<CSINode>()({
  ...storage,
  kind: "CSINode",
  plural: "csinodes",
  scope: "Cluster"
})

/** How much storage of a class there is in a part of the cluster. */
export interface CSIStorageCapacity extends Stored<V1CSIStorageCapacity> {}
export const CSIStorageCapacity = /* @__PURE__ */ Resource.make<CSIStorageCapacity>()({
  ...storage,
  kind: "CSIStorageCapacity",
  plural: "csistoragecapacities"
})
