/**
 * Scaling behavior in virtual time: windows, policies and tolerances as in Kubernetes' end-to-end tests, and metrics of
 * all five types, with starting pods and missing samples.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Harness from "./harness.ts"

const pods = (value: number, periodSeconds = 60) => ({ type: "Pods", value, periodSeconds })
const percent = (value: number, periodSeconds = 60) => ({ type: "Percent", value, periodSeconds })
const up = (...policies: ReadonlyArray<object>) => ({ scaleUp: { stabilizationWindowSeconds: 0, policies } })
const down = (...policies: ReadonlyArray<object>) => ({ scaleDown: { stabilizationWindowSeconds: 0, policies } })

/** Reconciles repeatedly and returns the sizes; pods follow each, with this CPU usage. */
const sizes = (measured: Harness.Measured, cpu: string, looks: number) =>
  Effect.forEach(Array.from({ length: looks }), () =>
    Effect.gen(function* () {
      yield* Harness.follow
      yield* Harness.uses(measured, { cpu })
      yield* Harness.reconcileOnce
      return (yield* Harness.size) ?? 0
    })
  )

const behaving = (first: number, behavior: object, spec: object = {}) =>
  Effect.andThen(Harness.target(first), Harness.autoscaler({ maxReplicas: 100, behavior, ...spec }))

describe("scale-up", () => {
  it.effect("by default adds four pods or doubles, each 15 seconds", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(1, { scaleUp: {} })
        assert.deepStrictEqual(yield* sizes(measured, "1", 4), [2, 4, 8, 16])
        yield* Harness.uses(measured, { cpu: "3" })
        assert.deepStrictEqual(yield* sizes(measured, "3", 1), [32])
      })
    )
  )

  it.effect("adds two pods a minute, and no more within any minute", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(1, up(pods(2)))
        assert.deepStrictEqual(yield* sizes(measured, "1", 10), [2, 3, 3, 3, 4, 5, 5, 5, 6, 7])
        assert.include(yield* Harness.reasons, "ScalingLimited True ScaleUpLimit")
      })
    )
  )

  it.effect("adds a half each 30 seconds, rounded up", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(3, up(percent(50, 30)))
        assert.deepStrictEqual(yield* sizes(measured, "5", 5), [5, 5, 8, 8, 12])
      })
    )
  )

  it.effect("uses the smaller policy with Min, and is off with Disabled", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(4, { scaleUp: { ...up(pods(1, 15), percent(100, 15)).scaleUp, selectPolicy: "Min" } })
        assert.deepStrictEqual(yield* sizes(measured, "5", 2), [5, 6])
        yield* Harness.change({ behavior: { scaleUp: { selectPolicy: "Disabled" } } })
        assert.deepStrictEqual(yield* sizes(measured, "5", 2), [6, 6])
        assert.include(yield* Harness.reasons, "ScalingLimited True ScaleUpLimit")
      })
    )
  )

  it.effect("happens only when it was recommended throughout the window", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(2, { scaleUp: { stabilizationWindowSeconds: 60 } })
        assert.deepStrictEqual(yield* sizes(measured, "500m", 1), [2])
        assert.deepStrictEqual(yield* sizes(measured, "1", 3), [2, 2, 2])
        assert.include(
          yield* Harness.conditions,
          "AbleToScale True ScaleUpStabilized: recent recommendations were lower than current one, applying the lowest recent recommendation"
        )
        assert.deepStrictEqual(yield* sizes(measured, "1", 1), [4])
      })
    )
  )
})

describe("scale-down", () => {
  it.effect("happens at once without a window", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(8, { scaleDown: { stabilizationWindowSeconds: 0 } })
        assert.deepStrictEqual(yield* sizes(measured, "1m", 1), [1])
      })
    )
  )

  it.effect("removes three pods a minute, or a quarter, whichever is more", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(20, down(pods(3), percent(25)))
        assert.deepStrictEqual(yield* sizes(measured, "1m", 9), [15, 15, 15, 15, 11, 11, 11, 11, 8])
        assert.include(yield* Harness.reasons, "ScalingLimited True ScaleDownLimit")
      })
    )
  )

  it.effect("uses the smaller policy with Min, and is off with Disabled", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(20, { scaleDown: { ...down(pods(3, 15), percent(50, 15)).scaleDown, selectPolicy: "Min" } })
        assert.deepStrictEqual(yield* sizes(measured, "1m", 2), [17, 14])
        yield* Harness.change({ behavior: { scaleDown: { selectPolicy: "Disabled" } } })
        assert.deepStrictEqual(yield* sizes(measured, "1m", 2), [14, 14])
      })
    )
  )

  it.effect("stops at the highest recommendation of the window", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(8, { scaleDown: { stabilizationWindowSeconds: 60 } })
        assert.deepStrictEqual(yield* sizes(measured, "250m", 2), [8, 8])
        assert.include(yield* Harness.reasons, "AbleToScale True ScaleDownStabilized")
        assert.deepStrictEqual(yield* sizes(measured, "62m", 4), [8, 8, 4, 1])
      })
    )
  )

  it.effect("stops at the highest of five minutes without a window in the behavior", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(4, up(pods(4)))
        const observed = yield* sizes(measured, "1m", 21)
        assert.deepStrictEqual([observed.indexOf(1), new Set(observed.slice(0, 20)).size], [20, 1])
      })
    )
  )

  it.effect("a tolerance in the behavior applies per direction", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        const scaleDown = { stabilizationWindowSeconds: 0, tolerance: "0.5" }
        yield* behaving(10, { scaleUp: { tolerance: "0" }, scaleDown })
        assert.deepStrictEqual(yield* sizes(measured, "260m", 1), [10])
        assert.deepStrictEqual(yield* sizes(measured, "510m", 1), [11])
        assert.deepStrictEqual(yield* sizes(measured, "240m", 1), [6])
      })
    )
  )
})

describe("pods without usable samples", () => {
  it.effect("that are starting count as zero upwards and are not counted downwards", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(2)
        yield* Harness.autoscaler()
        yield* Harness.addPod("web-2", { phase: "Pending" })
        yield* Harness.addPod("web-3", { ...Harness.running, conditions: [Harness.condition("False")] })
        measured.usage = new Map([
          ["web-0", { cpu: "1" }],
          ["web-1", { cpu: "1" }],
          ["web-3", { cpu: "9" }]
        ])
        // Twice the target over two pods, but once over four.
        yield* Harness.becomes(2)
      })
    )
  )

  it.effect("that have no sample count with their request, or as zero, against the change", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(4)
        yield* Harness.autoscaler({ behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } })
        measured.usage = new Map([
          ["web-0", { cpu: "100m" }],
          ["web-1", { cpu: "100m" }],
          ["web-2", { cpu: "100m" }]
        ])
        // (3 × 100m + 1) / 4 is 65 % of the target: three.
        yield* Harness.becomes(3)
        assert.deepInclude((yield* Harness.get()).status?.currentMetrics?.[0]?.resource?.current, {
          averageUtilization: 10
        })
        yield* Harness.resize(4)
        measured.usage = new Map([
          ["web-0", { cpu: "1" }],
          ["web-1", { cpu: "1" }]
        ])
        yield* Harness.becomes(4)
      })
    )
  )

  it.effect("that are terminating are ignored", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(2)
        yield* Harness.autoscaler()
        yield* Harness.addPod("failed", { phase: "Failed" })
        measured.usage = new Map([
          ["web-0", { cpu: "500m" }],
          ["web-1", { cpu: "500m" }],
          ["failed", { cpu: "9" }]
        ])
        yield* Harness.becomes(2)
        assert.include(yield* Harness.reasons, "ScalingActive True ValidMetricFound")
      })
    )
  )

  it.effect("a container is measured by itself", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(2)
        const target = { type: "Utilization", averageUtilization: 50 }
        const metric = (container: string) => ({
          type: "ContainerResource",
          containerResource: { name: "cpu", container, target }
        })
        yield* Harness.autoscaler({ metrics: [metric("main")] })
        yield* Harness.uses(measured, { cpu: "1" })
        yield* Harness.becomes(4)
        const name = "cpu container resource utilization (percentage of request)"
        assert.deepStrictEqual(yield* Harness.events, [
          `Normal SuccessfulRescale: New size: 4; reason: ${name} above target`
        ])
        assert.deepStrictEqual((yield* Harness.get()).status?.currentMetrics, [
          {
            type: "ContainerResource",
            containerResource: {
              container: "main",
              name: "cpu",
              current: { averageUtilization: 100, averageValue: "1" }
            }
          }
        ])
        yield* Harness.change({ metrics: [metric("side")] })
        yield* Harness.reconcileOnce
        const why = "did not receive metrics for targeted pods (pods might be unready)"
        assert.include((yield* Harness.conditions)[1], `ScalingActive False FailedGetContainerResourceMetric`)
        assert.include((yield* Harness.conditions)[1], why)
      })
    )
  )

  it.effect("a pod whose metrics lack the container is missing: it counts as zero for a scale-up", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(2)
        const target = { type: "AverageValue", averageValue: "500m" }
        yield* Harness.autoscaler({
          metrics: [{ type: "ContainerResource", containerResource: { name: "cpu", container: "main", target } }]
        })
        yield* Harness.uses(measured, { cpu: "2" })
        measured.containers = new Map([["web-1", "side"]])
        // 2 of web-0 and 0 of web-1 are 1 on average, twice the target.
        yield* Harness.becomes(4)
        assert.deepStrictEqual(yield* Harness.events, [
          "Normal SuccessfulRescale: New size: 4; reason: cpu resource above target"
        ])
      })
    )
  )

  it.effect("an average of memory has binary units, and any other decimal ones", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(2)
        const resource = (name: string, averageValue: string) => ({
          type: "Resource",
          resource: { name, target: { type: "AverageValue", averageValue } }
        })
        yield* Harness.autoscaler({ metrics: [resource("memory", "50Mi"), resource("cpu", "1")] })
        const current = Effect.map(Harness.get(), ({ status }) =>
          status?.currentMetrics?.map((one) => one.resource?.current.averageValue)
        )
        yield* Harness.uses(measured, { cpu: "950m", memory: "50Mi" })
        yield* Harness.reconcileOnce
        assert.deepStrictEqual(yield* current, ["50Mi", "950m"])
        yield* Harness.uses(measured, { cpu: "1", memory: "52428801" })
        yield* Harness.reconcileOnce
        assert.deepStrictEqual(yield* current, ["52428801", "1"])
        yield* Harness.uses(measured, { cpu: "1", memory: "52428800100m" })
        yield* Harness.reconcileOnce
        assert.deepStrictEqual(yield* current, ["52428800100m", "1"])
      })
    )
  )
})

const value = (text: string, name?: string) => ({
  value: text,
  ...(name === undefined ? {} : { describedObject: { name } })
})

describe("other metrics", () => {
  it.effect("of pods are averaged", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(2)
        const metric = { name: "qps", selector: { matchLabels: { verb: "GET" } } }
        const averageValue = { type: "AverageValue", averageValue: "10" }
        yield* Harness.autoscaler({ metrics: [{ type: "Pods", pods: { metric, target: averageValue } }] })
        yield* Harness.reconcileOnce
        const why =
          "unable to get metric qps: unable to fetch metrics from custom metrics API: no known available metric versions found"
        assert.include(yield* Harness.events, `Warning FailedGetPodsMetric: ${why}`)
        const queries: Array<unknown> = []
        measured.custom = (query) => {
          queries.push(query)
          return [value("20", "web-0"), value("10500m", "web-1")]
        }
        yield* Harness.becomes(4)
        assert.deepInclude(queries[0], {
          namespace: "default",
          selector: "app=web",
          metric: "qps",
          metricSelector: "verb=GET"
        })
        assert.deepStrictEqual((yield* Harness.get()).status?.currentMetrics, [
          { type: "Pods", pods: { metric, current: { averageValue: "15250m" } } }
        ])
        assert.include(
          yield* Harness.events,
          "Normal SuccessfulRescale: New size: 4; reason: pods metric qps above target"
        )
      })
    )
  )

  it.effect("of an object are divided among the ready pods, or are per pod", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(2)
        const describedObject = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "main" }
        const metric = { name: "qps" }
        const object = (target: object) => [{ type: "Object", object: { describedObject, metric, target } }]
        yield* Harness.autoscaler({ metrics: object({ type: "Value", value: "10" }) })
        measured.custom = (query) => ("object" in query ? [value("20")] : undefined)
        yield* Harness.becomes(4)
        assert.include(
          yield* Harness.events,
          "Normal SuccessfulRescale: New size: 4; reason: Ingress metric qps above target"
        )
        assert.deepStrictEqual((yield* Harness.get()).status?.currentMetrics, [
          { type: "Object", object: { describedObject, metric, current: { value: "20" } } }
        ])
        yield* Harness.follow
        yield* Harness.change({ metrics: object({ type: "AverageValue", averageValue: "4" }) })
        yield* Harness.becomes(5)
        assert.include(
          yield* Harness.events,
          "Normal SuccessfulRescale: New size: 5; reason: external metric qps(nil) above target"
        )
        measured.custom = () => [value("20"), value("20")]
        yield* Harness.reconcileOnce
        assert.include(
          (yield* Harness.conditions)[1],
          "the custom metrics API server returned 2 results when we asked for exactly one"
        )
      })
    )
  )

  it.effect("of external sources are summed", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(2)
        const metric = { name: "depth", selector: { matchLabels: { queue: "a" } } }
        const external = (target: object) => [{ type: "External", external: { metric, target } }]
        yield* Harness.autoscaler({ metrics: external({ type: "Value", value: "10" }) })
        measured.external = () => [value("15"), value("10")]
        yield* Harness.becomes(4)
        const name =
          "external metric depth(&LabelSelector{MatchLabels:map[string]string{queue: a,},MatchExpressions:[]LabelSelectorRequirement{},})"
        assert.deepStrictEqual(yield* Harness.events, [
          `Normal SuccessfulRescale: New size: 4; reason: ${name} above target`
        ])
        yield* Harness.follow
        yield* Harness.change({ metrics: external({ type: "AverageValue", averageValue: "5" }) })
        yield* Harness.becomes(5)
        assert.deepStrictEqual((yield* Harness.get()).status?.currentMetrics, [
          { type: "External", external: { metric, current: { averageValue: "6250m" } } }
        ])
        measured.external = () => []
        yield* Harness.reconcileOnce
        const why = "no metrics returned from external metrics API"
        assert.include(
          (yield* Harness.conditions)[1],
          `FailedGetExternalMetric: the HPA was unable to compute the replica count: unable to get external metric default/depth/&LabelSelector`
        )
        assert.include((yield* Harness.conditions)[1], why)
      })
    )
  )
})

describe("a new autoscaler", () => {
  it.effect("is reconciled one period after its creation", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* behaving(1, up(pods(2)))
        assert.isUndefined((yield* Harness.get()).status?.conditions)
        assert.deepStrictEqual(yield* sizes(measured, "1", 4), [2, 3, 3, 3])
      })
    )
  )
})
