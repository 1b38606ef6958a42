/** The kinds of the core group, and events of `events.k8s.io`. */
import type {
  CoreV1Event,
  EventsV1Event,
  V1ComponentStatus,
  V1ConfigMap,
  V1Endpoints,
  V1LimitRange,
  V1Namespace,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodTemplate,
  V1ReplicationController,
  V1ResourceQuota,
  V1Secret,
  V1Service,
  V1ServiceAccount
} from "@kubernetes/client-node"
import type { Stored } from "../Meta.ts"
import * as Resource from "../Resource.ts"

const core = { group: "", version: "v1" } as const

/** Containers that run together on one node. */
export interface Pod extends Stored<V1Pod> {}
export const Pod = /* @__PURE__ */ Resource.make<Pod>()({ ...core, kind: "Pod", plural: "pods" })

/** A machine of the cluster. Cluster-scoped. */
export interface Node extends Stored<V1Node> {}
export const Node = /* @__PURE__ */ Resource.make<Node>()({ ...core, kind: "Node", plural: "nodes", scope: "Cluster" })

/** A name space for objects of other kinds. Cluster-scoped. */
export interface Namespace extends Stored<V1Namespace> {}
export const Namespace = /* @__PURE__ */ Resource.make<Namespace>()({
  ...core,
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster"
})

/** Configuration as texts and bytes. */
export interface ConfigMap extends Stored<V1ConfigMap> {}
export const ConfigMap = /* @__PURE__ */ Resource.make<ConfigMap>()({
  ...core,
  kind: "ConfigMap",
  plural: "configmaps"
})

/** Configuration that must stay secret; its values are base64. */
export interface Secret extends Stored<V1Secret> {}
export const Secret = /* @__PURE__ */ Resource.make<Secret>()({ ...core, kind: "Secret", plural: "secrets" })

/** A stable address in front of pods. */
export interface Service extends Stored<V1Service> {}
export const Service = /* @__PURE__ */ Resource.make<Service>()({ ...core, kind: "Service", plural: "services" })

/** The identity of a program in the cluster. */
export interface ServiceAccount extends Stored<V1ServiceAccount> {}
export const ServiceAccount = /* @__PURE__ */ Resource.make<ServiceAccount>()({
  ...core,
  kind: "ServiceAccount",
  plural: "serviceaccounts"
})

/** The addresses of a Service in one object, at most 1,000; EndpointSlice is its successor. */
export interface Endpoints extends Stored<V1Endpoints> {}
export const Endpoints = /* @__PURE__ */ Resource.make<Endpoints>()({ ...core, kind: "Endpoints", plural: "endpoints" })

/** An event of the legacy core group, the form `kubectl describe` and client-go's correlator use. */
export interface Event extends Stored<CoreV1Event> {}
export const Event = /* @__PURE__ */ Resource.make<Event>()({ ...core, kind: "Event", plural: "events" })

/** The same stored events through the `events.k8s.io` group. */
export interface EventsEvent extends Stored<EventsV1Event> {}
export const EventsEvent = /* @__PURE__ */ Resource.make<EventsEvent>()({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events"
})

/** The predecessor of ReplicaSet, with a selector of plain labels. */
export interface ReplicationController extends Stored<V1ReplicationController> {}
export const ReplicationController = /* @__PURE__ */ Resource.make<ReplicationController>()({
  ...core,
  kind: "ReplicationController",
  plural: "replicationcontrollers"
})

/** What the objects of a namespace may use together. */
export interface ResourceQuota extends Stored<V1ResourceQuota> {}
export const ResourceQuota = /* @__PURE__ */ Resource.make<ResourceQuota>()({
  ...core,
  kind: "ResourceQuota",
  plural: "resourcequotas"
})

/** A request for storage, which pods name. */
export interface PersistentVolumeClaim extends Stored<V1PersistentVolumeClaim> {}
export const PersistentVolumeClaim = /* @__PURE__ */ Resource.make<PersistentVolumeClaim>()({
  ...core,
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims"
})

/** Storage of the cluster, which one claim at a time uses. Cluster-scoped. */
export interface PersistentVolume extends Stored<V1PersistentVolume> {}
export const PersistentVolume = /* @__PURE__ */ Resource.make<PersistentVolume>()({
  ...core,
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  scope: "Cluster"
})

/** What the containers, pods and claims of a namespace may use each, with defaults. */
export interface LimitRange extends Stored<V1LimitRange> {}
export const LimitRange = /* @__PURE__ */ Resource.make<LimitRange>()({
  ...core,
  kind: "LimitRange",
  plural: "limitranges"
})

/** A template of pods that other objects may refer to. No controller of Kubernetes reads it. */
export interface PodTemplate extends Stored<V1PodTemplate> {}
export const PodTemplate = /* @__PURE__ */ Resource.make<PodTemplate>()({
  ...core,
  kind: "PodTemplate",
  plural: "podtemplates"
})

/** The health of the scheduler, the controller manager or etcd. Deprecated, and read-only. Cluster-scoped. */
export interface ComponentStatus extends Stored<V1ComponentStatus> {}
export const ComponentStatus = /* @__PURE__ */ Resource.make<ComponentStatus>()({
  ...core,
  kind: "ComponentStatus",
  plural: "componentstatuses",
  scope: "Cluster"
})
