/**
 * taint-eviction: deletes pods that do not, or no longer, tolerate the `NoExecute` taints of their node. A pod that is not due yet is enqueued for
 * its time. `tainteviction/` decides and evicts. Source: pkg/controller/tainteviction.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import type * as Key from "../kube/Key.ts"
import { Node, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Monotonic from "../streams/monotonic.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Nodes from "./shared/nodes/node.ts"
import * as Apply from "./tainteviction/apply.ts"
import * as Plan from "./tainteviction/plan.ts"
import * as Triggers from "./tainteviction/triggers.ts"

const access = [
  Access.read(Node),
  Access.read(Pod),
  Access.get(Pod),
  Access.patch(Pod, "status"),
  Access.remove(Pod),
  Access.record
] as const

// The triggers read the scheduled evictions, which the syncs keep.
export const make = () =>
  Controller.stateful({
    name: "taint-eviction",
    queue: "noexec_taint_pod",
    metrics: families,
    component: "taint-eviction-controller",
    for: Pod,
    access,
    concurrency: 8,
    body: ({ client, events, store }) =>
      Effect.sync(() => {
        const evictions: Plan.Evictions = new Map()
        const [nodes, pods] = [store(Node), store(Pod)]
        const mark = Nodes.marker()
        const calls: Apply.Calls = {
          // Clusters before 1.25 do not grant `get`. The cached pod is safe too, because the deletion has its uid as a precondition.
          live: (pod) =>
            Effect.catchIf(
              client.get(Pod, pod.metadata),
              (error) => ApiError.hasReason(error, "Forbidden"),
              () => Effect.succeed(pod)
            ),
          patchStatus: ({ metadata }, patch) => mark(client.subresource("status").patch(Pod, metadata, patch)),
          remove: ({ metadata }) => client.delete(Pod, metadata, { preconditions: { uid: metadata.uid } })
        }

        /** Removes a scheduled eviction, and records an event unless the pod was deleted already. */
        const cancel = Effect.fnUntraced(function* (key: Key.Key) {
          const entry = evictions.get(key)
          evictions.delete(key)
          if (entry !== undefined && !entry.isDone) {
            yield* events.normal(entry.pod, reason, `Cancelling deletion of Pod ${key}`)
          }
        })

        const evict = Effect.fnUntraced(function* (key: Key.Key, pod: Pod) {
          const now = Monotonic.millis(yield* Clock.Clock)
          const before = evictions.get(key)
          // The pod is evicted earlier than scheduled.
          if (before !== undefined && before.due > now()) yield* cancel(key)
          const at = now()
          const entry = evictions.get(key) ?? Plan.entryOf(pod, { since: at, due: at, isDone: false })
          if (!entry.isRecorded) yield* events.normal(pod, reason, `Marking for deletion Pod ${key}`)
          evictions.set(key, { ...entry, isRecorded: true })
          const isDeleted = yield* Apply.apply(calls, pod)
          evictions.set(key, { ...entry, isRecorded: true, isDone: true })
          if (isDeleted) yield* deleted((now() - entry.due) / 1000)
        })

        return {
          sources: [
            Controller.watch(Node, Triggers.node(pods, evictions)),
            Controller.watch(Pod, Triggers.pod(nodes, evictions), { indexes: [Nodes.byNode] })
          ],
          reconcile: Effect.fnUntraced(function* ({ key }) {
            const now = Monotonic.millis(yield* Clock.Clock)
            const pod = pods.get(key)
            const entry = evictions.get(key)
            if (entry !== undefined && entry.pod.metadata.uid !== pod?.metadata.uid) yield* cancel(key)
            if (pod === undefined) return Reconcile.done
            const node = nodes.get(pod.spec?.nodeName ?? "")
            const taints = node === undefined ? undefined : Plan.noExecuteTaints(node)
            const plan = Plan.plan({ pod, taints, scheduled: evictions.get(key), now: now() })
            switch (plan._tag) {
              case "Leave":
                return Reconcile.done
              case "Cancel":
                return yield* Effect.as(cancel(key), Reconcile.done)
              case "Keep":
                return Reconcile.after(plan.due - now())
              case "Schedule":
                evictions.set(key, Plan.entryOf(pod, { since: plan.since, due: plan.due, isDone: false }))
                return Reconcile.after(plan.due - plan.since)
              case "Evict":
                return yield* Effect.as(evict(key, pod), Reconcile.done)
            }
          })
        }
      })
  })

/** Of the events. */
const reason = "TaintManagerEviction"

const deletions = Family.counter(
  "taint_eviction_controller_pod_deletions_total",
  "Pods that were deleted because of a taint of their node"
)

const latency = Family.histogram(
  "taint_eviction_controller_pod_deletion_duration_seconds",
  "Seconds from when a pod was due until it was deleted",
  [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240]
)

const families = [deletions, latency]

const deleted = (seconds: number): Effect.Effect<void> => Effect.andThen(deletions.add(1), latency.observe(seconds))
