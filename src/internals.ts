/**
 * The machinery behind the other entries, for a closer look or a program that is put together by hand. It promises nothing: every symbol
 * may change or disappear in any release, without a line in the changelog. What a controller's author needs is in
 * `effect-controller-manager`. It imports `effect` and nothing of any platform.
 */
export * as ResourceVersion from "./kube/ResourceVersion.ts"

export * as KeyedQueue from "./streams/queue/KeyedQueue.ts"
export * as LoopMetrics from "./streams/reconcile/loopMetrics.ts"
export * as ReconcileLoop from "./streams/reconcile/Reconcile.ts"
export * as Store from "./streams/store/Store.ts"
export * as Watch from "./streams/watch/watch.ts"

export type { Informer, InformerFailure, Listener } from "./layers/Cache.ts"
export { LeaderLost, Leadership } from "./layers/Leadership.ts"
export { Quiescence } from "./layers/Quiescence.ts"
export * as Shutdown from "./layers/Shutdown.ts"
export * as Election from "./leader/Election.ts"
export * as Manager from "./manager/Manager.ts"
export * as Registry from "./manager/registry.ts"

export * as Api from "./apiserver/Api.ts"
export * as WebhookCaller from "./apiserver/webhook/WebhookCaller.ts"
export * as Machine from "./simulation/Machine.ts"
