/**
 * Definitions of resources that the embedded cluster stores, validates and prints, and on which none of its components acts: devices, runtimes, address
 * ranges, priority levels, certificate requests, mutating admission policies. Defaults and validation are looked up by group and kind.
 */
import * as columns from "../printers/infrastructureColumns.ts"
import * as creation from "./creation.ts"
import * as ResourceDefinition from "./ResourceDefinition.ts"

const admission = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  categories: ["api-extensions"],
  namespaced: false,
  generation: true,
  unconditionalUpdate: false
} as const
const devices = { group: "resource.k8s.io", version: "v1", returnsDeleted: true } as const
const flowControl = {
  group: "flowcontrol.apiserver.k8s.io",
  version: "v1",
  namespaced: false,
  generation: true,
  subresources: ["status"]
} as const
const networking = { group: "networking.k8s.io", version: "v1", namespaced: false } as const
const storage = { group: "storage.k8s.io", version: "v1" } as const

export const infrastructure: ReadonlyArray<ResourceDefinition.ResourceDefinition> = [
  // No component of the embedded cluster has a health check, so there are none.
  ResourceDefinition.make({
    group: "",
    version: "v1",
    kind: "ComponentStatus",
    columns: columns.componentStatus,
    plural: "componentstatuses",
    shortNames: ["cs"],
    namespaced: false,
    verbs: ["get", "list"],
    deprecation: "v1 ComponentStatus is deprecated in v1.19+"
  }),
  ResourceDefinition.make({
    ...admission,
    kind: "MutatingAdmissionPolicy",
    columns: columns.mutatingPolicy,
    plural: "mutatingadmissionpolicies"
  }),
  ResourceDefinition.make({
    ...admission,
    kind: "MutatingAdmissionPolicyBinding",
    columns: columns.mutatingPolicyBinding,
    plural: "mutatingadmissionpolicybindings"
  }),
  ResourceDefinition.make({
    group: "certificates.k8s.io",
    version: "v1",
    kind: "CertificateSigningRequest",
    columns: columns.signingRequest,
    plural: "certificatesigningrequests",
    shortNames: ["csr"],
    namespaced: false,
    subresources: ["status", "approval"],
    onCreate: creation.signingRequest,
    onUpdate: creation.signingRequestUpdate
  }),
  ResourceDefinition.make({
    ...flowControl,
    kind: "FlowSchema",
    columns: columns.flowSchema,
    plural: "flowschemas"
  }),
  ResourceDefinition.make({
    ...flowControl,
    kind: "PriorityLevelConfiguration",
    columns: columns.priorityLevel,
    plural: "prioritylevelconfigurations"
  }),
  ResourceDefinition.make({
    ...networking,
    kind: "IPAddress",
    columns: columns.ipAddress,
    plural: "ipaddresses",
    shortNames: ["ip"]
  }),
  ResourceDefinition.make({
    ...networking,
    kind: "ServiceCIDR",
    columns: columns.serviceCidr,
    plural: "servicecidrs",
    subresources: ["status"]
  }),
  ResourceDefinition.make({
    group: "node.k8s.io",
    version: "v1",
    kind: "RuntimeClass",
    columns: columns.runtimeClass,
    plural: "runtimeclasses",
    namespaced: false,
    unconditionalUpdate: false,
    createOnUpdate: true
  }),
  ResourceDefinition.make({
    ...devices,
    kind: "DeviceClass",
    plural: "deviceclasses",
    namespaced: false,
    generation: true
  }),
  ResourceDefinition.make({
    ...devices,
    kind: "ResourceClaim",
    columns: columns.resourceClaim,
    plural: "resourceclaims",
    subresources: ["status"]
  }),
  ResourceDefinition.make({ ...devices, kind: "ResourceClaimTemplate", plural: "resourceclaimtemplates" }),
  ResourceDefinition.make({
    ...devices,
    kind: "ResourceSlice",
    columns: columns.resourceSlice,
    plural: "resourceslices",
    namespaced: false,
    generation: true
  }),
  ResourceDefinition.make({
    ...storage,
    kind: "CSIStorageCapacity",
    columns: columns.storageCapacity,
    plural: "csistoragecapacities",
    unconditionalUpdate: false
  }),
  ResourceDefinition.make({
    ...storage,
    kind: "VolumeAttributesClass",
    columns: columns.volumeAttributesClass,
    plural: "volumeattributesclasses",
    shortNames: ["vac"],
    namespaced: false,
    returnsDeleted: true
  })
]
