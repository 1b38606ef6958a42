/**
 * Defaults by group and kind, applied to the stored version on every write of a whole object, before validation. Kinds that are
 * missing here have none.
 */
import { objectAt, set } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import * as extensions from "./extensions.ts"
import { empty, quantities } from "./fill.ts"
import * as infrastructure from "./infrastructure.ts"
import * as pods from "./pods.ts"
import * as services from "./services.ts"
import * as storage from "./storage.ts"
import * as workloads from "./workloads.ts"

type Defaults = (object: JsonObject) => void

const secret: Defaults = (object) => empty(object, { type: "Opaque" })

const node: Defaults = (object) => {
  const status = objectAt(object, "status")
  const capacity = objectAt(status, "capacity")
  if (status === undefined || capacity === undefined) return
  quantities(capacity)
  const allocatable = objectAt(status, "allocatable")
  if (allocatable === undefined) set(status, "allocatable", { ...capacity })
  else quantities(allocatable)
}

const priorityClass: Defaults = (object) => empty(object, { preemptionPolicy: "PreemptLowerPriority" })

const podTemplate: Defaults = (object) => pods.template(object)

const table: ReadonlyMap<string, Defaults> = new Map(
  Object.entries({
    Pod: pods.pod,
    PodTemplate: podTemplate,
    Node: node,
    Secret: secret,
    Service: services.service,
    Endpoints: services.endpoints,
    ReplicationController: workloads.replicationController,
    PersistentVolume: storage.volume,
    PersistentVolumeClaim: storage.claim,
    ResourceQuota: storage.quota,
    LimitRange: storage.limitRange,
    "apps/Deployment": workloads.deployment,
    "apps/ReplicaSet": workloads.replicaSet,
    "apps/StatefulSet": workloads.statefulSet,
    "apps/DaemonSet": workloads.daemonSet,
    "apiextensions.k8s.io/CustomResourceDefinition": extensions.definition,
    "admissionregistration.k8s.io/MutatingWebhookConfiguration": extensions.mutatingWebhooks,
    "admissionregistration.k8s.io/ValidatingWebhookConfiguration": extensions.validatingWebhooks,
    "admissionregistration.k8s.io/MutatingAdmissionPolicy": infrastructure.mutatingPolicy,
    "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": infrastructure.mutatingPolicyBinding,
    "admissionregistration.k8s.io/ValidatingAdmissionPolicy": extensions.admissionPolicy,
    "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": extensions.admissionPolicyBinding,
    "autoscaling/HorizontalPodAutoscaler": workloads.autoscaler,
    "batch/Job": workloads.job,
    "batch/CronJob": workloads.cronJob,
    "discovery.k8s.io/EndpointSlice": services.endpointSlice,
    "flowcontrol.apiserver.k8s.io/FlowSchema": infrastructure.flowSchema,
    "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": infrastructure.priorityLevel,
    "networking.k8s.io/NetworkPolicy": services.networkPolicy,
    "networking.k8s.io/IngressClass": services.ingressClass,
    "rbac.authorization.k8s.io/RoleBinding": services.binding,
    "rbac.authorization.k8s.io/ClusterRoleBinding": services.binding,
    "node.k8s.io/RuntimeClass": infrastructure.runtimeClass,
    "resource.k8s.io/ResourceClaim": infrastructure.resourceClaim,
    "resource.k8s.io/ResourceClaimTemplate": infrastructure.resourceClaimTemplate,
    "resource.k8s.io/ResourceSlice": infrastructure.resourceSlice,
    "scheduling.k8s.io/PriorityClass": priorityClass,
    "storage.k8s.io/CSIDriver": storage.driver,
    "storage.k8s.io/CSIStorageCapacity": infrastructure.storageCapacity,
    "storage.k8s.io/StorageClass": storage.storageClass
  } satisfies Record<string, Defaults>)
)

export const defaultsOf = (kind: { readonly group: string; readonly kind: string }): Defaults | undefined =>
  table.get(kind.group === "" ? kind.kind : `${kind.group}/${kind.kind}`)
