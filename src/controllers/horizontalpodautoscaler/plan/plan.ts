/**
 * What becomes of a target: left alone, put between its bounds, or given the largest size that a metric proposes, held back by what was
 * before. A metric that fails forbids to take replicas away, as nobody knows what it would have said. Pure and total.
 * Source: pkg/controller/podautoscaler: reconcileAutoscaler.
 */
import * as Result from "effect/Result"
import type { HorizontalPodAutoscaler } from "../../../kube/resources.ts"
import * as History from "./history.ts"
import * as Normalise from "./normalise.ts"
import type { ReplicaProposal } from "./replicaProposal.ts"
import type { MetricFailure } from "./metricQuery.ts"
import * as Spec from "./spec.ts"
import * as Status from "./status.ts"

/** What has to be found out before anything can be decided. */
export type Course =
  /** Somebody has switched the target off. */
  | { readonly _tag: "Off" }
  | { readonly _tag: "Bound"; readonly replicas: number; readonly reason: string }
  /** Ask the metrics. */
  | { readonly _tag: "Measure" }

const tooMany = "Current number of replicas above Spec.MaxReplicas"
const tooFew = "Current number of replicas below Spec.MinReplicas"

/** A target without replicas is somebody's wish, unless this loop took the last one away and something else than pods can call it back. */
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

/** What each metric of the autoscaler said, in their order. */
export type MetricResults = ReadonlyArray<Result.Result<ReplicaProposal, MetricFailure>>

export interface Given {
  readonly autoscaler: HorizontalPodAutoscaler
  /** Replicas that were asked for. */
  readonly current: number
  /** Empty unless the course is to measure. */
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
  /** How many replicas the target should have; undefined when nobody can tell. */
  readonly desired: number | undefined
  /** Why, if that is another number than before. */
  readonly reason: string
  readonly claims: ReadonlyArray<Status.Claim>
  readonly warnings: ReadonlyArray<Warning>
  /** One for each metric of the autoscaler, where they were asked. */
  readonly metrics: ReadonlyArray<Spec.MetricStatus>
  /** What is wrong, although something may have been decided. */
  readonly failure: string | undefined
  readonly history: History.History
}

export const plan = (given: Given): Plan => {
  const { autoscaler, current, history, now, settings } = given
  const seen = History.found(history, current, now)
  const way = course(autoscaler, current, settings)
  const quiet = { warnings: [], metrics: [], failure: undefined, history: seen }
  switch (way._tag) {
    case "Off":
      return { ...quiet, desired: current, reason: "", claims: [off] }
    case "Bound":
      return { ...quiet, desired: way.replicas, reason: way.reason, claims: [] }
    case "Measure":
      return measured({ ...given, history: seen })
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

/** Whether the autoscaler itself is at fault. */
export const isOfSpec = ({ reason }: MetricFailure): boolean => reason === "InvalidMetricSourceType"

/** What is shown of a metric that failed. */
const unknown: Spec.MetricStatus = { type: "" }

/** The largest proposal; of equal ones the first, but of those of zero the last. Source: computeReplicasForMetrics. */
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

/** The proposal, held back. */
const held = (given: Given, { name, replicas: wanted }: ReplicaProposal) => {
  const { autoscaler, current, history, now, settings } = given
  const [min, max] = [Spec.minReplicasOf(autoscaler), Spec.maxReplicasOf(autoscaler)]
  const behavior = Spec.behaviorOf(autoscaler, settings)
  const { downscaleStabilization } = settings
  const result = Normalise.normalise({ wanted, current, min, max, behavior, downscaleStabilization, history, now })
  // After its last replica was taken away, the bounds may have been changed.
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
