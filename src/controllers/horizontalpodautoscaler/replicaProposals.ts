/**
 * Queries all metrics of an autoscaler concurrently and computes their proposals. A failure is one of the results.
 * Source: pkg/controller/podautoscaler: computeReplicasForMetrics.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Pod } from "../../kube/resources.ts"
import type { MetricsApi, MetricsError } from "../../layers/MetricsApi.ts"
import type { Scale } from "../shared/scale/scales.ts"
import type { Deps } from "./deps.ts"
import * as Metrics from "./metrics.ts"
import { isOfSpec, type MetricResults } from "./plan/plan.ts"
import * as ReplicaProposal from "./plan/replicaProposal.ts"
import * as MetricQuery from "./plan/metricQuery.ts"
import * as Spec from "./plan/spec.ts"
import type { Snapshot } from "./snapshot.ts"
import type { State } from "./state.ts"

export interface Given {
  readonly snapshot: Snapshot
  readonly scale: Scale
  /** The target's pods. */
  readonly pods: ReadonlyArray<Pod>
}

/** Concurrent queries for one autoscaler. */
const atOnce = 4

type One = MetricResults[number]

export const all = (deps: Deps, state: State, given: Given): Effect.Effect<MetricResults> => {
  const { autoscaler } = given.snapshot
  const before = autoscaler.status?.currentReplicas ?? 0
  return Effect.forEach(
    Spec.metricsOf(autoscaler),
    (spec) => Metrics.computed(spec.type, one(deps, state, given, spec), (result) => outcomeOf(result, before)),
    { concurrency: atOnce }
  )
}

const outcomeOf = (result: One, before: number): { readonly action: Metrics.Action; readonly fault: Metrics.Fault } =>
  Result.isSuccess(result)
    ? { action: Metrics.actionOf(before, result.success.replicas), fault: "none" }
    : { action: "none", fault: isOfSpec(result.failure) ? "spec" : "internal" }

const one = (
  { metrics }: Deps,
  { settings }: State,
  { snapshot, pods, scale }: Given,
  spec: Spec.MetricSpec
): Effect.Effect<One> => {
  const { autoscaler, namespace, now } = snapshot
  const query = MetricQuery.queryOf(spec, { namespace, selector: scale.status?.selector ?? "" })
  if (Result.isFailure(query)) return Effect.succeed(Result.fail(query.failure))
  return Effect.match(measure(metrics, query.success), {
    onFailure: ({ message }): One => Result.fail(MetricQuery.queryFailed(spec, namespace, message)),
    onSuccess: (measured) =>
      ReplicaProposal.propose(
        {
          spec,
          pods,
          current: scale.spec?.replicas ?? 0,
          observed: scale.status?.replicas ?? 0,
          tolerances: Spec.tolerancesOf(autoscaler, settings),
          settings,
          now
        },
        measured
      )
  })
}

const measure = (
  metrics: MetricsApi["Service"],
  query: MetricQuery.Query
): Effect.Effect<ReplicaProposal.Measured, MetricsError> => {
  switch (query._tag) {
    case "Resource":
      return Effect.map(metrics.resource(query), (samples) => ({ _tag: "Samples", samples }))
    case "Pods":
      return Effect.map(metrics.pods(query), (samples) => ({ _tag: "Samples", samples }))
    case "Object":
      return Effect.map(metrics.object(query), (amount) => ({ _tag: "Amounts", amounts: [amount] }))
    case "External":
      return Effect.map(metrics.external(query), (amounts) => ({ _tag: "Amounts", amounts }))
  }
}
