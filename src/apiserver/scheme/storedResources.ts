/**
 * Definitions of built-in resources beyond those of `resources.ts`: workloads, volumes, policy, RBAC, networking, webhooks.
 * Defaults and validation are looked up by group and kind.
 */
import * as ResourceDefinition from "./ResourceDefinition.ts"
import * as autoscaling from "./autoscaling.ts"
import * as creation from "./creation.ts"
import * as workloads from "./defaults/workloads.ts"
import * as groupColumns from "../printers/groupColumns.ts"
import * as columns from "../printers/storedColumns.ts"
import * as selectable from "./selectable.ts"

const core = { group: "", version: "v1" } as const
const apps = { group: "apps", version: "v1", categories: ["all"] } as const
const batch = { group: "batch", version: "v1", categories: ["all"] } as const
const rbac = { group: "rbac.authorization.k8s.io", version: "v1", nameRule: "path", createOnUpdate: true } as const
const storage = { group: "storage.k8s.io", version: "v1", namespaced: false, returnsDeleted: true } as const
const networking = { group: "networking.k8s.io", version: "v1" } as const
const admission = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  categories: ["api-extensions"],
  namespaced: false,
  generation: "content",
  unconditionalUpdate: false
} as const
const status: ReadonlyArray<string> = ["status"]
const autoscaler = {
  group: "autoscaling",
  kind: "HorizontalPodAutoscaler",
  columns: groupColumns.autoscaler,
  plural: "horizontalpodautoscalers",
  shortNames: ["hpa"],
  categories: ["all"],
  subresources: status
} as const

export const stored: ReadonlyArray<ResourceDefinition.ResourceDefinition> = [
  ResourceDefinition.make({
    ...core,
    kind: "PersistentVolumeClaim",
    columns: columns.persistentVolumeClaim,
    plural: "persistentvolumeclaims",
    shortNames: ["pvc"],
    returnsDeleted: true,
    subresources: status
  }),
  ResourceDefinition.make({
    ...core,
    kind: "PersistentVolume",
    columns: columns.persistentVolume,
    plural: "persistentvolumes",
    shortNames: ["pv"],
    returnsDeleted: true,
    namespaced: false,
    subresources: status,
    onUpdate: creation.volumePhase
  }),
  ResourceDefinition.make({
    ...core,
    kind: "ReplicationController",
    columns: columns.replicationController,
    plural: "replicationcontrollers",
    orphans: true,
    shortNames: ["rc"],
    categories: ["all"],
    subresources: ["status", "scale"],
    returnsDeleted: true,
    fields: selectable.replicated,
    generation: true
  }),
  ResourceDefinition.make({
    ...core,
    kind: "PodTemplate",
    columns: groupColumns.podTemplate,
    plural: "podtemplates",
    returnsDeleted: true
  }),
  ResourceDefinition.make({
    ...core,
    kind: "ResourceQuota",
    columns: groupColumns.resourceQuota,
    plural: "resourcequotas",
    shortNames: ["quota"],
    subresources: status,
    returnsDeleted: true
  }),
  ResourceDefinition.make({
    ...core,
    kind: "LimitRange",
    columns: groupColumns.dated,
    plural: "limitranges",
    shortNames: ["limits"],
    createOnUpdate: true
  }),
  ResourceDefinition.make({
    ...apps,
    kind: "StatefulSet",
    columns: columns.statefulSet,
    plural: "statefulsets",
    shortNames: ["sts"],
    subresources: ["status", "scale"],
    generation: true
  }),
  ResourceDefinition.make({
    ...apps,
    kind: "DaemonSet",
    columns: columns.daemonSet,
    plural: "daemonsets",
    shortNames: ["ds"],
    subresources: status,
    generation: true,
    onUpdate: workloads.daemonSetUpdate
  }),
  ResourceDefinition.make({
    ...batch,
    kind: "Job",
    columns: columns.job,
    plural: "jobs",
    orphans: true,
    subresources: status,
    fields: selectable.job,
    generation: true
  }),
  ResourceDefinition.make({
    ...batch,
    kind: "CronJob",
    columns: columns.cronJob,
    plural: "cronjobs",
    shortNames: ["cj"],
    subresources: status,
    generation: true
  }),
  ResourceDefinition.make({
    group: "discovery.k8s.io",
    version: "v1",
    kind: "EndpointSlice",
    columns: groupColumns.endpointSlice,
    plural: "endpointslices",
    generation: "content"
  }),
  ResourceDefinition.make({
    group: "policy",
    version: "v1",
    kind: "PodDisruptionBudget",
    columns: columns.disruptionBudget,
    plural: "poddisruptionbudgets",
    shortNames: ["pdb"],
    subresources: status,
    unconditionalUpdate: false,
    generation: true
  }),
  ResourceDefinition.make({ ...autoscaler, version: "v2" }),
  ResourceDefinition.make({ ...autoscaler, version: "v1", conversion: autoscaling.conversion }),
  ResourceDefinition.make({
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    columns: groupColumns.dated,
    plural: "customresourcedefinitions",
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    namespaced: false,
    subresources: status,
    unconditionalUpdate: false,
    generation: true
  }),
  ResourceDefinition.make({
    group: "scheduling.k8s.io",
    version: "v1",
    kind: "PriorityClass",
    columns: groupColumns.priorityClass,
    plural: "priorityclasses",
    shortNames: ["pc"],
    namespaced: false,
    generation: "content"
  }),
  ResourceDefinition.make({
    ...storage,
    kind: "StorageClass",
    columns: columns.storageClass,
    plural: "storageclasses",
    shortNames: ["sc"]
  }),
  ResourceDefinition.make({
    ...storage,
    kind: "CSIDriver",
    columns: groupColumns.csiDriver,
    plural: "csidrivers",
    unconditionalUpdate: false,
    generation: true
  }),
  ResourceDefinition.make({
    ...storage,
    kind: "CSINode",
    columns: groupColumns.csiNode,
    plural: "csinodes",
    unconditionalUpdate: false
  }),
  ResourceDefinition.make({
    ...storage,
    kind: "VolumeAttachment",
    columns: groupColumns.volumeAttachment,
    plural: "volumeattachments",
    subresources: status,
    unconditionalUpdate: false
  }),
  ResourceDefinition.make({
    ...networking,
    kind: "Ingress",
    columns: groupColumns.ingress,
    plural: "ingresses",
    shortNames: ["ing"],
    subresources: status,
    generation: true
  }),
  ResourceDefinition.make({
    ...networking,
    kind: "NetworkPolicy",
    columns: groupColumns.networkPolicy,
    plural: "networkpolicies",
    shortNames: ["netpol"],
    generation: true
  }),
  ResourceDefinition.make({
    ...networking,
    kind: "IngressClass",
    columns: groupColumns.ingressClass,
    plural: "ingressclasses",
    namespaced: false,
    generation: true
  }),
  ResourceDefinition.make({
    ...admission,
    kind: "ValidatingWebhookConfiguration",
    columns: groupColumns.webhooks,
    plural: "validatingwebhookconfigurations"
  }),
  ResourceDefinition.make({
    ...admission,
    kind: "MutatingWebhookConfiguration",
    columns: groupColumns.webhooks,
    plural: "mutatingwebhookconfigurations"
  }),
  ResourceDefinition.make({
    ...admission,
    kind: "ValidatingAdmissionPolicy",
    columns: groupColumns.admissionPolicy,
    plural: "validatingadmissionpolicies",
    subresources: status,
    generation: true,
    onCreate: creation.withoutStatus
  }),
  ResourceDefinition.make({
    ...admission,
    kind: "ValidatingAdmissionPolicyBinding",
    columns: groupColumns.admissionPolicyBinding,
    plural: "validatingadmissionpolicybindings",
    generation: true
  }),
  ResourceDefinition.make({ ...rbac, kind: "Role", columns: groupColumns.dated, plural: "roles" }),
  ResourceDefinition.make({ ...rbac, kind: "RoleBinding", columns: groupColumns.roleBinding, plural: "rolebindings" }),
  ResourceDefinition.make({
    ...rbac,
    kind: "ClusterRole",
    columns: groupColumns.dated,
    plural: "clusterroles",
    namespaced: false
  }),
  ResourceDefinition.make({
    ...rbac,
    kind: "ClusterRoleBinding",
    columns: groupColumns.roleBinding,
    plural: "clusterrolebindings",
    namespaced: false
  })
]
