/**
 * For tests of controllers: a cluster in virtual time. `ClusterTest.layer` is all most tests need; the embedded API server, its
 * fault scripts and the simulated nodes are there one by one too. It imports `effect` and nothing of any platform.
 */
export * as Api from "./apiserver/Api.ts"
export { ApiServer } from "./apiserver/ApiServer.ts"
export * as WebhookCaller from "./apiserver/webhook/WebhookCaller.ts"
export * as Faults from "./apiserver/faults.ts"
export { ClusterTest, ManifestError, type Provides } from "./testing/ClusterTest.ts"
export * as Machine from "./simulation/Machine.ts"
export * as Nodes from "./simulation/Nodes.ts"
export { Quiescence } from "./layers/Quiescence.ts"
