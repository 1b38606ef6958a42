/**
 * The simulated scheduler: an ordinary client that watches pods and nodes and binds each pod without a node to one. It counts
 * bindings that have not come back from the server yet, so two pods in a row do not meet in the same free place. A pod that
 * fits nowhere gets a condition that says why, and is tried again when something changes.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Patch from "../../kube/Patch.ts"
import { Node, Pod } from "../../kube/resources.ts"
import * as Resource from "../../kube/Resource.ts"
import type { Delta } from "../../streams/Delta.ts"
import * as KeyedQueue from "../../streams/KeyedQueue.ts"
import * as Reconcile from "../../streams/Reconcile.ts"
import { Cache } from "../Cache.ts"
import { KubeClient } from "../KubeClient.ts"
import * as Machine from "./Machine.ts"
import * as Placement from "./placement.ts"

const schedulerName = "default-scheduler"

/** Runs until interrupted. */
export const run = Effect.fnUntraced(function* () {
  const cache = yield* Cache
  const client = yield* KubeClient
  const queue = yield* KeyedQueue.make({ name: "scheduler" })
  const pods = yield* cache.subscribe(Pod)
  const nodes = yield* cache.subscribe(Node)
  /** Bound by us, not yet seen bound. */
  const assumed = new Map<Key.Key, { readonly pod: Pod; readonly node: string }>()

  const retryWaiting = (): void => {
    for (const pod of pods.store.list()) if (isWaiting(pod)) queue.addUnsafe(Key.of(pod))
  }

  yield* pods.onDeltas((deltas) => {
    for (const delta of deltas) {
      const key = Key.of(delta.object)
      if (delta._tag === "Deleted" || isBound(delta.object)) assumed.delete(key)
      if (isWaiting(delta.object) && delta._tag !== "Deleted") queue.addUnsafe(key)
    }
    if (deltas.some(freesRoom)) retryWaiting()
  })
  yield* nodes.onDeltas(() => retryWaiting())

  const schedule = Effect.fnUntraced(function* (key: Key.Key) {
    const pod = pods.store.get(key)
    if (pod === undefined || !isWaiting(pod) || assumed.has(key)) return
    const bound = pods.store.list().flatMap((one) => {
      const node = one.spec?.nodeName
      return node === undefined || node === "" ? [] : [{ pod: one, node }]
    })
    const placement = Placement.place(pod, nodes.store.list(), [...bound, ...assumed.values()])
    if (placement._tag === "None") return yield* unschedulable(client, pod, placement.message)
    assumed.set(key, { pod, node: placement.name })
    yield* Effect.onError(bind(client, pod, placement.name), () => Effect.sync(() => assumed.delete(key)))
  })

  yield* nodes.synced
  yield* pods.synced
  return yield* Reconcile.run(queue, { concurrency: 1, reconcile: (key) => forgiving(schedule(key)) })
})

const isBound = (pod: Pod): boolean => pod.spec?.nodeName !== undefined && pod.spec.nodeName !== ""

const isWaiting = (pod: Pod): boolean =>
  !isBound(pod) &&
  pod.metadata.deletionTimestamp === undefined &&
  (pod.spec?.schedulerName ?? schedulerName) === schedulerName

const freesRoom = (delta: Delta<Pod>): boolean =>
  delta._tag === "Deleted" ||
  (delta._tag === "Updated" && delta.object.status?.phase !== delta.previous.status?.phase && isFinished(delta.object))

const isFinished = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed"

/** Somebody else was faster, or the pod is gone: what we will hear of it decides. */
const forgiving = <A>(effect: Effect.Effect<A, ApiError.ApiError>) =>
  effect.pipe(
    Effect.catchIf(
      (error) => ApiError.hasReason(error, "NotFound", "Conflict"),
      () => Effect.void
    )
  )

const bind = (client: KubeClient["Service"], pod: Pod, node: string) => {
  const { name, namespace, uid } = pod.metadata
  return client.raw({
    method: "POST",
    path: Resource.path(Pod, { namespace, name, subresource: "binding" }),
    body: {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name, namespace, uid },
      target: { apiVersion: "v1", kind: "Node", name: node }
    },
    context: {
      verb: "create",
      path: Resource.path(Pod, { namespace, name, subresource: "binding" }),
      resource: "pods/binding",
      namespace,
      name
    }
  })
}

const unschedulable = Effect.fnUntraced(function* (client: KubeClient["Service"], pod: Pod, message: string) {
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
})
