/** Metrics of the StatefulSet loop: created, updated and deleted replicas by reason, and what ordered sets wait for. */
import * as Effect from "effect/Effect"
import * as Key from "../../kube/Key.ts"
import type { StatefulSet } from "../../kube/resources.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Metrics from "../shared/workload/metrics.ts"
import { type Action, actions, type Step } from "./plan/step.ts"
import * as Spec from "./spec.ts"

const pods = Family.counter(
  "statefulset_controller_pods_total",
  "Replicas that were created, updated or deleted, by reason",
  ["action", "reason"]
)

const waits = Family.counter(
  "statefulset_controller_waits_total",
  "Syncs of ordered sets that ended before the last replica, by what they wait for",
  ["for"]
)

export const skips = Metrics.staleSkips("statefulset_controller")

/** Recorded only with the feature gate MaxUnavailableStatefulSet, as upstream. */
const gauge = (name: string, description: string) =>
  Family.gauge(`statefulset_controller_statefulset_${name}`, description, [
    "pod_management_policy",
    "statefulset_name",
    "statefulset_namespace"
  ])
const mostUnavailable = gauge(
  "max_unavailable",
  "Replicas of a set that may be unavailable while it is updated, with the gate MaxUnavailableStatefulSet"
)
const unavailable = gauge(
  "unavailable_replicas",
  "Replicas of a set that are missing or not available, with the gate MaxUnavailableStatefulSet"
)

export const families = [skips, pods, waits, mostUnavailable, unavailable]

const policies = ["OrderedReady", "Parallel"] as const

const labelsOf = (namespace: string | undefined, name: string, policy: string) => ({
  statefulset_namespace: namespace ?? "",
  statefulset_name: name,
  pod_management_policy: policy
})

/** Records the gauges of a synced set. */
export const record = (set: StatefulSet, step: Step): Effect.Effect<void> => {
  const { name, namespace } = set.metadata
  const labels = labelsOf(namespace, name, set.spec?.podManagementPolicy ?? "OrderedReady")
  const most = mostUnavailable.set(Spec.maxUnavailable(set), labels)
  return step.unavailable === undefined ? most : Effect.andThen(most, unavailable.set(step.unavailable, labels))
}

/** Removes the gauges of a deleted set. */
export const removeGauges = (key: Key.Key): Effect.Effect<void> => {
  const { name, namespace } = Key.parse(key)
  return Effect.forEach(
    policies.map((policy) => labelsOf(namespace, name, policy)),
    (labels) => Effect.andThen(mostUnavailable.remove(labels), unavailable.remove(labels)),
    { discard: true }
  )
}

/** The labels of an action. */
const kindOf = (action: Action): readonly [action: string, reason: string] => {
  switch (action._tag) {
    case "Create":
      return ["create", "missing"]
    case "Delete":
      return ["delete", action.why]
    case "Update":
      return ["update", "drifted"]
    case "CreateClaims":
    case "UpdateClaims":
      return ["update", "claims"]
  }
}

export const countActions = (step: Step): Effect.Effect<void> => {
  const counts = new Map<string, number>()
  for (const action of actions(step)) {
    const kind = kindOf(action).join(" ")
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const counted = Effect.forEach(
    counts,
    ([kind, count]) => {
      const [action = "", reason = ""] = kind.split(" ")
      return pods.add(count, { action, reason })
    },
    { discard: true }
  )
  if (step.waiting === undefined) return counted
  return Effect.andThen(counted, waits.add(1, { for: step.waiting.for }))
}
