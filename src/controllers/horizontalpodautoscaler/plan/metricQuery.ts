/**
 * The query of a metric, and the failure messages: in the event, in the condition, and in the message about all
 * metrics. Pure. Source: pkg/controller/podautoscaler: computeReplicasForMetric, whose messages these are.
 */
import * as Result from "effect/Result"
import * as Selector from "../../../kube/Selector.ts"
import type { MetricQuery, ObjectQuery, PodsQuery, ResourceQuery } from "../../../layers/MetricsApi.ts"
import { type MetricSpec, type MetricTarget, type Selector as SelectorSpec } from "./spec.ts"

/** A query to one of the metrics APIs. */
export type Query =
  | ({ readonly _tag: "Resource" } & ResourceQuery)
  | ({ readonly _tag: "Pods" } & PodsQuery)
  | ({ readonly _tag: "Object" } & ObjectQuery)
  | ({ readonly _tag: "External" } & MetricQuery)

/** The texts of a failed metric. */
export interface MetricFailure {
  /** The reason of the event and the condition. */
  readonly reason: string
  /** The message of both. */
  readonly message: string
  /** The text in the message about all metrics. */
  readonly summary: string
}

/** The target's namespace and pod selector. */
export interface Target {
  readonly namespace: string
  /** In its string form. */
  readonly selector: string
}

export type Kind = "Resource" | "ContainerResource" | "Pods" | "Object" | "External"

/** The metric's type, with the source it requires; undefined if the server should have rejected it. */
export const kindOf = ({ containerResource, external, object, pods, resource, type }: MetricSpec): Kind | undefined => {
  if (type === "Resource" && resource !== undefined) return type
  if (type === "ContainerResource" && containerResource !== undefined) return type
  if (type === "Pods" && pods !== undefined) return type
  if (type === "Object" && object !== undefined) return type
  return type === "External" && external !== undefined ? type : undefined
}

/** The failure of a metric: `inner` is the event's message; `way` is its prefix in the message about all metrics. */
export const failureOf = (spec: MetricSpec, inner: string, way: ReadonlyArray<string> = []): MetricFailure => {
  const kind = kindOf(spec)
  const of = { Resource: spec.resource?.name, ContainerResource: spec.containerResource?.container }
  const first = {
    Resource: `failed to get ${of.Resource ?? ""} resource metric value`,
    ContainerResource: `failed to get ${of.ContainerResource ?? ""} container metric value`,
    Pods: "failed to get pods metric value",
    Object: "failed to get object metric value",
    External: `failed to get ${spec.external?.metric.name ?? ""} external metric value`
  }
  return kind === undefined
    ? { reason: "InvalidMetricSourceType", message: inner, summary: inner }
    : { reason: `FailedGet${kind}Metric`, message: inner, summary: [first[kind], ...way, inner].join(": ") }
}

export const unknownType = ({ type }: MetricSpec): MetricFailure =>
  failureOf({ type: "" }, `unknown metric source type ${JSON.stringify(type)}`)

const selectorText = (selector: SelectorSpec | undefined): Result.Result<string, string> =>
  selector === undefined ? Result.succeed("") : Result.map(Selector.fromSpec(selector), Selector.formatLabels)

/** The query of a metric. */
export const queryOf = (spec: MetricSpec, target: Target): Result.Result<Query, MetricFailure> => {
  const { namespace, selector } = target
  switch (kindOf(spec)) {
    case undefined:
      return Result.fail(unknownType(spec))
    case "Resource":
    case "ContainerResource": {
      const { container, name, target: wanted } = resourceOf(spec)
      return wanted.averageValue === undefined && wanted.averageUtilization === undefined
        ? Result.fail(failureOf(spec, noResourceTarget))
        : Result.succeed({ _tag: "Resource", namespace, selector, resource: name, container })
    }
    case "Pods":
      return Result.mapBoth(selectorText(spec.pods?.metric.selector), {
        onFailure: (why) => failureOf(spec, why),
        onSuccess: (metricSelector) => ({
          _tag: "Pods",
          namespace,
          selector,
          metric: spec.pods?.metric.name ?? "",
          metricSelector
        })
      })
    case "Object":
      return objectQuestion(spec, namespace)
    case "External":
      return externalQuestion(spec, namespace)
  }
}

const noResourceTarget =
  "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set"
const noTarget = (kind: string) =>
  `invalid ${kind} metric source: neither a value target nor an average value target was set`

/** For Resource and ContainerResource metrics. */
export const resourceOf = ({ containerResource, resource }: MetricSpec) => {
  const source = containerResource ?? resource
  const empty: MetricTarget = { type: "" }
  return { name: source?.name ?? "", container: containerResource?.container, target: source?.target ?? empty }
}

/** For an Object metric the target type selects one of two numbers. */
export const objectTarget = ({ object }: MetricSpec): "value" | "averageValue" | undefined => {
  const target = object?.target
  if (target?.type === "Value" && target.value !== undefined) return "value"
  return target?.type === "AverageValue" && target.averageValue !== undefined ? "averageValue" : undefined
}

const objectQuestion = (spec: MetricSpec, namespace: string): Result.Result<Query, MetricFailure> => {
  const object = spec.object
  if (object === undefined) return Result.fail(unknownType(spec))
  const text = selectorText(object.metric.selector)
  if (Result.isFailure(text)) return Result.fail(failureOf(spec, text.failure))
  if (objectTarget(spec) === undefined) return Result.fail(failureOf(spec, noTarget("object")))
  const { apiVersion = "", kind, name } = object.describedObject
  return Result.succeed({
    _tag: "Object",
    namespace,
    metric: object.metric.name,
    metricSelector: text.success,
    object: { apiVersion, kind, name }
  })
}

const externalQuestion = (spec: MetricSpec, namespace: string): Result.Result<Query, MetricFailure> => {
  const external = spec.external
  if (external === undefined) return Result.fail(unknownType(spec))
  const { metric, target } = external
  if (target.averageValue === undefined && target.value === undefined) {
    return Result.fail(failureOf(spec, noTarget("external")))
  }
  return Result.mapBoth(selectorText(metric.selector), {
    onFailure: (why) => failureOf(spec, why, wayOfExternal(spec)),
    onSuccess: (metricSelector) => ({ _tag: "External", namespace, metric: metric.name, metricSelector })
  })
}

export const wayOfExternal = ({ external }: MetricSpec): ReadonlyArray<string> => {
  const name = external?.metric.name ?? ""
  return [
    external?.target.averageValue === undefined
      ? `failed to get external metric ${name}`
      : `failed to get ${name} external metric`
  ]
}

/** The failure of a metric whose query failed. */
export const queryFailed = (spec: MetricSpec, namespace: string, why: string): MetricFailure => {
  const { external, object, pods } = spec
  switch (kindOf(spec)) {
    case undefined:
      return unknownType(spec)
    case "Resource":
    case "ContainerResource": {
      const { name } = resourceOf(spec)
      return ofResource(spec, `unable to get metrics for resource ${name}: ${why}`)
    }
    case "Pods":
      return failureOf(spec, `unable to get metric ${pods?.metric.name ?? ""}: ${why}`)
    case "Object": {
      const name = object?.metric.name ?? ""
      const { kind = "", name: whose = "" } = object?.describedObject ?? {}
      // In upstream's argument order, which does not match its format string.
      const message = `unable to get metric ${name}: ${kind} on ${namespace} ${whose}/${why}`
      return failureOf(spec, message, objectTarget(spec) === "value" ? [] : [`failed to get ${name} object metric`])
    }
    case "External": {
      const name = external?.metric.name ?? ""
      const selector = Selector.goString(external?.metric.selector)
      return failureOf(
        spec,
        `unable to get external metric ${namespace}/${name}/${selector}: ${why}`,
        wayOfExternal(spec)
      )
    }
  }
}

/** For resource metrics the event's message has the prefix too. */
export const ofResource = (spec: MetricSpec, why: string): MetricFailure => {
  const { name, target } = resourceOf(spec)
  return failureOf(spec, `failed to get ${name} ${target.averageValue === undefined ? "utilization" : "usage"}: ${why}`)
}
