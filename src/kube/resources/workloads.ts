/** Kinds that run pods, scale them or limit their disruption: `apps`, `batch`, `autoscaling`, `policy`. */
import type {
  V1ControllerRevision,
  V1CronJob,
  V1DaemonSet,
  V1Deployment,
  V1Job,
  V1PodDisruptionBudget,
  V1ReplicaSet,
  V1StatefulSet,
  V2HorizontalPodAutoscaler
} from "@kubernetes/client-node"
import type { Stored } from "../Meta.ts"
import * as Resource from "../Resource.ts"

const apps = { group: "apps", version: "v1" } as const
const batch = { group: "batch", version: "v1" } as const

/** Pods of a template, replaced step by step when it changes. */
export interface Deployment extends Stored<V1Deployment> {}
export const Deployment = /* @__PURE__ */ Resource.make<Deployment>()({
  ...apps,
  kind: "Deployment",
  plural: "deployments"
})

/** A number of pods of one template. */
export interface ReplicaSet extends Stored<V1ReplicaSet> {}
export const ReplicaSet = /* @__PURE__ */ Resource.make<ReplicaSet>()({
  ...apps,
  kind: "ReplicaSet",
  plural: "replicasets"
})

/** Pods that keep their names and their claims, made and replaced in order. */
export interface StatefulSet extends Stored<V1StatefulSet> {}
export const StatefulSet = /* @__PURE__ */ Resource.make<StatefulSet>()({
  ...apps,
  kind: "StatefulSet",
  plural: "statefulsets"
})

/** A pod on each of the chosen nodes. */
export interface DaemonSet extends Stored<V1DaemonSet> {}
export const DaemonSet = /* @__PURE__ */ Resource.make<DaemonSet>()({
  ...apps,
  kind: "DaemonSet",
  plural: "daemonsets"
})

/** A template as it was at one time: the history of DaemonSets and StatefulSets. */
export interface ControllerRevision extends Stored<V1ControllerRevision> {}
export const ControllerRevision = /* @__PURE__ */ Resource.make<ControllerRevision>()({
  ...apps,
  kind: "ControllerRevision",
  plural: "controllerrevisions"
})

/** Pods that run to their end. */
export interface Job extends Stored<V1Job> {}
export const Job = /* @__PURE__ */ Resource.make<Job>()({ ...batch, kind: "Job", plural: "jobs" })

/** Jobs of one template, at the times of a schedule. */
export interface CronJob extends Stored<V1CronJob> {}
export const CronJob = /* @__PURE__ */ Resource.make<CronJob>()({ ...batch, kind: "CronJob", plural: "cronjobs" })

/** The replica count of a workload, computed from the metrics of its pods. */
export interface HorizontalPodAutoscaler extends Stored<V2HorizontalPodAutoscaler> {}
export const HorizontalPodAutoscaler = /* @__PURE__ */ Resource.make<HorizontalPodAutoscaler>()({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers"
})

/** How many of the selected pods may be evicted at one time. */
export interface PodDisruptionBudget extends Stored<V1PodDisruptionBudget> {}
export const PodDisruptionBudget = /* @__PURE__ */ Resource.make<PodDisruptionBudget>()({
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets"
})
