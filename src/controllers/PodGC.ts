/**
 * podgc: deletes, every twenty seconds, pods that no other component deletes: terminated pods above a threshold, pods whose node does not exist, and
 * terminating pods whose node is out of service or that were never scheduled. A pod that has not ended is first marked as failed, then deleted with
 * a grace period of zero. A failed deletion is retried in the next run. Source: pkg/controller/podgc: gc.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import { Node, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Plan from "./podgc/plan.ts"
import * as Nodes from "./shared/nodes/node.ts"

export const settings = {
  terminatedPodThreshold: Setting.make(Codecs.integer({ min: -999_999_999, max: 999_999_999, expected: "a number" }), {
    name: "terminated-pod-gc-threshold",
    group: "tuning",
    description: "Number of terminated pods to keep; 0 or less keeps all",
    default: "12500"
  })
}

export type Options = Setting.Options<typeof settings>

const access = [
  Access.read(Pod),
  Access.read(Node),
  Access.get(Node),
  Access.patch(Pod, "status"),
  Access.remove(Pod)
] as const

type Context = Controller.ReconcileContext<(typeof access)[number]>

// A run keeps which nodes are missing, and since when, for the next one.
export const make = (options: Options = {}) =>
  Controller.scheduled({
    name: "podgc",
    component: "pod-garbage-collector-controller",
    metrics: families,
    access,
    schedule: Schedule.spaced("20 seconds"),
    run: (context) => {
      // Starts empty in each leadership term: a node that an earlier term missed may exist again.
      let quarantine = Plan.noQuarantine
      const mark = Nodes.marker()
      return Effect.gen(function* () {
        const pods = yield* context.cache.list(Pod)
        const nodes = yield* context.cache.list(Node)
        const now = Number((yield* Clock.monotonicTimeNanos) / 1_000_000n)
        const found = Plan.quarantined(quarantine, Plan.missingNodes(pods, nodes), now)
        quarantine = found.quarantine
        const lost = new Set(
          yield* Effect.filter(found.suspects, (name) => isGone(context, name), { concurrency: atOnce })
        )
        const threshold = Setting.orDefault(options.terminatedPodThreshold, settings.terminatedPodThreshold)
        const removals = Plan.plan({ pods, nodes, lost, threshold })
        yield* Effect.forEach(removals, (removal) => remove(context, removal, mark), {
          concurrency: atOnce,
          discard: true
        })
      })
    }
  })

/** The most requests in flight. */
const atOnce = 10

/** Whether the server does not have the node. After any other failure the node is assumed to exist. */
const isGone = Effect.fnUntraced(function* ({ client }: Context, name: string) {
  const found = yield* Effect.result(ApiError.unlessGone(client.get(Node, { name })))
  if (Result.isSuccess(found)) return found.success === undefined
  yield* Effect.logWarning(`Cannot tell whether node ${name} still exists: ${found.failure.message}`)
  return false
})

const remove = Effect.fnUntraced(
  function* ({ client }: Context, removal: Plan.Removal, mark: ReturnType<typeof Nodes.marker>) {
    const { name, namespace, uid } = removal.pod.metadata
    const verdict = Plan.verdict(removal, yield* Clock.currentTimeMillis)
    if (verdict !== undefined) yield* mark(client.subresource("status").patch(Pod, { namespace, name }, verdict))
    yield* client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } })
    yield* Effect.logInfo("Removed pod")
  },
  (effect, _, { pod, why }) =>
    effect.pipe(
      ApiError.unlessReplaced,
      (removal) => counted(pod, why, removal),
      Effect.catch((error) => Effect.logWarning(`Cannot remove pod: ${error.message}`)),
      Effect.annotateLogs({ pod: Key.of(pod), why })
    )
)

const removals = Family.counter(
  "pod_gc_collector_force_delete_pods_total",
  "Pods that podgc attempted to delete, by namespace and reason",
  ["namespace", "reason"]
)

const failures = Family.counter(
  "pod_gc_collector_force_delete_pod_errors_total",
  "Pods whose deletion by podgc failed, by namespace and reason",
  ["namespace", "reason"]
)

const families = [removals, failures]

/** Source: pkg/controller/podgc/metrics. */
const reasons: Readonly<Record<Plan.Why, string>> = {
  terminated: "terminated",
  "terminating-out-of-service": "out-of-service",
  orphaned: "orphaned",
  "terminating-unscheduled": "unscheduled"
}

/** Counts the removal of one pod, and its failure. */
const counted = <A, E, R>(pod: Pod, why: Plan.Why, removal: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const labels = { namespace: pod.metadata.namespace ?? "", reason: reasons[why] }
  return Effect.andThen(
    removals.add(1, labels),
    Effect.tapError(removal, () => failures.add(1, labels))
  )
}
