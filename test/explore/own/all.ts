/** The explorations of the controllers of this program. */
import * as CronJob from "./CronJob.explore.ts"
import * as DaemonSet from "./DaemonSet.explore.ts"
import * as Deployment from "./Deployment.explore.ts"
import * as EcsBinding from "./EcsBinding.explore.ts"
import * as Endpoints from "./Endpoints.explore.ts"
import * as EndpointSliceMirroring from "./EndpointSliceMirroring.explore.ts"
import * as GarbageCollector from "./GarbageCollector.explore.ts"
import * as HorizontalPodAutoscaler from "./HorizontalPodAutoscaler.explore.ts"
import * as Housekeeping from "./Housekeeping.explore.ts"
import * as Job from "./Job.explore.ts"
import * as Memcached from "./Memcached.explore.ts"
import * as Namespaces from "./Namespaces.explore.ts"
import * as Nodes from "./Nodes.explore.ts"
import * as PodCount from "./PodCount.explore.ts"
import * as Quotas from "./Quotas.explore.ts"
import * as ReplicaSet from "./ReplicaSet.explore.ts"
import * as ReplicationController from "./ReplicationController.explore.ts"
import * as StatefulSet from "./StatefulSet.explore.ts"
import * as Tokens from "./Tokens.explore.ts"

/** Of controllers with pods. */
export const workloads = [ReplicaSet, ReplicationController, Deployment, StatefulSet, DaemonSet, Job, CronJob].flatMap(
  (module) => Object.values(module)
)

/** Of all others. */
export const others = [
  Memcached,
  EcsBinding,
  PodCount,
  Endpoints,
  EndpointSliceMirroring,
  GarbageCollector,
  Namespaces,
  Quotas,
  Tokens,
  Nodes,
  Housekeeping,
  HorizontalPodAutoscaler
].flatMap((module) => Object.values(module))
