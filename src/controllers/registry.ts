/**
 * The table of all controllers that the program can run: data for `--controllers`, `--help` and permissions. Names are the short ones of kube-
 * controller-manager; its long ones are aliases. Source: cmd/kube-controller-manager/app: NewControllerDescriptors.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Schedule from "effect/Schedule"
import type * as Selector from "../kube/Selector.ts"
import type { ClusterAuthority } from "../layers/ClusterAuthority.ts"
import { Defaults } from "../layers/controller/defaults.ts"
import type { CloudProvider } from "../layers/CloudProvider.ts"
import type * as Controller from "../layers/Controller.ts"
import type { Discovery } from "../layers/Discovery.ts"
import type { Entry } from "../manager/registry.ts"
import type { Run } from "../layers/Schedules.ts"
import * as CloudNodeLifecycle from "./CloudNodeLifecycle.ts"
import * as ClusterRoleAggregation from "./ClusterRoleAggregation.ts"
import * as CronJob from "./CronJob.ts"
import * as DaemonSet from "./DaemonSet.ts"
import * as Deployment from "./Deployment.ts"
import * as Disruption from "./Disruption.ts"
import * as EcsBinding from "./EcsBinding.ts"
import * as Endpoints from "./Endpoints.ts"
import * as EndpointSlice from "./EndpointSlice.ts"
import * as EndpointSliceMirroring from "./EndpointSliceMirroring.ts"
import * as GarbageCollector from "./GarbageCollector.ts"
import * as HorizontalPodAutoscaler from "./HorizontalPodAutoscaler.ts"
import * as Job from "./Job.ts"
import * as LegacyTokenCleaner from "./LegacyTokenCleaner.ts"
import * as Memcached from "./Memcached.ts"
import * as Namespace from "./Namespace.ts"
import * as NodeLifecycle from "./NodeLifecycle.ts"
import * as PodCount from "./PodCount.ts"
import * as PodGC from "./PodGC.ts"
import * as PvcProtection from "./PvcProtection.ts"
import * as ReplicaSet from "./ReplicaSet.ts"
import * as ReplicationController from "./ReplicationController.ts"
import * as ResourceQuota from "./ResourceQuota.ts"
import * as RootCa from "./RootCa.ts"
import * as ServiceAccount from "./ServiceAccount.ts"
import * as ServiceAccountToken from "./ServiceAccountToken.ts"
import * as StatefulSet from "./StatefulSet.ts"
import * as TaintEviction from "./TaintEviction.ts"
import * as TtlAfterFinished from "./TtlAfterFinished.ts"

/** The settings of controllers from the command line; each controller has its own defaults. */
export interface Settings {
  readonly podCount: {
    readonly schedule: Schedule.Schedule<unknown, Run>
    readonly nodeSelector: Selector.LabelSelector | undefined
  }
  readonly deploymentSyncs?: number | undefined
  readonly replicaSetSyncs?: number | undefined
  readonly replicationControllerSyncs?: number | undefined
  readonly daemonSetSyncs?: number | undefined
  readonly statefulSetSyncs?: number | undefined
  /** The feature gate `MaxUnavailableStatefulSet`. */
  readonly statefulSetMaxUnavailable?: boolean | undefined
  readonly jobSyncs?: number | undefined
  readonly cronJobSyncs?: number | undefined
  readonly ttlAfterFinishedSyncs?: number | undefined
  readonly endpointSyncs?: number | undefined
  readonly endpointBatchPeriod?: Duration.Duration | undefined
  readonly serviceEndpointSyncs?: number | undefined
  readonly maxEndpointsPerSlice?: number | undefined
  readonly endpointSliceBatchPeriod?: Duration.Duration | undefined
  readonly mirroringSyncs?: number | undefined
  readonly mirroringMaxEndpoints?: number | undefined
  readonly mirroringBatchPeriod?: Duration.Duration | undefined
  readonly serviceAccountTokenSyncs?: number | undefined
  readonly serviceAccountKeyFile?: Option.Option<string> | undefined
  readonly gcSyncs?: number | undefined
  readonly namespaceSyncs?: number | undefined
  readonly namespaceSyncPeriod?: Duration.Duration | undefined
  readonly resourceQuotaSyncs?: number | undefined
  readonly resourceQuotaSyncPeriod?: Duration.Duration | undefined
  readonly terminatedPodThreshold?: number | undefined
  readonly legacyTokenPeriod?: Duration.Duration | undefined
  readonly nodeMonitorPeriod?: Duration.Duration | undefined
  readonly nodeMonitorGracePeriod?: Duration.Duration | undefined
  readonly nodeStartupGracePeriod?: Duration.Duration | undefined
  readonly nodeEvictionRate?: number | undefined
  readonly secondaryNodeEvictionRate?: number | undefined
  readonly largeClusterSizeThreshold?: number | undefined
  readonly unhealthyZoneThreshold?: number | undefined
  readonly autoscalerSyncs?: number | undefined
  readonly autoscalerSyncPeriod?: Duration.Duration | undefined
  readonly autoscalerDownscaleStabilization?: Duration.Duration | undefined
  readonly autoscalerTolerance?: number | undefined
  readonly autoscalerCpuInitialization?: Duration.Duration | undefined
  readonly autoscalerInitialReadiness?: Duration.Duration | undefined
  readonly featureGates?: ReadonlyMap<string, boolean> | undefined
  readonly memcachedImage?: string | undefined
}

/** Properties of the entries for kube-controller-manager's controllers. */
const core = { byDefault: "embedded", group: "core" } as const

type Needs = ClusterAuthority | CloudProvider | Controller.Services | Discovery

/** In the order in which they are started. */
export const registry = (settings: Settings): ReadonlyArray<Entry<Needs>> =>
  entries(settings).map((entry) =>
    entry.group === "core" ? Object.assign({}, entry, { controller: unlimited(entry.controller) }) : entry
  )

/** As in kube-controller-manager, a sync has no time limit; each API call has one. */
const unlimited = (controller: Controller.Descriptor<Needs>): Controller.Descriptor<Needs> => ({
  ...controller,
  layer: Layer.provide(
    controller.layer,
    Layer.effect(
      Defaults,
      Effect.map(Defaults, (loops) => ({ ...loops, timeout: "none" as const }))
    )
  )
})

const entries = (settings: Settings): ReadonlyArray<Entry<Needs>> => [
  {
    ...core,
    controller: ServiceAccountToken.make({ concurrency: settings.serviceAccountTokenSyncs }),
    embeddedOnly: Option.isSome(settings.serviceAccountKeyFile ?? Option.none())
      ? undefined
      : "there is no signing key; set --service-account-private-key-file",
    aliases: ["serviceaccount-token-controller"],
    summary: "writes tokens of service accounts into Secrets, and deletes the Secrets of deleted accounts"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: ServiceAccount.make(),
    account: "service-account-controller",
    aliases: ["serviceaccount-controller"],
    summary: "creates the default service account in every active namespace"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: RootCa.make(),
    account: "root-ca-cert-publisher",
    aliases: ["root-ca-certificate-publisher-controller"],
    summary: "publishes the CA bundle of the API server to every namespace"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: Namespace.make({ concurrency: settings.namespaceSyncs, resyncPeriod: settings.namespaceSyncPeriod }),
    account: "namespace-controller",
    // Source: cmd/kube-controller-manager/app: newNamespaceController, newGarbageCollectorController.
    clientLimits: { qps: 20, burst: 100 },
    aliases: ["namespace-controller"],
    summary: "deletes the content of namespaces that are being deleted"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: ResourceQuota.make({
      concurrency: settings.resourceQuotaSyncs,
      syncPeriod: settings.resourceQuotaSyncPeriod
    }),
    account: "resourcequota-controller",
    aliases: ["resourcequota-controller"],
    summary: "writes to each ResourceQuota how much of its limits is used"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: GarbageCollector.make({ concurrency: settings.gcSyncs }),
    account: "generic-garbage-collector",
    clientLimits: { qps: 2, burst: 1 },
    aliases: ["garbage-collector-controller"],
    summary: "deletes objects whose owners are gone, and applies the propagation policies of deletions"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: PodGC.make({ terminatedPodThreshold: settings.terminatedPodThreshold }),
    account: "pod-garbage-collector",
    aliases: ["pod-garbage-collector-controller"],
    summary: "deletes pods of lost nodes, and terminated ones above a threshold"
  },
  {
    ...core,
    controller: Deployment.make({ concurrency: settings.deploymentSyncs }),
    account: "deployment-controller",
    aliases: ["deployment-controller"],
    summary: "rolls out Deployments, with one ReplicaSet for each pod template"
  },
  {
    ...core,
    controller: ReplicaSet.make({ concurrency: settings.replicaSetSyncs }),
    account: "replicaset-controller",
    aliases: ["replicaset-controller"],
    summary: "keeps the number of pods that each ReplicaSet specifies"
  },
  {
    ...core,
    controller: ReplicationController.make({ concurrency: settings.replicationControllerSyncs }),
    account: "replication-controller",
    aliases: ["replicationcontroller-controller", "replication-controller"],
    summary: "keeps the number of pods that each ReplicationController specifies"
  },
  {
    ...core,
    controller: DaemonSet.make({ concurrency: settings.daemonSetSyncs }),
    account: "daemon-set-controller",
    aliases: ["daemonset-controller"],
    summary: "runs one pod of each DaemonSet on every matching node"
  },
  {
    ...core,
    controller: StatefulSet.make({
      concurrency: settings.statefulSetSyncs,
      maxUnavailable: settings.statefulSetMaxUnavailable
    }),
    account: "statefulset-controller",
    aliases: ["statefulset-controller"],
    summary: "keeps pods with stable names and volume claims, in order"
  },
  {
    ...core,
    controller: Job.make({ concurrency: settings.jobSyncs }),
    account: "job-controller",
    aliases: ["job-controller"],
    summary: "runs the pods of Jobs until enough have succeeded"
  },
  {
    ...core,
    controller: CronJob.make({ concurrency: settings.cronJobSyncs }),
    account: "cronjob-controller",
    aliases: ["cronjob-controller"],
    summary: "creates Jobs on schedules, in any time zone"
  },
  {
    ...core,
    controller: TtlAfterFinished.make({ concurrency: settings.ttlAfterFinishedSyncs }),
    account: "ttl-after-finished-controller",
    aliases: ["ttl-after-finished-controller"],
    summary: "deletes finished Jobs when their TTL has expired"
  },
  {
    ...core,
    controller: Endpoints.make({ concurrency: settings.endpointSyncs, batchPeriod: settings.endpointBatchPeriod }),
    account: "endpoint-controller",
    aliases: ["endpoints-controller"],
    summary: "keeps the addresses of each Service's pods in its Endpoints"
  },
  {
    ...core,
    controller: EndpointSlice.make({
      concurrency: settings.serviceEndpointSyncs,
      maxEndpointsPerSlice: settings.maxEndpointsPerSlice,
      batchPeriod: settings.endpointSliceBatchPeriod
    }),
    account: "endpointslice-controller",
    aliases: ["endpointslice-controller"],
    summary: "keeps the addresses of each Service's pods in EndpointSlices"
  },
  {
    ...core,
    controller: EndpointSliceMirroring.make({
      concurrency: settings.mirroringSyncs,
      maxEndpointsPerSubset: settings.mirroringMaxEndpoints,
      batchPeriod: settings.mirroringBatchPeriod
    }),
    account: "endpointslicemirroring-controller",
    aliases: ["endpointslice-mirroring-controller"],
    summary: "mirrors Endpoints that users write to EndpointSlices"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: NodeLifecycle.make(nodeHealth(settings)),
    account: "node-controller",
    aliases: ["node-lifecycle-controller"],
    summary: "marks nodes that stopped reporting as not ready, and taints them"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: TaintEviction.make(),
    account: "node-controller",
    aliases: ["taint-eviction-controller"],
    summary: "evicts pods that do not tolerate the NoExecute taints of their node"
  },
  {
    ...core,
    controller: Disruption.make(),
    account: "disruption-controller",
    aliases: ["disruption-controller"],
    summary: "writes to each PodDisruptionBudget how many of its pods may be disrupted"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: LegacyTokenCleaner.make({ period: settings.legacyTokenPeriod }),
    account: "legacy-service-account-token-cleaner",
    aliases: ["legacy-serviceaccount-token-cleaner-controller", "legacy-service-account-token-cleaner"],
    summary: "deletes auto-generated token Secrets that are unused for long"
  },
  {
    ...core,
    controller: ClusterRoleAggregation.make(),
    account: "clusterrole-aggregation-controller",
    aliases: ["clusterrole-aggregation-controller"],
    summary: "writes the rules of selected ClusterRoles to aggregating ClusterRoles"
  },
  {
    ...core,
    controller: CloudNodeLifecycle.make({ period: settings.nodeMonitorPeriod }),
    aliases: ["cloud-node-lifecycle-controller"],
    summary: "deletes nodes whose machines no longer exist in the cloud"
  },
  {
    ...core,
    controller: PvcProtection.make(),
    account: "pvc-protection-controller",
    aliases: ["persistentvolumeclaim-protection-controller", "pvc-protection"],
    summary: "keeps deleted volume claims until no pod uses them"
  },
  {
    ...core,
    controller: HorizontalPodAutoscaler.withServedMetrics(HorizontalPodAutoscaler.make(autoscaling(settings))),
    account: "horizontal-pod-autoscaler",
    aliases: ["horizontal-pod-autoscaler-controller"],
    summary: "sets the replicas of scalable objects according to metrics"
  },
  {
    controller: PodCount.make(settings.podCount),
    byDefault: "on",
    summary: "labels the control-plane nodes with the number of pods and records it on each pod"
  },
  {
    controller: Memcached.make({ image: settings.memcachedImage }),
    webhooks: Memcached.webhooks,
    byDefault: "embedded",
    summary: "runs the memcached servers of each Memcached"
  },
  {
    controller: EcsBinding.make(),
    byDefault: "embedded",
    summary: "annotates every EcsBinding as reconciled"
  }
]

const nodeHealth = (settings: Settings): NodeLifecycle.Options => ({
  period: settings.nodeMonitorPeriod,
  grace: settings.nodeMonitorGracePeriod,
  startupGrace: settings.nodeStartupGracePeriod,
  rate: settings.nodeEvictionRate,
  secondaryRate: settings.secondaryNodeEvictionRate,
  largeZone: settings.largeClusterSizeThreshold,
  unhealthyShare: settings.unhealthyZoneThreshold
})

const autoscaling = (settings: Settings): HorizontalPodAutoscaler.Options => ({
  concurrency: settings.autoscalerSyncs,
  period: settings.autoscalerSyncPeriod,
  downscaleStabilization: settings.autoscalerDownscaleStabilization,
  tolerance: settings.autoscalerTolerance,
  cpuInitialization: settings.autoscalerCpuInitialization,
  initialReadiness: settings.autoscalerInitialReadiness,
  scalesToZero: settings.featureGates?.get("HPAScaleToZero")
})
