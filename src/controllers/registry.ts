/**
 * The table of all controllers that the program can run: data for `--controllers`, `--help` and permissions. Names are the short ones of kube-
 * controller-manager; its long ones are aliases. Source: cmd/kube-controller-manager/app: NewControllerDescriptors.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ClusterAuthority } from "../layers/ClusterAuthority.ts"
import { Defaults } from "../layers/controller/defaults.ts"
import type { CloudProvider } from "../layers/CloudProvider.ts"
import type * as Controller from "../layers/Controller.ts"
import type { Discovery } from "../layers/Discovery.ts"
import type * as Setting from "../layers/Setting.ts"
import { type About, type Configurable, type Configured, configured } from "../manager/registry.ts"
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

type Needs = ClusterAuthority | CloudProvider | Controller.Services | Discovery

type CoreAbout<R> = Omit<About<R>, "byDefault" | "group">

/** A controller of kube-controller-manager. As there, a sync has no time limit; each API call has one. */
const core = <R, S extends Setting.Settings = {}>(
  { make, settings }: Configurable<R, S>,
  about: CoreAbout<R> | ((values: Setting.Values<S>) => CoreAbout<R>)
): Configured<R> =>
  configured({ settings, make: (values) => unlimited(make(values)) }, (values) => ({
    ...(typeof about === "function" ? about(values) : about),
    byDefault: "embedded",
    group: "core"
  }))

const unlimited = <R>(controller: Controller.Descriptor<R>): Controller.Descriptor<R> => ({
  ...controller,
  layer: Layer.provide(
    controller.layer,
    Layer.effect(
      Defaults,
      Effect.map(Defaults, (loops) => ({ ...loops, timeout: "none" as const }))
    )
  )
})

/** In the order in which they are started. */
export const registry: ReadonlyArray<Configured<Needs>> = [
  core(ServiceAccountToken, ({ keyFile }) => ({
    embeddedOnly: Option.isSome(keyFile)
      ? undefined
      : "there is no signing key; set --service-account-private-key-file",
    aliases: ["serviceaccount-token-controller"],
    summary: "writes tokens of service accounts into Secrets, and deletes the Secrets of deleted accounts"
  })),
  core(ServiceAccount, {
    needsAllNamespaces: true,
    account: "service-account-controller",
    aliases: ["serviceaccount-controller"],
    summary: "creates the default service account in every active namespace"
  }),
  core(RootCa, {
    needsAllNamespaces: true,
    account: "root-ca-cert-publisher",
    aliases: ["root-ca-certificate-publisher-controller"],
    summary: "publishes the CA bundle of the API server to every namespace"
  }),
  core(Namespace, {
    needsAllNamespaces: true,
    account: "namespace-controller",
    // Source: cmd/kube-controller-manager/app: newNamespaceController, newGarbageCollectorController.
    clientLimits: { qps: 20, burst: 100 },
    aliases: ["namespace-controller"],
    summary: "deletes the content of namespaces that are being deleted"
  }),
  core(ResourceQuota, {
    needsAllNamespaces: true,
    account: "resourcequota-controller",
    aliases: ["resourcequota-controller"],
    summary: "writes to each ResourceQuota how much of its limits is used"
  }),
  core(GarbageCollector, {
    needsAllNamespaces: true,
    account: "generic-garbage-collector",
    clientLimits: { qps: 2, burst: 1 },
    aliases: ["garbage-collector-controller"],
    summary: "deletes objects whose owners are gone, and applies the propagation policies of deletions"
  }),
  core(PodGC, {
    needsAllNamespaces: true,
    account: "pod-garbage-collector",
    aliases: ["pod-garbage-collector-controller"],
    summary: "deletes pods of lost nodes, and terminated ones above a threshold"
  }),
  core(Deployment, {
    account: "deployment-controller",
    aliases: ["deployment-controller"],
    summary: "rolls out Deployments, with one ReplicaSet for each pod template"
  }),
  core(ReplicaSet, {
    account: "replicaset-controller",
    aliases: ["replicaset-controller"],
    summary: "keeps the number of pods that each ReplicaSet specifies"
  }),
  core(ReplicationController, {
    account: "replication-controller",
    aliases: ["replicationcontroller-controller", "replication-controller"],
    summary: "keeps the number of pods that each ReplicationController specifies"
  }),
  core(DaemonSet, {
    account: "daemon-set-controller",
    aliases: ["daemonset-controller"],
    summary: "runs one pod of each DaemonSet on every matching node"
  }),
  core(StatefulSet, {
    account: "statefulset-controller",
    aliases: ["statefulset-controller"],
    summary: "keeps pods with stable names and volume claims, in order"
  }),
  core(Job, {
    account: "job-controller",
    aliases: ["job-controller"],
    summary: "runs the pods of Jobs until enough have succeeded"
  }),
  core(CronJob, {
    account: "cronjob-controller",
    aliases: ["cronjob-controller"],
    summary: "creates Jobs on schedules, in any time zone"
  }),
  core(TtlAfterFinished, {
    account: "ttl-after-finished-controller",
    aliases: ["ttl-after-finished-controller"],
    summary: "deletes finished Jobs when their TTL has expired"
  }),
  core(Endpoints, {
    account: "endpoint-controller",
    aliases: ["endpoints-controller"],
    summary: "keeps the addresses of each Service's pods in its Endpoints"
  }),
  core(EndpointSlice, {
    account: "endpointslice-controller",
    aliases: ["endpointslice-controller"],
    summary: "keeps the addresses of each Service's pods in EndpointSlices"
  }),
  core(EndpointSliceMirroring, {
    account: "endpointslicemirroring-controller",
    aliases: ["endpointslice-mirroring-controller"],
    summary: "mirrors Endpoints that users write to EndpointSlices"
  }),
  core(NodeLifecycle, {
    needsAllNamespaces: true,
    account: "node-controller",
    aliases: ["node-lifecycle-controller"],
    summary: "marks nodes that stopped reporting as not ready, and taints them"
  }),
  core(TaintEviction, {
    needsAllNamespaces: true,
    account: "node-controller",
    aliases: ["taint-eviction-controller"],
    summary: "evicts pods that do not tolerate the NoExecute taints of their node"
  }),
  core(Disruption, {
    account: "disruption-controller",
    aliases: ["disruption-controller"],
    summary: "writes to each PodDisruptionBudget how many of its pods may be disrupted"
  }),
  core(LegacyTokenCleaner, {
    needsAllNamespaces: true,
    account: "legacy-service-account-token-cleaner",
    aliases: ["legacy-serviceaccount-token-cleaner-controller", "legacy-service-account-token-cleaner"],
    summary: "deletes auto-generated token Secrets that are unused for long"
  }),
  core(ClusterRoleAggregation, {
    account: "clusterrole-aggregation-controller",
    aliases: ["clusterrole-aggregation-controller"],
    summary: "writes the rules of selected ClusterRoles to aggregating ClusterRoles"
  }),
  core(CloudNodeLifecycle, {
    aliases: ["cloud-node-lifecycle-controller"],
    summary: "deletes nodes whose machines no longer exist in the cloud"
  }),
  core(PvcProtection, {
    account: "pvc-protection-controller",
    aliases: ["persistentvolumeclaim-protection-controller", "pvc-protection"],
    summary: "keeps deleted volume claims until no pod uses them"
  }),
  core(
    {
      settings: HorizontalPodAutoscaler.settings,
      make: (values) => HorizontalPodAutoscaler.withServedMetrics(HorizontalPodAutoscaler.make(values))
    },
    {
      account: "horizontal-pod-autoscaler",
      aliases: ["horizontal-pod-autoscaler-controller"],
      summary: "sets the replicas of scalable objects according to metrics"
    }
  ),
  configured(
    { settings: PodCount.settings, make: PodCount.configured },
    {
      byDefault: "on",
      summary: "labels the control-plane nodes with the number of pods and records it on each pod"
    }
  ),
  configured(Memcached, {
    webhooks: Memcached.webhooks,
    byDefault: "embedded",
    summary: "runs the memcached servers of each Memcached"
  }),
  configured(EcsBinding, {
    byDefault: "embedded",
    summary: "annotates every EcsBinding as reconciled"
  })
]
