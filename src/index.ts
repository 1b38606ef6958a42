/**
 * The library: what a controller is written with. It imports `effect` and nothing of any platform, so it runs wherever Effect
 * does; `effect-controller-manager/node` has the platform's edge, `effect-controller-manager/testing` the embedded cluster.
 */
export * as Access from "./kube/Access.ts"
export * as ApiError from "./kube/ApiError.ts"
export * as Key from "./kube/Key.ts"
export * as Meta from "./kube/Meta.ts"
export * as Patch from "./kube/Patch.ts"
export * as Resource from "./kube/Resource.ts"
export * as ResourceVersion from "./kube/ResourceVersion.ts"
export * as Selector from "./kube/Selector.ts"
export * as Status from "./kube/Status.ts"
export * from "./kube/resources.ts"

export * as Change from "./streams/Change.ts"
export * as Delta from "./streams/Delta.ts"
export * as KeyedQueue from "./streams/KeyedQueue.ts"
export * as Predicate from "./streams/predicate.ts"
export * as Reconcile from "./streams/Reconcile.ts"
export { reflect } from "./streams/reflect.ts"
export * as Store from "./streams/Store.ts"
export * as Trigger from "./streams/trigger.ts"
export * as Watch from "./streams/watch.ts"

export { Cache, type Informer, type InformerFailure, type Listener, NotCached } from "./layers/Cache.ts"
export * as Controller from "./layers/Controller.ts"
export { Discovery, NotServed } from "./layers/Discovery.ts"
export { Endpoint } from "./layers/Endpoint.ts"
export { KubeClient } from "./layers/KubeClient.ts"
export { LeaderLost, Leadership } from "./layers/Leadership.ts"
export * as Manager from "./layers/manager/Manager.ts"
export * as Roster from "./layers/manager/roster.ts"
export { type EventSink, Recorder } from "./layers/Recorder.ts"
export * as Schedules from "./layers/Schedules.ts"
export { SupervisedFailure, Supervisor } from "./layers/Supervisor.ts"
export { Transport } from "./layers/Transport.ts"

export * as Election from "./leader/Election.ts"
