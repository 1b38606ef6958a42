/**
 * For tests of controllers: a cluster in virtual time. `ClusterTest.layer` is all most tests need; the embedded API server, its
 * fault scripts and the simulated nodes are there one by one too. It imports `effect` and nothing of any platform.
 */
export { ApiServer } from "./apiserver/ApiServer.ts"
export * as Faults from "./apiserver/faults.ts"
export { ManifestError } from "./testing/apply.ts"
export { ClusterTest, type Provides } from "./testing/ClusterTest.ts"
export { NotReached, TestCluster } from "./testing/TestCluster.ts"
export * as Nodes from "./simulation/Nodes.ts"
export { type Exploration, ExplorationFailed, explore } from "./testing/explore/explore.ts"
export type { Cluster as ExploredCluster, Options as ExploreOptions } from "./testing/explore/Exploration.ts"
export type {
  Progress as ExploreProgress,
  Report as ExploreReport,
  Settings as ExploreSettings
} from "./testing/explore/search.ts"
export type { Failure as ExploreFailure } from "./testing/explore/failures.ts"
export * as Invariants from "./testing/explore/invariants.ts"
