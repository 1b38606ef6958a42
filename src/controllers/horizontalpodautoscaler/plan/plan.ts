/**
 * The desired replicas of a target: unchanged, moved into the bounds, or the largest proposal of its metrics,
 * normalised. A failed metric prevents a scale-down. Pure. Source: pkg/controller/podautoscaler: reconcileAutoscaler,
 * computeReplicasForMetrics.
 */
import * as Result from "effect/Result"
import type { HorizontalPodAutoscaler } from "../../../kube/resources.ts"
import * as History from "./history.ts"
import * as Normalise from "./normalise.ts"
import type { ReplicaProposal } from "./replicaProposal.ts"
import type { MetricFailure } from "./metricQuery.ts"
import * as Spec from "./spec.ts"
import * as Status from "../status.ts"

/** What is needed for a decision. */
export type Course =
  /** Scaling is disabled, because the target has zero replicas. */
  | { readonly _tag: "Off" }
  | { readonly _tag: "Bound"; readonly replicas: number; readonly reason: string }
  /** The metrics have to be queried. */
  | { readonly _tag: "Measure" }

const tooMany = "Current number of replicas above Spec.MaxReplicas"
const tooFew = "Current number of replicas below Spec.MinReplicas"

/** Zero replicas disable scaling, unless this controller scaled to zero and a metric can exist without pods. */
export const course = (autoscaler: HorizontalPodAutoscaler, current: number, settings: Spec.Settings): Course => {
  const [min, max] = [Spec.minReplicasOf(autoscaler), Spec.maxReplicasOf(autoscaler)]
  if (current === 0) {
    const isOurs = settings.scalesToZero && Status.isScaledToZero(autoscaler)
    return isOurs && (min !== 0 || Spec.measuresOthers(autoscaler)) ? { _tag: "Measure" } : { _tag: "Off" }
  }
  if (current > max) return { _tag: "Bound", replicas: max, reason: tooMany }
  if (current < min) return { _tag: "Bound", replicas: min, reason: tooFew }
  return { _tag: "Measure" }
}

/** The result of each metric, in order. */
export type MetricResults = ReadonlyArray<Result.Result<ReplicaProposal, MetricFailure>>

export interface Given {
  readonly autoscaler: HorizontalPodAutoscaler
  /** `spec.replicas` of the target. */
  readonly current: number
  /** Empty unless the course is Measure. */
  readonly results: MetricResults
  readonly settings: Spec.Settings
  readonly history: History.History
  readonly now: number
}

export interface Warning {
  readonly reason: string
  readonly message: string
}

export interface Plan {
  /** The desired replicas; undefined if they cannot be determined. */
  readonly desired: number | undefined
  /** The reason of a change. */
  readonly reason: string
  readonly claims: ReadonlyArray<Status.Claim>
  readonly warnings: ReadonlyArray<Warning>
  /** One for each metric, if they were measured. */
  readonly metrics: ReadonlyArray<Spec.MetricStatus>
  /** A failure, even if a size was decided. */
  readonly failure: string | undefined
  readonly history: History.History
}

export const plan = (given: Given): Plan => {
  const { autoscaler, current, history, now, settings } = given
  const observed = History.found(history, current, now)
  const way = course(autoscaler, current, settings)
  const unmeasured = { warnings: [], metrics: [], failure: undefined, history: observed }
  switch (way._tag) {
    case "Off":
      return { ...unmeasured, desired: current, reason: "", claims: [off] }
    case "Bound":
      return { ...unmeasured, desired: way.replicas, reason: way.reason, claims: [] }
    case "Measure":
      return measured({ ...given, history: observed })
  }
}

const off: Status.Claim = {
  type: "ScalingActive",
  status: false,
  reason: "ScalingDisabled",
  message: "scaling is disabled since the replica count of the target is zero"
}

const unable = (reason: string, why: string): Status.Claim => ({
  type: "ScalingActive",
  status: false,
  reason,
  message: `the HPA was unable to compute the replica count: ${why}`
})

/** Whether the autoscaler's spec is wrong. */
export const isOfSpec = ({ reason }: MetricFailure): boolean => reason === "InvalidMetricSourceType"

/** The status of a failed metric. */
const unknown: Spec.MetricStatus = { type: "" }

/**
 * The largest proposal; the first of equal ones, but the last of those of zero. Source: pkg/controller/podautoscaler:
 * computeReplicasForMetrics.
 */
const largest = (results: MetricResults): ReplicaProposal | undefined =>
  results.reduce<ReplicaProposal | undefined>(
    (best, one) =>
      Result.isSuccess(one) && (best === undefined || best.replicas === 0 || one.success.replicas > best.replicas)
        ? one.success
        : best,
    undefined
  )

const measured = (given: Given): Plan => {
  const { current, results } = given
  const failures = results.flatMap((one) => (Result.isFailure(one) ? [one.failure] : []))
  const [first] = failures
  const shared = {
    warnings: failures.map(({ message, reason }) => ({ reason, message })),
    metrics: results.map((one) => (Result.isSuccess(one) ? one.success.status : unknown)),
    failure:
      first === undefined
        ? undefined
        : `invalid metrics (${failures.length} invalid out of ${results.length}), first error is: ${first.summary}`
  }
  const best = largest(results)
  if (best === undefined || (first !== undefined && best.replicas < current)) {
    const claims = first === undefined ? [] : [unable(first.reason, first.message)]
    return { ...shared, claims, desired: undefined, reason: "", history: given.history }
  }
  return { ...shared, ...held(given, best) }
}

/** Normalises the proposal. */
const held = (given: Given, { name, replicas: wanted }: ReplicaProposal) => {
  const { autoscaler, current, history, now, settings } = given
  const [min, max] = [Spec.minReplicasOf(autoscaler), Spec.maxReplicasOf(autoscaler)]
  const behavior = Spec.behaviorOf(autoscaler, settings)
  const { downscaleStabilization } = settings
  const result = Normalise.normalise({ wanted, current, min, max, behavior, downscaleStabilization, history, now })
  // While the target was at zero, the bounds may have changed.
  const isRaised = current === 0 && result.replicas < min
  const reason =
    wanted > current
      ? `${name} above target`
      : wanted < current
        ? "All metrics below target"
        : current < min
          ? tooFew
          : ""
  return {
    desired: isRaised ? min : result.replicas,
    reason,
    claims: [active(name), stability(result), limit(result)],
    history: result.history
  }
}

const active = (name: string): Status.Claim => ({
  type: "ScalingActive",
  status: true,
  reason: "ValidMetricFound",
  message: `the HPA was able to successfully calculate a replica count from ${name}`
})

const stability = ({ stability }: Normalise.Normalised): Status.Claim => ({
  type: "AbleToScale",
  status: true,
  ...stability
})

const limit = ({ isLimited, limit }: Normalise.Normalised): Status.Claim => ({
  type: "ScalingLimited",
  status: isLimited,
  ...limit
})
