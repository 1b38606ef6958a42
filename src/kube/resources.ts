/**
 * The built-in kinds, each a descriptor and a type of the same name. Types are the model classes of
 * `@kubernetes/client-node` in their wire form; the import is type-only, so nothing of that package is loaded.
 */
import type {
  CoreV1Event,
  EventsV1Event,
  V1ClusterRole,
  V1ConfigMap,
  V1ControllerRevision,
  V1CronJob,
  V1DaemonSet,
  V1Deployment,
  V1Endpoints,
  V1EndpointSlice,
  V1Job,
  V1Lease,
  V1Namespace,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1ReplicaSet,
  V1ReplicationController,
  V1ResourceQuota,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V1StorageClass,
  V2HorizontalPodAutoscaler
} from "@kubernetes/client-node"
import type { Stored } from "./Meta.ts"
import * as Resource from "./Resource.ts"

const core = { group: "", version: "v1" } as const

/** Containers that run together on one node. */
export interface Pod extends Stored<V1Pod> {}
export const Pod = Resource.make<Pod>()({ ...core, kind: "Pod", plural: "pods" })

/** A machine of the cluster. Cluster-scoped. */
export interface Node extends Stored<V1Node> {}
export const Node = Resource.make<Node>()({ ...core, kind: "Node", plural: "nodes", scope: "Cluster" })

/** A name space for objects of other kinds. Cluster-scoped. */
export interface Namespace extends Stored<V1Namespace> {}
export const Namespace = Resource.make<Namespace>()({
  ...core,
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster"
})

/** Configuration as texts and bytes. */
export interface ConfigMap extends Stored<V1ConfigMap> {}
export const ConfigMap = Resource.make<ConfigMap>()({ ...core, kind: "ConfigMap", plural: "configmaps" })

/** Configuration that must stay secret; its values are base64. */
export interface Secret extends Stored<V1Secret> {}
export const Secret = Resource.make<Secret>()({ ...core, kind: "Secret", plural: "secrets" })

/** A stable address in front of pods. */
export interface Service extends Stored<V1Service> {}
export const Service = Resource.make<Service>()({ ...core, kind: "Service", plural: "services" })

/** The identity of a program in the cluster. */
export interface ServiceAccount extends Stored<V1ServiceAccount> {}
export const ServiceAccount = Resource.make<ServiceAccount>()({
  ...core,
  kind: "ServiceAccount",
  plural: "serviceaccounts"
})

/** An event of the legacy core group, the form `kubectl describe` and client-go's correlator use. */
export interface Event extends Stored<CoreV1Event> {}
export const Event = Resource.make<Event>()({ ...core, kind: "Event", plural: "events" })

/** The same stored events through the `events.k8s.io` group. */
export interface EventsEvent extends Stored<EventsV1Event> {}
export const EventsEvent = Resource.make<EventsEvent>()({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events"
})

/** Pods of a template, replaced step by step when it changes. */
export interface Deployment extends Stored<V1Deployment> {}
export const Deployment = Resource.make<Deployment>()({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments"
})

/** A number of pods of one template. */
export interface ReplicaSet extends Stored<V1ReplicaSet> {}
export const ReplicaSet = Resource.make<ReplicaSet>()({
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  plural: "replicasets"
})

/** The predecessor of ReplicaSet, with a selector of plain labels. */
export interface ReplicationController extends Stored<V1ReplicationController> {}
export const ReplicationController = Resource.make<ReplicationController>()({
  ...core,
  kind: "ReplicationController",
  plural: "replicationcontrollers"
})

/** A lease that expires unless it is renewed: for leader election and the heartbeats of nodes. */
export interface Lease extends Stored<V1Lease> {}
export const Lease = Resource.make<Lease>()({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases"
})

/** Pods that run to their end. */
export interface Job extends Stored<V1Job> {}
export const Job = Resource.make<Job>()({ group: "batch", version: "v1", kind: "Job", plural: "jobs" })

/** A pod on each of the chosen nodes. */
export interface DaemonSet extends Stored<V1DaemonSet> {}
export const DaemonSet = Resource.make<DaemonSet>()({
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  plural: "daemonsets"
})

/** A template as it was at one time: the history of DaemonSets and StatefulSets. */
export interface ControllerRevision extends Stored<V1ControllerRevision> {}
export const ControllerRevision = Resource.make<ControllerRevision>()({
  group: "apps",
  version: "v1",
  kind: "ControllerRevision",
  plural: "controllerrevisions"
})

/** The addresses of a Service in one object, at most 1,000; EndpointSlice is its successor. */
export interface Endpoints extends Stored<V1Endpoints> {}
export const Endpoints = Resource.make<Endpoints>()({ ...core, kind: "Endpoints", plural: "endpoints" })

/** Some of the addresses of a Service. */
export interface EndpointSlice extends Stored<V1EndpointSlice> {}
export const EndpointSlice = Resource.make<EndpointSlice>()({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices"
})

/** Pods that keep their names and their claims, made and replaced in order. */
export interface StatefulSet extends Stored<V1StatefulSet> {}
export const StatefulSet = Resource.make<StatefulSet>()({
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  plural: "statefulsets"
})

/** Jobs of one template, at the times of a schedule. */
export interface CronJob extends Stored<V1CronJob> {}
export const CronJob = Resource.make<CronJob>()({ group: "batch", version: "v1", kind: "CronJob", plural: "cronjobs" })

/** How many of the selected pods may be evicted at one time. */
export interface PodDisruptionBudget extends Stored<V1PodDisruptionBudget> {}
export const PodDisruptionBudget = Resource.make<PodDisruptionBudget>()({
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets"
})

/** The replica count of a workload, computed from the metrics of its pods. */
export interface HorizontalPodAutoscaler extends Stored<V2HorizontalPodAutoscaler> {}
export const HorizontalPodAutoscaler = Resource.make<HorizontalPodAutoscaler>()({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers"
})

/** What the objects of a namespace may use together. */
export interface ResourceQuota extends Stored<V1ResourceQuota> {}
export const ResourceQuota = Resource.make<ResourceQuota>()({
  ...core,
  kind: "ResourceQuota",
  plural: "resourcequotas"
})

/** Rights that can be granted in one namespace or in all. Cluster-scoped. */
export interface ClusterRole extends Stored<V1ClusterRole> {}
export const ClusterRole = Resource.make<ClusterRole>()({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  scope: "Cluster"
})

/** A request for storage, which pods name. */
export interface PersistentVolumeClaim extends Stored<V1PersistentVolumeClaim> {}
export const PersistentVolumeClaim = Resource.make<PersistentVolumeClaim>()({
  ...core,
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims"
})

/** Storage of the cluster, which one claim at a time uses. Cluster-scoped. */
export interface PersistentVolume extends Stored<V1PersistentVolume> {}
export const PersistentVolume = Resource.make<PersistentVolume>()({
  ...core,
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  scope: "Cluster"
})

/** How volumes for claims are provisioned. Cluster-scoped. */
export interface StorageClass extends Stored<V1StorageClass> {}
export const StorageClass = Resource.make<StorageClass>()({
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  scope: "Cluster"
})
