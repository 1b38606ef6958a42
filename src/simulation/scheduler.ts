/**
 * The simulated scheduler: an ordinary client that watches pods and nodes and binds each pending pod to a node. Its cache of nodes and pods
 * is updated pod by pod. A pod that fits on no node gets a condition and an event with the reason, and is tried again when a change could
 * make room or binds its claims. It ignores pods with scheduling gates, of another scheduler, or being deleted. Higher priority goes first;
 * nothing is preempted.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Key from "../kube/Key.ts"
import * as Patch from "../kube/Patch.ts"
import * as PodFacts from "../kube/pod.ts"
import { Node, PersistentVolumeClaim, Pod, StorageClass } from "../kube/resources.ts"
import * as Resource from "../kube/Resource.ts"
import type { Delta } from "../streams/store/Store.ts"
import type { KeyedQueue } from "../streams/queue/KeyedQueue.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import { Cache } from "../layers/Cache.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import type { EventSink } from "../layers/Recorder.ts"
import { annotations } from "./cloud/binding.ts"
import * as Machine from "./Machine.ts"
import * as Placement from "./placement.ts"
import * as SchedulerCache from "./placement/SchedulerCache.ts"
import * as ClaimRules from "./placement/claimRules.ts"
import * as PodRules from "./placement/podRules.ts"
import * as CallFailure from "./callFailure.ts"

export const component = "default-scheduler"

export interface Options {
  readonly queue: KeyedQueue
  readonly events: EventSink["event"]
}

/** Runs until interrupted. */
export const run = Effect.fnUntraced(function* ({ events, queue }: Options) {
  const cache = yield* Cache
  const client = yield* KubeClient
  const pods = yield* cache.subscribe(Pod)
  const nodes = yield* cache.subscribe(Node)
  const claims = yield* cache.subscribe(PersistentVolumeClaim)
  const classes = yield* cache.subscribe(StorageClass)
  const schedulerCache = new SchedulerCache.SchedulerCache()
  /** Pods that fitted on no node, and whether they have pod affinity: tried again when something changes. */
  const unplaced = new Map<Key.Key, boolean>()

  const retry = (onlyWithPodAffinity: boolean): void => {
    for (const [key, hasPodAffinity] of unplaced)
      if (hasPodAffinity || !onlyWithPodAffinity) queue.addUnsafe(key, priorityOf(pods.store.get(key)))
  }

  const onPodDelta = (delta: Delta<Pod>): void => {
    const key = Key.of(delta.object)
    if (delta._tag === "Deleted") {
      unplaced.delete(key)
      return schedulerCache.removePod(key)
    }
    schedulerCache.setPod(delta.object)
    if (isWaiting(delta.object) && !schedulerCache.isAssumed(key)) queue.addUnsafe(key, priorityOf(delta.object))
  }
  yield* pods.onDeltas((deltas) => {
    for (const delta of deltas) onPodDelta(delta)
    if (unplaced.size === 0) return
    if (deltas.some(mayMakeRoom)) retry(false)
    else if (deltas.some(mayMatchAffinity)) retry(true)
  })
  yield* nodes.onDeltas((deltas) => {
    for (const { _tag, object } of deltas)
      if (_tag === "Deleted") schedulerCache.removeNode(object.metadata.name)
      else schedulerCache.setNode(object)
    if (unplaced.size > 0 && deltas.some(mayFitMore)) retry(false)
  })

  yield* claims.onDeltas((deltas) => {
    if (unplaced.size === 0) return
    const changed = new Set(deltas.map(({ object }) => Key.of(object)))
    for (const key of unplaced.keys()) {
      const pod = pods.store.get(key)
      if (pod !== undefined && claimKeys(pod).some((one) => changed.has(one))) queue.addUnsafe(key, priorityOf(pod))
    }
  })

  const schedule = Effect.fnUntraced(function* (key: Key.Key) {
    const pod = pods.store.get(key)
    if (pod === undefined || !isWaiting(pod) || schedulerCache.isAssumed(key)) return void unplaced.delete(key)
    const verdict = ClaimRules.check(pod, claims.store, classes.store)
    const placement =
      verdict._tag === "Unsuitable" && schedulerCache.nodeCount > 0
        ? Placement.onNoNode(schedulerCache, [verdict.reason])
        : Placement.place(pod, schedulerCache)
    if (placement._tag === "None") {
      unplaced.set(key, PodRules.hasPodAffinity(pod))
      return yield* unschedulable(client, events, pod, placement.message)
    }
    if (verdict._tag === "Suitable" && verdict.unbound.length > 0) {
      unplaced.set(key, PodRules.hasPodAffinity(pod))
      return yield* Effect.forEach(verdict.unbound, (claim) => selectNode(client, claim, placement.name), {
        discard: true
      })
    }
    unplaced.delete(key)
    schedulerCache.assume(pod, placement.name)
    yield* Effect.onError(bind(client, pod, placement.name), () => Effect.sync(() => schedulerCache.forget(key)))
    const message = `Successfully assigned ${key} to ${placement.name}`
    return yield* events(pod, "Normal", "Scheduled", message, { action: "Binding" })
  })

  yield* nodes.synced
  yield* claims.synced
  yield* classes.synced
  yield* pods.synced
  return yield* Reconcile.run(queue, {
    concurrency: 1,
    timeout: "none",
    reconcile: (key) => CallFailure.logFailure(schedule(key))
  })
})

const claimKeys = (pod: Pod): ReadonlyArray<Key.Key> =>
  ClaimRules.claimNames(pod).map((name) => Key.make(pod.metadata.namespace, name))

/** The pod is bound when its claims are. A node that was selected before stays: its volume may be provisioned by now. */
const selectNode = (client: KubeClient["Service"], { metadata }: PersistentVolumeClaim, node: string) => {
  const { name, namespace, resourceVersion } = metadata
  if (metadata.annotations?.[annotations.selectedNode] !== undefined) return Effect.void
  const body = { metadata: { resourceVersion, annotations: { [annotations.selectedNode]: node } } }
  return Effect.asVoid(client.patch(PersistentVolumeClaim, { namespace, name }, Patch.merge(body)))
}

/** Queues treat a negative priority as low, which suits pods of such a priority. */
const priorityOf = (pod: Pod | undefined): number => pod?.spec?.priority ?? 0

const isWaiting = (pod: Pod): boolean =>
  SchedulerCache.nodeOf(pod) === undefined &&
  pod.metadata.deletionTimestamp === undefined &&
  (pod.spec?.schedulingGates ?? []).length === 0 &&
  !PodFacts.isTerminal(pod) &&
  (pod.spec?.schedulerName ?? component) === component

const mayMakeRoom = (delta: Delta<Pod>): boolean =>
  delta._tag === "Deleted" ||
  (delta._tag === "Updated" && PodFacts.isTerminal(delta.object) && !PodFacts.isTerminal(delta.previous))

/** A pod was placed, or its labels changed: another may have affinity to it. */
const mayMatchAffinity = (delta: Delta<Pod>): boolean =>
  delta._tag !== "Deleted" && SchedulerCache.nodeOf(delta.object) !== undefined

/** Heartbeats change nothing that placement uses. */
const mayFitMore = (delta: Delta<Node>): boolean =>
  delta._tag !== "Deleted" &&
  (delta._tag === "Created" || placementFacts(delta.object) !== placementFacts(delta.previous))

const placementFacts = ({ metadata, spec, status }: Node): string =>
  JSON.stringify([
    metadata.labels,
    spec?.unschedulable,
    spec?.taints,
    status?.allocatable,
    status?.conditions?.find(({ type }) => type === "Ready")?.status
  ])

const bind = (client: KubeClient["Service"], pod: Pod, node: string) => {
  const { name, namespace, uid } = pod.metadata
  const path = Resource.path(Pod, { namespace, name, subresource: "binding" })
  return client.raw({
    method: "POST",
    path,
    body: {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name, namespace, uid },
      target: { apiVersion: "v1", kind: "Node", name: node }
    },
    context: { verb: "create", path, resource: "pods/binding", namespace, name }
  })
}

const unschedulable = Effect.fnUntraced(function* (
  client: KubeClient["Service"],
  events: EventSink["event"],
  pod: Pod,
  message: string
) {
  const before = pod.status?.conditions ?? []
  const known = before.find(({ type }) => type === "PodScheduled")
  if (known?.status === "False" && known.message === message) return
  const now = Machine.timestamp(yield* Clock.currentTimeMillis)
  const condition = {
    type: "PodScheduled",
    status: "False",
    reason: "Unschedulable",
    message,
    lastProbeTime: null,
    lastTransitionTime: known?.status === "False" ? known.lastTransitionTime : now
  }
  yield* client.patch(
    Pod,
    { namespace: pod.metadata.namespace, name: pod.metadata.name, subresource: "status" },
    Patch.merge({
      metadata: { uid: pod.metadata.uid, resourceVersion: pod.metadata.resourceVersion },
      status: { conditions: [...before.filter(({ type }) => type !== "PodScheduled"), condition] }
    })
  )
  yield* events(pod, "Warning", "FailedScheduling", message, { action: "Scheduling" })
})
