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

/** What the command line can say about controllers; the defaults are theirs. */
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
  /** Whether `maxUnavailable` of StatefulSets counts. */
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

/** What makes an entry one of kube-controller-manager's loops. */
const core = { byDefault: "embedded", group: "core" } as const

type Needs = ClusterAuthority | CloudProvider | Controller.Services | Discovery

/** In the order in which they are started. */
export const registry = (settings: Settings): ReadonlyArray<Entry<Needs>> =>
  entries(settings).map((entry) =>
    entry.group === "core" ? Object.assign({}, entry, { controller: unlimited(entry.controller) }) : entry
  )

/** Runs of kube-controller-manager's loops last as long as they take: what hangs is a call, and that has a limit. */
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
      : "there is no key to sign with; say it with --service-account-private-key-file",
    aliases: ["serviceaccount-token-controller"],
    summary: "fills Secrets with tokens of service accounts, and deletes those of accounts that are gone"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: ServiceAccount.make(),
    account: "service-account-controller",
    aliases: ["serviceaccount-controller"],
    summary: "gives every active namespace the service account that pods run as"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: RootCa.make(),
    account: "root-ca-cert-publisher",
    aliases: ["root-ca-certificate-publisher-controller"],
    summary: "gives every active namespace the authorities by which pods know the API server"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: Namespace.make({ concurrency: settings.namespaceSyncs, resyncPeriod: settings.namespaceSyncPeriod }),
    account: "namespace-controller",
    // Source: cmd/kube-controller-manager/app: newNamespaceController, newGarbageCollectorController.
    clientLimits: { qps: 20, burst: 100 },
    aliases: ["namespace-controller"],
    summary: "empties namespaces that are being deleted, and lets them go"
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
    summary: "tells how much of each ResourceQuota is used, and frees what is not"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: GarbageCollector.make({ concurrency: settings.gcSyncs }),
    account: "generic-garbage-collector",
    clientLimits: { qps: 2, burst: 1 },
    aliases: ["garbage-collector-controller"],
    summary: "deletes what lost its owners, in the background, first of all, or not at all"
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
    summary: "rolls templates out, one ReplicaSet for each, and back"
  },
  {
    ...core,
    controller: ReplicaSet.make({ concurrency: settings.replicaSetSyncs }),
    account: "replicaset-controller",
    aliases: ["replicaset-controller"],
    summary: "keeps as many pods of a template as each ReplicaSet asks for"
  },
  {
    ...core,
    controller: ReplicationController.make({ concurrency: settings.replicationControllerSyncs }),
    account: "replication-controller",
    aliases: ["replicationcontroller-controller", "replication-controller"],
    summary: "the same for ReplicationControllers"
  },
  {
    ...core,
    controller: DaemonSet.make({ concurrency: settings.daemonSetSyncs }),
    account: "daemon-set-controller",
    aliases: ["daemonset-controller"],
    summary: "keeps one pod of a template on each node that should have one"
  },
  {
    ...core,
    controller: StatefulSet.make({
      concurrency: settings.statefulSetSyncs,
      maxUnavailable: settings.statefulSetMaxUnavailable
    }),
    account: "statefulset-controller",
    aliases: ["statefulset-controller"],
    summary: "keeps replicas with lasting names and claims, in order"
  },
  {
    ...core,
    controller: Job.make({ concurrency: settings.jobSyncs }),
    account: "job-controller",
    aliases: ["job-controller"],
    summary: "runs pods to their end until enough of a Job's have succeeded"
  },
  {
    ...core,
    controller: CronJob.make({ concurrency: settings.cronJobSyncs }),
    account: "cronjob-controller",
    aliases: ["cronjob-controller"],
    summary: "makes Jobs at the times of schedules, in the clocks of any place"
  },
  {
    ...core,
    controller: TtlAfterFinished.make({ concurrency: settings.ttlAfterFinishedSyncs }),
    account: "ttl-after-finished-controller",
    aliases: ["ttl-after-finished-controller"],
    summary: "deletes Jobs some time after they have ended"
  },
  {
    ...core,
    controller: Endpoints.make({ concurrency: settings.endpointSyncs, batchPeriod: settings.endpointBatchPeriod }),
    account: "endpoint-controller",
    aliases: ["endpoints-controller"],
    summary: "keeps the addresses of the pods behind each Service in one object of its name"
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
    summary: "keeps the same addresses in slices, from where every node reads them"
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
    summary: "shows Endpoints that others write in slices too"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: NodeLifecycle.make(nodeHealth(settings)),
    account: "node-controller",
    aliases: ["node-lifecycle-controller"],
    summary: "says of nodes that nobody hears of that they are not ready, and lets pods leave them"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: TaintEviction.make(),
    account: "node-controller",
    aliases: ["taint-eviction-controller"],
    summary: "deletes the pods that do not tolerate their node's taints, or not any longer"
  },
  {
    ...core,
    controller: Disruption.make(),
    account: "disruption-controller",
    aliases: ["disruption-controller"],
    summary: "says of each disruption budget how many of its pods may be evicted now"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: LegacyTokenCleaner.make({ period: settings.legacyTokenPeriod }),
    account: "legacy-service-account-token-cleaner",
    aliases: ["legacy-serviceaccount-token-cleaner-controller", "legacy-service-account-token-cleaner"],
    summary: "deletes tokens in Secrets that nobody has used for years"
  },
  {
    ...core,
    controller: ClusterRoleAggregation.make(),
    account: "clusterrole-aggregation-controller",
    aliases: ["clusterrole-aggregation-controller"],
    summary: "gives ClusterRoles that aggregate the rules of those they select"
  },
  {
    ...core,
    controller: CloudNodeLifecycle.make({ period: settings.nodeMonitorPeriod }),
    aliases: ["cloud-node-lifecycle-controller"],
    summary: "deletes nodes whose machines the cloud does not have any more"
  },
  {
    ...core,
    controller: PvcProtection.make(),
    account: "pvc-protection-controller",
    aliases: ["persistentvolumeclaim-protection-controller", "pvc-protection"],
    summary: "keeps claims that are deleted until no pod uses them"
  },
  {
    ...core,
    controller: HorizontalPodAutoscaler.withServedMetrics(HorizontalPodAutoscaler.make(autoscaling(settings))),
    account: "horizontal-pod-autoscaler",
    aliases: ["horizontal-pod-autoscaler-controller"],
    summary: "gives whatever can be scaled as many replicas as its metrics ask for"
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
    summary: "runs memcached servers, as many as each Memcached asks for"
  },
  {
    controller: EcsBinding.make(),
    byDefault: "embedded",
    summary: "marks every EcsBinding as looked at"
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
