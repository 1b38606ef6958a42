/**
 * Applies the decision for a pod, keeps the schedule and records events. A pod that is not due yet is enqueued for its time. Source:
 * pkg/controller/tainteviction.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Key from "../../kube/Key.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import type { Readable } from "../../streams/store/Store.ts"
import * as Evict from "./apply.ts"
import * as Plan from "./plan.ts"

const deletions = Family.counter(
  "taint_eviction_controller_pod_deletions_total",
  "Pods that were deleted because of a taint of their node"
)

const latency = Family.histogram(
  "taint_eviction_controller_pod_deletion_duration_seconds",
  "Seconds from when a pod was due until it was deleted",
  [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240]
)

export const families = [deletions, latency]

const deleted = (seconds: number): Effect.Effect<void> => Effect.andThen(deletions.add(1), latency.observe(seconds))

export interface Ports extends Evict.Calls {
  readonly pods: Readable<Pod>
  readonly nodes: Readable<Node>
  readonly events: EventSink
}

const reason = "TaintManagerEviction"

export const sync = (ports: Ports, evictions: Plan.Evictions) =>
  Effect.fnUntraced(function* (key: Key.Key) {
    const now = Monotonic.millis(yield* Clock.Clock)
    const pod = ports.pods.get(key)
    const entry = evictions.get(key)
    if (entry !== undefined && entry.pod.metadata.uid !== pod?.metadata.uid) yield* cancel(ports, evictions, key)
    if (pod === undefined) return Reconcile.done
    const node = ports.nodes.get(pod.spec?.nodeName ?? "")
    const taints = node === undefined ? undefined : Plan.noExecuteTaints(node)
    const decision = Plan.decide({ pod, taints, scheduled: evictions.get(key), now: now() })
    switch (decision._tag) {
      case "Leave":
        return Reconcile.done
      case "Cancel":
        return yield* Effect.as(cancel(ports, evictions, key), Reconcile.done)
      case "Keep":
        return Reconcile.after(decision.due - now())
      case "Schedule":
        evictions.set(key, Plan.entryOf(pod, { since: decision.since, due: decision.due, isDone: false }))
        return Reconcile.after(decision.due - decision.since)
      case "Evict":
        return yield* Effect.as(evict(ports, evictions, key, pod), Reconcile.done)
    }
  })

/** Removes a scheduled eviction, and records an event unless the pod was deleted already. */
const cancel = Effect.fnUntraced(function* ({ events }: Ports, evictions: Plan.Evictions, key: Key.Key) {
  const entry = evictions.get(key)
  evictions.delete(key)
  if (entry !== undefined && !entry.isDone) {
    yield* events.normal(entry.pod, reason, `Cancelling deletion of Pod ${key}`)
  }
})

const evict = Effect.fnUntraced(function* (ports: Ports, evictions: Plan.Evictions, key: Key.Key, pod: Pod) {
  const now = Monotonic.millis(yield* Clock.Clock)
  const before = evictions.get(key)
  // The pod is evicted earlier than scheduled.
  if (before !== undefined && before.due > now()) yield* cancel(ports, evictions, key)
  const at = now()
  const entry = evictions.get(key) ?? Plan.entryOf(pod, { since: at, due: at, isDone: false })
  if (!entry.isRecorded) yield* ports.events.normal(pod, reason, `Marking for deletion Pod ${key}`)
  evictions.set(key, { ...entry, isRecorded: true })
  const isDeleted = yield* Evict.evict(ports, pod)
  evictions.set(key, { ...entry, isRecorded: true, isDone: true })
  if (isDeleted) yield* deleted((now() - entry.due) / 1000)
})
