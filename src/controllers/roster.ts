/**
 * The table of all controllers the program can run: data for `--controllers`, `--help` and permissions. A controller that is
 * not in it does not exist for the program. Names are the short ones of kube-controller-manager; its long ones are aliases.
 * Source: controllers.md H.
 */
import type * as Duration from "effect/Duration"
import type * as Schedule from "effect/Schedule"
import type * as Selector from "../kube/Selector.ts"
import type { Discovery } from "../layers/Discovery.ts"
import type { KubeClient } from "../layers/KubeClient.ts"
import type { Entry } from "../layers/manager/roster.ts"
import type { Run } from "../layers/Schedules.ts"
import * as Deployment from "./Deployment.ts"
import * as EcsBinding from "./EcsBinding.ts"
import * as Endpoints from "./Endpoints.ts"
import * as EndpointSlice from "./EndpointSlice.ts"
import * as GarbageCollector from "./GarbageCollector.ts"
import * as Job from "./Job.ts"
import * as Memcached from "./Memcached.ts"
import * as Namespace from "./Namespace.ts"
import * as PodCount from "./PodCount.ts"
import * as PodGC from "./PodGC.ts"
import * as ReplicaSet from "./ReplicaSet.ts"
import * as ReplicationController from "./ReplicationController.ts"
import * as ServiceAccount from "./ServiceAccount.ts"
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
  readonly jobSyncs?: number | undefined
  readonly ttlAfterFinishedSyncs?: number | undefined
  readonly endpointSyncs?: number | undefined
  readonly serviceEndpointSyncs?: number | undefined
  readonly maxEndpointsPerSlice?: number | undefined
  readonly gcSyncs?: number | undefined
  readonly namespaceSyncs?: number | undefined
  readonly namespaceSyncPeriod?: Duration.Duration | undefined
  readonly terminatedPodThreshold?: number | undefined
  readonly memcachedImage?: string | undefined
}

/** What makes an entry one of kube-controller-manager's loops. */
const core = { byDefault: "embedded", group: "core" } as const

/** In the order in which they are started. */
export const roster = (settings: Settings): ReadonlyArray<Entry<Discovery | KubeClient>> => [
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
    controller: Namespace.make({ concurrency: settings.namespaceSyncs, resyncPeriod: settings.namespaceSyncPeriod }),
    account: "namespace-controller",
    aliases: ["namespace-controller"],
    summary: "empties namespaces that are being deleted, and lets them go"
  },
  {
    ...core,
    needsAllNamespaces: true,
    controller: GarbageCollector.make({ concurrency: settings.gcSyncs }),
    account: "generic-garbage-collector",
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
    controller: Job.make({ concurrency: settings.jobSyncs }),
    account: "job-controller",
    aliases: ["job-controller"],
    summary: "runs pods to their end until enough of a Job's have succeeded"
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
    controller: Endpoints.make({ concurrency: settings.endpointSyncs }),
    account: "endpoint-controller",
    aliases: ["endpoints-controller"],
    summary: "keeps the addresses of the pods behind each Service in one object of its name"
  },
  {
    ...core,
    controller: EndpointSlice.make({
      concurrency: settings.serviceEndpointSyncs,
      maxEndpointsPerSlice: settings.maxEndpointsPerSlice
    }),
    account: "endpointslice-controller",
    aliases: ["endpointslice-controller"],
    summary: "keeps the same addresses in slices, from where every node reads them"
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
