/**
 * Validation by group and kind, as the strategies of pkg/registry call it. It sees the stored version after defaulting, and
 * accepts JSON of any shape: decoding has reported wrong types already.
 */
import type { JsonObject } from "../../json.ts"
import type { ResourceDefinition } from "../../scheme/ResourceDefinition.ts"
import type { Errors } from "./field.ts"
import * as admissionPolicies from "./admissionPolicies.ts"
import * as autoscaling from "./autoscaling.ts"
import * as claims from "./claims.ts"
import * as coordination from "./coordination.ts"
import * as data from "./data.ts"
import * as definitions from "./definitions.ts"
import * as infrastructure from "./infrastructure.ts"
import * as ingresses from "./ingresses.ts"
import * as jobs from "./jobs.ts"
import { jobStatus } from "./jobStatus.ts"
import * as networking from "./networking.ts"
import * as pods from "./pods.ts"
import * as services from "./services.ts"
import * as storage from "./storage.ts"
import * as webhooks from "./webhooks.ts"
import * as workloads from "./workloads.ts"

export interface Validation {
  /** The kind in error messages, where it is not that of the resource. */
  readonly reportedAs?: Pick<ResourceDefinition, "group" | "kind">
  readonly validate?: (errors: Errors, object: JsonObject) => void
  /** New objects only, after `check`. */
  readonly validateCreate?: (errors: Errors, object: JsonObject) => void
  readonly validateUpdate?: (errors: Errors, object: JsonObject, before: JsonObject) => void
  /** Writes of the status alone. */
  readonly validateStatusUpdate?: (errors: Errors, object: JsonObject, before: JsonObject) => void
  /** All rules for the subresource `ephemeralcontainers`; the others do not apply to it. */
  readonly validateEphemeralContainers?: (errors: Errors, object: JsonObject, before: JsonObject) => void
  /** What is valid, and still a mistake or deprecated: WarningsOnCreate and WarningsOnUpdate. */
  readonly warnings?: (object: JsonObject) => ReadonlyArray<string>
}

const table: ReadonlyMap<string, Validation> = new Map(
  Object.entries({
    Pod: {
      validate: pods.pod,
      validateCreate: pods.newPod,
      validateUpdate: pods.podUpdate,
      validateEphemeralContainers: pods.podWithEphemeral
    },
    "apps/Deployment": { validate: workloads.deployment, validateUpdate: workloads.sameSelector },
    "apps/ReplicaSet": { validate: workloads.replicaSet, validateUpdate: workloads.sameSelector },
    "apps/StatefulSet": { validate: workloads.statefulSet, validateUpdate: workloads.statefulSetUpdate },
    "apps/DaemonSet": { validate: workloads.daemonSet, validateUpdate: workloads.sameSelector },
    ReplicationController: { validate: workloads.replicationController },
    "batch/Job": { validate: jobs.job, validateUpdate: jobs.jobUpdate, validateStatusUpdate: jobStatus },
    "batch/CronJob": { validate: jobs.cronJob, validateCreate: jobs.newCronJob, validateUpdate: jobs.cronJobUpdate },
    "policy/PodDisruptionBudget": { validate: jobs.disruptionBudget },
    Service: { validate: services.service, validateUpdate: services.serviceUpdate, warnings: services.serviceWarnings },
    Endpoints: { validate: services.endpoints },
    "discovery.k8s.io/EndpointSlice": {
      validate: services.endpointSlice,
      validateUpdate: services.endpointSliceUpdate
    },
    ConfigMap: { validate: data.configMap, validateUpdate: data.configMapUpdate },
    Secret: { validate: data.secret, validateUpdate: data.secretUpdate },
    "apps/ControllerRevision": { validate: data.controllerRevision, validateUpdate: data.controllerRevisionUpdate },
    "rbac.authorization.k8s.io/Role": { validate: data.role },
    "rbac.authorization.k8s.io/ClusterRole": { validate: data.clusterRole },
    "rbac.authorization.k8s.io/RoleBinding": { validate: data.roleBinding, validateUpdate: data.bindingUpdate },
    "rbac.authorization.k8s.io/ClusterRoleBinding": {
      validate: data.clusterRoleBinding,
      validateUpdate: data.bindingUpdate
    },
    "coordination.k8s.io/Lease": { validate: coordination.lease },
    Event: { validate: coordination.event },
    "events.k8s.io/Event": {
      validate: coordination.event,
      validateCreate: coordination.newEvent,
      reportedAs: { group: "", kind: "Event" }
    },
    "admissionregistration.k8s.io/MutatingWebhookConfiguration": {
      validate: webhooks.mutatingWebhooks,
      validateCreate: webhooks.newConditions,
      validateUpdate: webhooks.changedConditions
    },
    "admissionregistration.k8s.io/ValidatingWebhookConfiguration": {
      validate: webhooks.validatingWebhooks,
      validateCreate: webhooks.newConditions,
      validateUpdate: webhooks.changedConditions
    },
    "admissionregistration.k8s.io/ValidatingAdmissionPolicy": {
      validateCreate: admissionPolicies.newPolicy,
      validateUpdate: admissionPolicies.policyUpdate,
      validateStatusUpdate: admissionPolicies.policyStatus
    },
    "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": { validate: admissionPolicies.binding },
    "autoscaling/HorizontalPodAutoscaler": { validate: autoscaling.autoscaler },
    "networking.k8s.io/Ingress": { validate: ingresses.ingress, validateCreate: ingresses.newIngress },
    "networking.k8s.io/IngressClass": {
      validate: ingresses.ingressClass,
      validateUpdate: ingresses.ingressClassUpdate
    },
    "networking.k8s.io/NetworkPolicy": { validate: networking.networkPolicy },
    PodTemplate: { validate: pods.podTemplate },
    PersistentVolume: { validate: claims.volume, validateUpdate: claims.volumeUpdate },
    PersistentVolumeClaim: { validate: claims.claim, validateUpdate: claims.claimUpdate },
    ResourceQuota: { validate: storage.quota, validateUpdate: storage.quotaUpdate },
    LimitRange: { validate: storage.limitRange },
    Node: { validate: storage.node, validateUpdate: storage.nodeUpdate },
    "apiextensions.k8s.io/CustomResourceDefinition": {
      validate: definitions.definition,
      validateCreate: definitions.newDefinition,
      validateUpdate: definitions.definitionUpdate
    },
    "scheduling.k8s.io/PriorityClass": { validate: storage.priorityClass, validateUpdate: storage.priorityClassUpdate },
    "admissionregistration.k8s.io/MutatingAdmissionPolicy": { validate: infrastructure.mutatingPolicy },
    "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": { validate: infrastructure.mutatingPolicyBinding },
    "certificates.k8s.io/CertificateSigningRequest": { validate: infrastructure.signingRequest },
    "flowcontrol.apiserver.k8s.io/FlowSchema": { validate: infrastructure.flowSchema },
    "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": { validate: infrastructure.priorityLevel },
    "networking.k8s.io/IPAddress": {
      validate: infrastructure.ipAddress,
      validateUpdate: infrastructure.ipAddressUpdate
    },
    "networking.k8s.io/ServiceCIDR": { validate: infrastructure.serviceCidr },
    "node.k8s.io/RuntimeClass": {
      validate: infrastructure.runtimeClass,
      validateUpdate: infrastructure.runtimeClassUpdate
    },
    "resource.k8s.io/ResourceClaim": { validateUpdate: infrastructure.specUpdate },
    "resource.k8s.io/ResourceClaimTemplate": { validateUpdate: infrastructure.specUpdate },
    "resource.k8s.io/ResourceSlice": {
      validate: infrastructure.resourceSlice,
      validateUpdate: infrastructure.resourceSliceUpdate
    },
    "storage.k8s.io/CSIStorageCapacity": {
      validate: infrastructure.storageCapacity,
      validateUpdate: infrastructure.storageCapacityUpdate
    },
    "storage.k8s.io/VolumeAttributesClass": {
      validate: infrastructure.volumeAttributesClass,
      validateUpdate: infrastructure.volumeAttributesClassUpdate
    }
  } satisfies Record<string, Validation>)
)

const none: Validation = {}

export const validationOf = (resource: Pick<ResourceDefinition, "group" | "kind">): Validation =>
  table.get(resource.group === "" ? resource.kind : `${resource.group}/${resource.kind}`) ?? none
