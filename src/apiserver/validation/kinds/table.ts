/**
 * Which rules a kind has. `check` looks at every new state of the object's main endpoint, `change` compares it with the state
 * it replaces. Rules see stored forms, after defaulting, and are total: a body of a wrong shape is somebody else's 400.
 */
import type { JsonObject } from "../../json.ts"
import type { Kind } from "../../scheme/Kind.ts"
import type { Errors } from "./field.ts"
import * as autoscaling from "./autoscaling.ts"
import * as claims from "./claims.ts"
import * as coordination from "./coordination.ts"
import * as data from "./data.ts"
import * as definitions from "./definitions.ts"
import * as ingresses from "./ingresses.ts"
import * as jobs from "./jobs.ts"
import { jobStatus } from "./jobStatus.ts"
import * as networking from "./networking.ts"
import * as pods from "./pods.ts"
import * as services from "./services.ts"
import * as storage from "./storage.ts"
import * as webhooks from "./webhooks.ts"
import * as workloads from "./workloads.ts"

export interface Rules {
  /** Name of the kind in refusals, where it is another one. */
  readonly told?: Pick<Kind, "group" | "kind">
  readonly check?: (errors: Errors, object: JsonObject) => void
  /** New objects only, after `check`. */
  readonly create?: (errors: Errors, object: JsonObject) => void
  readonly change?: (errors: Errors, object: JsonObject, before: JsonObject) => void
  /** Writes of the status alone. */
  readonly status?: (errors: Errors, object: JsonObject, before: JsonObject) => void
  /** Everything about a write of the ephemeral containers, which go past the other rules. */
  readonly ephemeral?: (errors: Errors, object: JsonObject, before: JsonObject) => void
}

const table: ReadonlyMap<string, Rules> = new Map(
  Object.entries({
    Pod: { check: pods.pod, create: pods.newPod, change: pods.podUpdate, ephemeral: pods.podWithEphemeral },
    "apps/Deployment": { check: workloads.deployment, change: workloads.sameSelector },
    "apps/ReplicaSet": { check: workloads.replicaSet, change: workloads.sameSelector },
    "apps/StatefulSet": { check: workloads.statefulSet, change: workloads.statefulSetUpdate },
    "apps/DaemonSet": { check: workloads.daemonSet, change: workloads.sameSelector },
    ReplicationController: { check: workloads.replicationController },
    "batch/Job": { check: jobs.job, change: jobs.jobUpdate, status: jobStatus },
    "batch/CronJob": { check: jobs.cronJob, create: jobs.newCronJob, change: jobs.cronJobUpdate },
    "policy/PodDisruptionBudget": { check: jobs.disruptionBudget },
    Service: { check: services.service, change: services.serviceUpdate },
    Endpoints: { check: services.endpoints },
    "discovery.k8s.io/EndpointSlice": { check: services.endpointSlice, change: services.endpointSliceUpdate },
    ConfigMap: { check: data.configMap, change: data.configMapUpdate },
    Secret: { check: data.secret, change: data.secretUpdate },
    "apps/ControllerRevision": { check: data.controllerRevision, change: data.controllerRevisionUpdate },
    "rbac.authorization.k8s.io/Role": { check: data.role },
    "rbac.authorization.k8s.io/ClusterRole": { check: data.clusterRole },
    "rbac.authorization.k8s.io/RoleBinding": { check: data.roleBinding, change: data.bindingUpdate },
    "rbac.authorization.k8s.io/ClusterRoleBinding": { check: data.clusterRoleBinding, change: data.bindingUpdate },
    "coordination.k8s.io/Lease": { check: coordination.lease },
    Event: { check: coordination.event },
    "events.k8s.io/Event": {
      check: coordination.event,
      create: coordination.newEvent,
      told: { group: "", kind: "Event" }
    },
    "admissionregistration.k8s.io/MutatingWebhookConfiguration": { check: webhooks.mutatingWebhooks },
    "admissionregistration.k8s.io/ValidatingWebhookConfiguration": { check: webhooks.validatingWebhooks },
    "autoscaling/HorizontalPodAutoscaler": { check: autoscaling.autoscaler },
    "networking.k8s.io/Ingress": { check: ingresses.ingress, create: ingresses.newIngress },
    "networking.k8s.io/IngressClass": { check: ingresses.ingressClass, change: ingresses.ingressClassUpdate },
    "networking.k8s.io/NetworkPolicy": { check: networking.networkPolicy },
    PodTemplate: { check: pods.podTemplate },
    PersistentVolume: { check: claims.volume, change: claims.volumeUpdate },
    PersistentVolumeClaim: { check: claims.claim, change: claims.claimUpdate },
    ResourceQuota: { check: storage.quota, change: storage.quotaUpdate },
    LimitRange: { check: storage.limitRange },
    Node: { check: storage.node, change: storage.nodeUpdate },
    "apiextensions.k8s.io/CustomResourceDefinition": {
      check: definitions.definition,
      change: definitions.definitionUpdate
    },
    "scheduling.k8s.io/PriorityClass": { check: storage.priorityClass, change: storage.priorityClassUpdate }
  } satisfies Record<string, Rules>)
)

const none: Rules = {}

export const rulesOf = (kind: Pick<Kind, "group" | "kind">): Rules =>
  table.get(kind.group === "" ? kind.kind : `${kind.group}/${kind.kind}`) ?? none
