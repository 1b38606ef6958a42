/** Kinds about nodes, where pods run and with which devices: `coordination.k8s.io`, `node.k8s.io`, `resource.k8s.io`, `scheduling.k8s.io`. */
import type {
  V1DeviceClass,
  V1Lease,
  V1PriorityClass,
  ResourceV1ResourceClaim,
  V1ResourceClaimTemplate,
  V1ResourceSlice,
  V1RuntimeClass
} from "@kubernetes/client-node"
import type { Stored } from "../Meta.ts"
import * as Resource from "../Resource.ts"

const dynamicResources = { group: "resource.k8s.io", version: "v1" } as const

/** A lease that expires unless it is renewed: for leader election and the heartbeats of nodes. */
export interface Lease extends Stored<V1Lease> {}
export const Lease = /* @__PURE__ */ Resource.make<Lease>()({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases"
})

/** The priority of pods that name it. Cluster-scoped. */
export interface PriorityClass extends Stored<V1PriorityClass> {}
export const PriorityClass = /* @__PURE__ */ Resource.make<PriorityClass>()({
  group: "scheduling.k8s.io",
  version: "v1",
  kind: "PriorityClass",
  plural: "priorityclasses",
  scope: "Cluster"
})

/** The container runtime of pods that name it. Cluster-scoped. */
export interface RuntimeClass extends Stored<V1RuntimeClass> {}
export const RuntimeClass = /* @__PURE__ */ Resource.make<RuntimeClass>()({
  group: "node.k8s.io",
  version: "v1",
  kind: "RuntimeClass",
  plural: "runtimeclasses",
  scope: "Cluster"
})

/** Devices that claims may request together, and their configuration. Cluster-scoped. */
export interface DeviceClass extends Stored<V1DeviceClass> {}
export const DeviceClass = /* @__PURE__ */ Resource.make<DeviceClass>()({
  ...dynamicResources,
  kind: "DeviceClass",
  plural: "deviceclasses",
  scope: "Cluster"
})

/** A request for devices, which pods name. */
export interface ResourceClaim extends Stored<ResourceV1ResourceClaim> {}
export const ResourceClaim = /* @__PURE__ */ Resource.make<ResourceClaim>()({
  ...dynamicResources,
  kind: "ResourceClaim",
  plural: "resourceclaims"
})

/** A template of the ResourceClaims that are made for single pods. */
export interface ResourceClaimTemplate extends Stored<V1ResourceClaimTemplate> {}
export const ResourceClaimTemplate = /* @__PURE__ */ Resource.make<ResourceClaimTemplate>()({
  ...dynamicResources,
  kind: "ResourceClaimTemplate",
  plural: "resourceclaimtemplates"
})

/** Devices that a driver offers, usually those of one node. Cluster-scoped. */
export interface ResourceSlice extends Stored<V1ResourceSlice> {}
export const ResourceSlice = /* @__PURE__ */ Resource.make<ResourceSlice>()({
  ...dynamicResources,
  kind: "ResourceSlice",
  plural: "resourceslices",
  scope: "Cluster"
})
