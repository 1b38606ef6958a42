/**
 * The replicas that one metric proposes, and its status; or its failure. Pure. Source: pkg/controller/podautoscaler:
 * computeReplicasForMetric.
 */
import * as Result from "effect/Result"
import * as Quantity from "../../../kube/quantity.ts"
import type { Pod } from "../../../kube/resources.ts"
import * as Selector from "../../../kube/Selector.ts"
import type { Samples } from "../../../layers/MetricsApi.ts"
import * as Pods from "./pods.ts"
import * as MetricQuery from "./metricQuery.ts"
import { type MetricSpec, type MetricStatus, type Settings, type Tolerances } from "./spec.ts"
import * as Usage from "./usage.ts"

/** The response to the query. */
export type Measured =
  | { readonly _tag: "Samples"; readonly samples: Samples }
  | { readonly _tag: "Amounts"; readonly amounts: ReadonlyArray<bigint> }

export interface ReplicaProposal {
  readonly replicas: number
  /** The metric's name in the reason of a change. */
  readonly name: string
  readonly status: MetricStatus
}

export interface Given {
  readonly spec: MetricSpec
  readonly pods: ReadonlyArray<Pod>
  /** `spec.replicas` of the target. */
  readonly current: number
  /** `status.replicas` of the target. */
  readonly observed: number
  readonly tolerances: Tolerances
  readonly settings: Settings
  readonly now: number
}

const noPods = "no pods returned by selector while calculating replica count"
const notReady = `unable to calculate ready pods: ${noPods}`

/** The proposal for a measurement. */
export const propose = (
  given: Given,
  measured: Measured
): Result.Result<ReplicaProposal, MetricQuery.MetricFailure> => {
  const { spec } = given
  switch (MetricQuery.kindOf(spec)) {
    case undefined:
      return Result.fail(MetricQuery.unknownType(spec))
    case "Resource":
    case "ContainerResource":
      return byResource(given, samplesOf(measured))
    case "Pods":
      return byPods(given, samplesOf(measured))
    case "Object":
      return byObject(given, sumOf(measured))
    case "External":
      return byExternal(given, sumOf(measured))
  }
}

const none: Samples = new Map()

const samplesOf = (measured: Measured): Samples => (measured._tag === "Samples" ? measured.samples : none)

/** The largest int64, as upstream. */
const ceiling = 2n ** 63n - 1n

const sumOf = (measured: Measured): bigint => {
  const sum = measured._tag === "Amounts" ? measured.amounts.reduce((a, b) => a + b, 0n) : 0n
  return sum > ceiling ? ceiling : sum
}

const calculated = (
  given: Given,
  samples: Samples,
  resource: string | undefined,
  yardstick: () => Result.Result<Usage.Yardstick, string>
): Result.Result<Usage.Answer, string> => {
  const { current, now, pods, settings, tolerances } = given
  if (pods.length === 0) return Result.fail(noPods)
  const usage = { samples, groups: Pods.group({ pods, samples, resource, delays: settings, now }), current, tolerances }
  // Requests are read only if there are samples to compare.
  if (Usage.counted(usage).size === 0) return Result.fail(Usage.unmeasured)
  return Result.flatMap(yardstick(), (one) => Usage.replicas(usage, one))
}

const byResource = (given: Given, samples: Samples): Result.Result<ReplicaProposal, MetricQuery.MetricFailure> => {
  const { pods, spec } = given
  const { container, name, target } = MetricQuery.resourceOf(spec)
  const value = Quantity.milli(target.averageValue)
  const share = target.averageUtilization ?? 100
  const answer = calculated(given, samples, name, () =>
    value === undefined
      ? Result.map(Pods.requests(pods, name, container), (requests) => Usage.utilization(share, requests))
      : Result.succeed(Usage.plain(value))
  )
  return Result.mapBoth(answer, {
    onFailure: (why) => MetricQuery.ofResource(spec, why),
    onSuccess: ({ measure, replicas }) => {
      // In the unit of the metrics server. Source: pkg/controller/podautoscaler: buildQuantity.
      const averageValue = Quantity.ofMilli(measure.average, name === "memory" ? "binary" : "decimal")
      const { utilization } = measure
      const current = utilization === undefined ? { averageValue } : { averageUtilization: utilization, averageValue }
      const what = container === undefined ? "resource" : "container resource"
      return {
        replicas,
        name: value === undefined ? `${name} ${what} utilization (percentage of request)` : `${name} resource`,
        status:
          container === undefined
            ? { type: "Resource", resource: { name, current } }
            : { type: "ContainerResource", containerResource: { name, container, current } }
      }
    }
  })
}

const byPods = (given: Given, samples: Samples): Result.Result<ReplicaProposal, MetricQuery.MetricFailure> => {
  const { spec } = given
  const metric = spec.pods?.metric ?? { name: "" }
  const target = Quantity.milli(spec.pods?.target.averageValue) ?? 0n
  const answer = calculated(given, samples, undefined, () => Result.succeed(Usage.plain(target)))
  return Result.mapBoth(answer, {
    onFailure: (why) => MetricQuery.failureOf(spec, why),
    onSuccess: ({ measure, replicas }) => ({
      replicas,
      name: `pods metric ${metric.name}`,
      status: { type: "Pods", pods: { metric, current: { averageValue: Quantity.ofMilli(measure.average) } } }
    })
  })
}

/** The replicas for the total usage of all pods. */
const together = (given: Given, usage: bigint, target: bigint): Result.Result<number, string> => {
  const { current, pods, tolerances } = given
  const ratio = Number(usage) / Number(target)
  const isSettled = current === 0 || Usage.isNear(tolerances, ratio)
  if (!isSettled && pods.length === 0) return Result.fail(notReady)
  return Result.succeed(Usage.shared(ratio, { current, ready: Pods.readyOf(pods), tolerances }))
}

const byObject = (given: Given, usage: bigint): Result.Result<ReplicaProposal, MetricQuery.MetricFailure> => {
  const { observed, spec, tolerances } = given
  const object = spec.object
  if (object === undefined) return Result.fail(MetricQuery.unknownType(spec))
  const { describedObject, metric, target } = object
  const value = MetricQuery.objectTarget(spec) === "value" ? (Quantity.milli(target.value) ?? 0n) : undefined
  if (value !== undefined) {
    return Result.mapBoth(together(given, usage, value), {
      onFailure: (why) => MetricQuery.failureOf(spec, why),
      onSuccess: (replicas) => ({
        replicas,
        name: `${describedObject.kind} metric ${metric.name}`,
        status: { type: "Object", object: { describedObject, metric, current: { value: Quantity.ofMilli(usage) } } }
      })
    })
  }
  const each = Quantity.milli(target.averageValue) ?? 0n
  const { average, replicas } = Usage.perPod(usage, each, { current: observed, tolerances })
  return Result.succeed({
    replicas,
    name: `external metric ${metric.name}(${Selector.goString(metric.selector)})`,
    status: {
      type: "Object",
      object: { describedObject, metric, current: { averageValue: Quantity.ofMilli(average) } }
    }
  })
}

const byExternal = (given: Given, usage: bigint): Result.Result<ReplicaProposal, MetricQuery.MetricFailure> => {
  const { observed, spec, tolerances } = given
  const external = spec.external
  if (external === undefined) return Result.fail(MetricQuery.unknownType(spec))
  const { metric, target } = external
  const name = `external metric ${metric.name}(${Selector.goString(metric.selector)})`
  const each = Quantity.milli(target.averageValue)
  if (each !== undefined) {
    const { average, replicas } = Usage.perPod(usage, each, { current: observed, tolerances })
    const current = { averageValue: Quantity.ofMilli(average) }
    return Result.succeed({ replicas, name, status: { type: "External", external: { metric, current } } })
  }
  return Result.mapBoth(together(given, usage, Quantity.milli(target.value) ?? 0n), {
    onFailure: (why) => MetricQuery.failureOf(spec, why, MetricQuery.wayOfExternal(spec)),
    onSuccess: (replicas) => ({
      replicas,
      name,
      status: { type: "External", external: { metric, current: { value: Quantity.ofMilli(usage) } } }
    })
  })
}
