/**
 * Settings of single controllers of this program; a program with other controllers has none of these. `controllers.ts` has the settings
 * of all controllers.
 */
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import type { Resolved } from "../setting/sources.ts"
import * as Concurrency from "../runnables/concurrency.ts"
import * as Autoscaling from "./autoscaling.ts"
import type * as Controllers from "./controllers.ts"
import * as Nodes from "./nodes.ts"

/** The concurrency of one controller. */
const syncs = (name: string, initial: number, what: string) =>
  Setting.make(Codecs.concurrency, {
    name,
    group: "tuning",
    description: `${what} worked on at once`,
    default: String(initial)
  })

/** How long changes are batched before they are written. */
const batchPeriod = (name: string, what: string) =>
  Setting.make(Codecs.duration, {
    name,
    group: "tuning",
    description: `How long changes of ${what}; 0 does so at once`,
    default: "0s"
  })

export const settings = {
  podCountInterval: Setting.make(Codecs.interval, {
    name: "pod-count-interval",
    group: "tuning",
    description: "Time between two counts",
    default: "10s"
  }),
  podCountSchedule: Setting.make(Codecs.choice(["spaced", "nonsliding"]), {
    name: "pod-count-schedule",
    group: "tuning",
    description: "Count the interval from the end of a run, or from its start",
    default: "spaced"
  }),
  podCountNodes: Setting.optional(Codecs.labels, {
    name: "pod-count-node-selector",
    group: "tuning",
    description: "Nodes to label; without it those with the control-plane or master role label"
  }),
  deploymentSyncs: syncs("concurrent-deployment-syncs", 5, "Deployments"),
  replicaSetSyncs: syncs("concurrent-replicaset-syncs", 5, "ReplicaSets"),
  replicationControllerSyncs: syncs("concurrent-rc-syncs", 5, "ReplicationControllers"),
  daemonSetSyncs: syncs("concurrent-daemonset-syncs", 2, "DaemonSets"),
  statefulSetSyncs: syncs("concurrent-statefulset-syncs", 5, "StatefulSets"),
  jobSyncs: syncs("concurrent-job-syncs", 5, "Jobs"),
  cronJobSyncs: syncs("concurrent-cron-job-syncs", 5, "CronJobs"),
  ttlAfterFinishedSyncs: syncs("concurrent-ttl-after-finished-syncs", 5, "Jobs that have ended"),
  endpointSyncs: syncs("concurrent-endpoint-syncs", 5, "Services whose Endpoints are"),
  endpointBatchPeriod: batchPeriod(
    "endpoint-updates-batch-period",
    "pods are gathered before they are written to Endpoints"
  ),
  serviceEndpointSyncs: syncs("concurrent-service-endpoint-syncs", 5, "Services whose EndpointSlices are"),
  maxEndpointsPerSlice: Setting.make(Codecs.integer({ min: 1, max: 1000, expected: "a number from 1 to 1000" }), {
    name: "max-endpoints-per-slice",
    group: "tuning",
    description: "Endpoints in one EndpointSlice, at most",
    default: "100"
  }),
  endpointSliceBatchPeriod: batchPeriod(
    "endpointslice-updates-batch-period",
    "pods are gathered before they are written to EndpointSlices"
  ),
  mirroringSyncs: syncs(
    "mirroring-concurrent-service-endpoint-syncs",
    5,
    "Endpoints that are mirrored to EndpointSlices are"
  ),
  mirroringMaxEndpoints: Setting.make(Codecs.integer({ min: 1, max: 1000, expected: "a number from 1 to 1000" }), {
    name: "mirroring-max-endpoints-per-subset",
    group: "tuning",
    description: "Addresses of a subset of Endpoints that are mirrored to EndpointSlices, at most",
    default: "1000"
  }),
  mirroringBatchPeriod: batchPeriod(
    "mirroring-endpointslice-updates-batch-period",
    "mirrored EndpointSlices are gathered before they are put right"
  ),
  serviceAccountTokenSyncs: syncs(
    "concurrent-serviceaccount-token-syncs",
    5,
    "Secrets with tokens of service accounts"
  ),
  serviceAccountKeyFile: Setting.optional(Codecs.text("file"), {
    name: "service-account-private-key-file",
    group: "tuning",
    description:
      "File with the private key, RSA or elliptic, in PEM, that signs service account tokens; without it serviceaccount-token runs on the embedded cluster only, with that cluster's key"
  }),
  rootCaFile: Setting.optional(Codecs.text("file"), {
    name: "root-ca-file",
    group: "tuning",
    description:
      "File with the certificate authorities, in PEM, by which pods verify the API server; default is those of this program's connection"
  }),
  gcSyncs: syncs("concurrent-gc-syncs", 20, "Objects that the garbage collector has"),
  namespaceSyncs: syncs("concurrent-namespace-syncs", 10, "Namespaces"),
  namespaceSyncPeriod: Setting.make(Codecs.interval, {
    name: "namespace-sync-period",
    group: "tuning",
    description: "Time after which namespaces are reconciled again",
    default: "5m"
  }),
  resourceQuotaSyncs: syncs("concurrent-resource-quota-syncs", 5, "New ResourceQuotas, and as many others,"),
  resourceQuotaSyncPeriod: Setting.make(Codecs.interval, {
    name: "resource-quota-sync-period",
    group: "tuning",
    description: "Time after which the usage of all ResourceQuotas is recounted",
    default: "5m"
  }),
  terminatedPodThreshold: Setting.make(Codecs.integer({ min: -999_999_999, max: 999_999_999, expected: "a number" }), {
    name: "terminated-pod-gc-threshold",
    group: "tuning",
    description: "Number of terminated pods to keep; 0 or less keeps all",
    default: "12500"
  }),
  legacyTokenPeriod: Setting.make(Codecs.interval, {
    name: "legacy-service-account-token-clean-up-period",
    group: "tuning",
    description:
      "Time after which unused token Secrets are marked as invalid; they are deleted after the same time again",
    default: "8760h"
  }),
  ...Nodes.settings,
  autoscalerSyncs: syncs("concurrent-horizontal-pod-autoscaler-syncs", 5, "HorizontalPodAutoscalers"),
  ...Autoscaling.settings,
  memcachedImage: Setting.make(Codecs.text("image"), {
    name: "memcached-image",
    env: "MEMCACHED_IMAGE",
    group: "tuning",
    description: "Image that the servers of Memcacheds run",
    default: "memcached:1.6-alpine"
  })
}

/** The flags of controllers that have one of their own, and the kinds that they reconcile where there is one. */
const own = {
  deploymentSyncs: "Deployment.apps",
  replicaSetSyncs: "ReplicaSet.apps",
  replicationControllerSyncs: "ReplicationController",
  daemonSetSyncs: "DaemonSet.apps",
  statefulSetSyncs: "StatefulSet.apps",
  jobSyncs: "Job.batch",
  cronJobSyncs: "CronJob.batch",
  ttlAfterFinishedSyncs: "Job.batch",
  autoscalerSyncs: "HorizontalPodAutoscaler.autoscaling",
  endpointSyncs: "Service",
  serviceEndpointSyncs: "Service",
  mirroringSyncs: "Endpoints",
  serviceAccountTokenSyncs: "Secret",
  gcSyncs: undefined,
  namespaceSyncs: "Namespace",
  resourceQuotaSyncs: "ResourceQuota"
} as const satisfies Partial<Record<keyof typeof settings, string | undefined>>

/** The concurrency of each of these controllers. */
export const syncsOf = ({
  origins,
  values
}: Pick<Resolved<typeof settings & typeof Controllers.settings>, "origins" | "values">): Readonly<
  Record<keyof typeof own, number>
> => {
  const said = <K extends keyof typeof settings | "concurrency">(setting: K) =>
    origins[setting]._tag === "Default" ? undefined : values[setting]
  const of = (flag: keyof typeof own): number =>
    Concurrency.choose(
      {
        own: said(flag),
        kind: own[flag] === undefined ? undefined : values.concurrencyOf.get(own[flag]),
        everybody: said("concurrency")
      },
      values[flag]
    )
  return {
    deploymentSyncs: of("deploymentSyncs"),
    replicaSetSyncs: of("replicaSetSyncs"),
    replicationControllerSyncs: of("replicationControllerSyncs"),
    daemonSetSyncs: of("daemonSetSyncs"),
    statefulSetSyncs: of("statefulSetSyncs"),
    jobSyncs: of("jobSyncs"),
    cronJobSyncs: of("cronJobSyncs"),
    ttlAfterFinishedSyncs: of("ttlAfterFinishedSyncs"),
    autoscalerSyncs: of("autoscalerSyncs"),
    endpointSyncs: of("endpointSyncs"),
    serviceEndpointSyncs: of("serviceEndpointSyncs"),
    mirroringSyncs: of("mirroringSyncs"),
    serviceAccountTokenSyncs: of("serviceAccountTokenSyncs"),
    gcSyncs: of("gcSyncs"),
    namespaceSyncs: of("namespaceSyncs"),
    resourceQuotaSyncs: of("resourceQuotaSyncs")
  }
}
