/**
 * The plan for a target with any metric results: guarantees over random autoscalers. And the texts of events and
 * conditions, metric by metric.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import type * as History from "../../../src/controllers/horizontalpodautoscaler/plan/history.ts"
import * as Plan from "../../../src/controllers/horizontalpodautoscaler/plan/plan.ts"
import type { ReplicaProposal } from "../../../src/controllers/horizontalpodautoscaler/plan/replicaProposal.ts"
import * as Propose from "../../../src/controllers/horizontalpodautoscaler/plan/replicaProposal.ts"
import * as MetricQuery from "../../../src/controllers/horizontalpodautoscaler/plan/metricQuery.ts"
import type { MetricSpec, Settings } from "../../../src/controllers/horizontalpodautoscaler/plan/spec.ts"
import type { HorizontalPodAutoscaler } from "../../../src/kube/resources.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"

const settings: Settings = {
  period: 15_000,
  downscaleStabilization: 0,
  tolerance: 0.1,
  cpuInitialization: 300_000,
  initialReadiness: 30_000,
  scalesToZero: false
}

const answer = Arbitrary.all({ fails: oneOf(false, false, true), replicas: int(0, 20) })
const given = Arbitrary.all({
  min: oneOf(0, 1, 1, 2, 4),
  more: int(0, 12),
  current: int(0, 20),
  answers: Arbitrary.array(answer, { minLength: 1, maxLength: 3 }),
  scalesToZero: oneOf(false, true),
  isScaledToZero: oneOf(false, true),
  type: oneOf("Resource", "External"),
  /** It may add two at a time. */
  isSlow: oneOf(false, false, true)
})
type Case = ValueOf<typeof given>

const slow = { scaleUp: { policies: [{ type: "Pods", value: 2, periodSeconds: 15 }] } }

const autoscalerOf = ({ answers, isScaledToZero, isSlow, min, more, type }: Case): HorizontalPodAutoscaler => ({
  metadata: { name: "web", namespace: "default" },
  spec: {
    scaleTargetRef: { kind: "Deployment", name: "web" },
    minReplicas: min,
    maxReplicas: Math.max(1, min + more),
    metrics: answers.map(() => ({ type })),
    ...(isSlow ? { behavior: slow } : {})
  },
  status: {
    desiredReplicas: 0,
    conditions: isScaledToZero ? [{ type: "ScaledToZero", status: "True" }] : []
  }
})

const resultsOf = ({ answers }: Case): Plan.MetricResults =>
  answers.map(({ fails, replicas }, i) =>
    fails
      ? Result.fail({ reason: "FailedGetResourceMetric", message: `no ${i}`, summary: `nothing of ${i}` })
      : Result.succeed<ReplicaProposal>({ replicas, name: `metric ${i}`, status: { type: `${i}` } })
  )

/** Too old to count. */
const longAgo: History.History = { recommendations: [{ replicas: 1, time: -1_000_000 }], changes: [] }

const planOf = (one: Case) => {
  const autoscaler = autoscalerOf(one)
  const own = { ...settings, scalesToZero: one.scalesToZero }
  const isMeasured = Plan.course(autoscaler, one.current, own)._tag === "Measure"
  const results = isMeasured ? resultsOf(one) : []
  return Plan.plan({ autoscaler, current: one.current, results, settings: own, history: longAgo, now: 0 })
}

const isOff = ({ current, isScaledToZero, min, scalesToZero, type }: Case): boolean =>
  current === 0 && !(scalesToZero && isScaledToZero && (min > 0 || type === "External"))

const boundsOf = ({ min, more }: Case) => ({ min, max: Math.max(1, min + more) })

const isWithin = (one: Case): boolean => {
  const { max, min } = boundsOf(one)
  return one.current === 0 || (one.current >= min && one.current <= max)
}

const claimed = (plan: Plan.Plan, type: string) => plan.claims.find((claim) => claim.type === type)

describe("Plan", () => {
  checkProperty("the size is within the bounds, or unchanged", given, (one) => {
    const { max, min } = boundsOf(one)
    const { desired } = planOf(one)
    if (desired === undefined) return true
    return isOff(one) ? desired === 0 : desired >= min && desired <= max
  })

  checkProperty(
    "a target that a user scaled to zero is not changed",
    given,
    (one) => isOff(one) === (claimed(planOf(one), "ScalingActive")?.reason === "ScalingDisabled")
  )

  checkProperty("a failed metric prevents a scale-down", given, (one) => {
    const { desired } = planOf(one)
    const isMeasured = isWithin(one) && !isOff(one)
    return !isMeasured || !one.answers.some(({ fails }) => fails) || desired === undefined || desired >= one.current
  })

  checkProperty("the largest proposal counts, and gives the reason", given, (one) => {
    if (!isWithin(one) || isOff(one)) return true
    const known = one.answers.flatMap(({ fails, replicas }, i) => (fails ? [] : [{ replicas, i }]))
    const plan = planOf(one)
    if (known.length === 0) return plan.desired === undefined && claimed(plan, "ScalingActive")?.status === false
    const most = Math.max(...known.map(({ replicas }) => replicas))
    if (known.length < one.answers.length && most < one.current) return plan.desired === undefined
    const { max, min } = boundsOf(one)
    const limit = Math.min(max, one.isSlow ? one.current + 2 : Math.max(4, 2 * one.current))
    // Of equal proposals the first counts, of proposals of zero the last. Source: pkg/controller/podautoscaler:
    // computeReplicasForMetrics.
    const largest = most === 0 ? known.at(-1) : known.find(({ replicas }) => replicas === most)
    const name = `metric ${largest?.i}`
    return (
      plan.desired === Math.max(min, Math.min(most, limit)) &&
      claimed(plan, "ScalingActive")?.message.endsWith(` from ${name}`) === true &&
      (most <= one.current || plan.reason === `${name} above target`)
    )
  })

  checkProperty("each metric is in the status, and each failure has an event", given, (one) => {
    if (!isWithin(one) || isOff(one)) return true
    const plan = planOf(one)
    const failures = one.answers.filter(({ fails }) => fails).length
    return (
      plan.metrics.length === one.answers.length &&
      plan.warnings.length === failures &&
      (plan.failure === undefined) === (failures === 0)
    )
  })

  checkProperty("beyond the bounds no metric is queried", given, (one) => {
    if (isWithin(one)) return true
    const plan = planOf(one)
    const { max, min } = boundsOf(one)
    return plan.desired === (one.current > max ? max : min) && plan.reason.startsWith("Current number of replicas ")
  })
})

describe("the message of a failed metric", () => {
  const target = { namespace: "ns", selector: "app=web" }
  const selector = {
    matchLabels: { b: "2", a: "1" },
    matchExpressions: [{ key: "c", operator: "In", values: ["x", "y"] }]
  }
  const utilization = { type: "Utilization", averageUtilization: 50 }
  const averageValue = { type: "AverageValue", averageValue: "10" }
  const value = { type: "Value", value: "10" }
  const cpu: MetricSpec = { type: "Resource", resource: { name: "cpu", target: utilization } }
  const memory: MetricSpec = { type: "Resource", resource: { name: "memory", target: averageValue } }
  const container: MetricSpec = {
    type: "ContainerResource",
    containerResource: { name: "cpu", container: "main", target: utilization }
  }
  const pods: MetricSpec = { type: "Pods", pods: { metric: { name: "qps" }, target: averageValue } }
  const object = (
    wanted: MetricSpec["resource"] extends infer R ? (NonNullable<R> extends { target: infer T } ? T : never) : never
  ): MetricSpec => ({
    type: "Object",
    object: {
      describedObject: { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "main" },
      metric: { name: "qps", selector },
      target: wanted
    }
  })
  const external = (wanted: typeof value | typeof averageValue): MetricSpec => ({
    type: "External",
    external: { metric: { name: "depth", ...(wanted === value ? { selector } : {}) }, target: wanted }
  })
  const goText =
    "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:c,Operator:In,Values:[x y],},},}"

  const rows: ReadonlyArray<readonly [string, MetricSpec, string, string, string]> = [
    [
      "cpu",
      cpu,
      "FailedGetResourceMetric",
      "failed to get cpu utilization: unable to get metrics for resource cpu: why",
      "failed to get cpu resource metric value: "
    ],
    [
      "memory",
      memory,
      "FailedGetResourceMetric",
      "failed to get memory usage: unable to get metrics for resource memory: why",
      "failed to get memory resource metric value: "
    ],
    [
      "a container",
      container,
      "FailedGetContainerResourceMetric",
      "failed to get cpu utilization: unable to get metrics for resource cpu: why",
      "failed to get main container metric value: "
    ],
    ["pods", pods, "FailedGetPodsMetric", "unable to get metric qps: why", "failed to get pods metric value: "],
    [
      "an object",
      object(value),
      "FailedGetObjectMetric",
      "unable to get metric qps: Ingress on ns main/why",
      "failed to get object metric value: "
    ],
    [
      "an object, for each pod",
      object(averageValue),
      "FailedGetObjectMetric",
      "unable to get metric qps: Ingress on ns main/why",
      "failed to get object metric value: failed to get qps object metric: "
    ],
    [
      "a system outside",
      external(value),
      "FailedGetExternalMetric",
      `unable to get external metric ns/depth/${goText}: why`,
      "failed to get depth external metric value: failed to get external metric depth: "
    ],
    [
      "a system outside, for each pod",
      external(averageValue),
      "FailedGetExternalMetric",
      "unable to get external metric ns/depth/nil: why",
      "failed to get depth external metric value: failed to get depth external metric: "
    ]
  ]
  for (const [title, spec, reason, message, way] of rows) {
    it(`of ${title}`, () =>
      assert.deepStrictEqual(MetricQuery.queryFailed(spec, "ns", "why"), {
        reason,
        message,
        summary: `${way}${message}`
      }))
  }

  it("that a server would reject", () => {
    const flaw = (spec: MetricSpec) => Result.merge(MetricQuery.queryOf(spec, target))
    assert.deepStrictEqual(flaw({ type: "Moon" }), {
      reason: "InvalidMetricSourceType",
      message: 'unknown metric source type "Moon"',
      summary: 'unknown metric source type "Moon"'
    })
    const none =
      "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set"
    assert.deepStrictEqual(flaw({ type: "Resource", resource: { name: "cpu", target: { type: "Value" } } }), {
      reason: "FailedGetResourceMetric",
      message: none,
      summary: `failed to get cpu resource metric value: ${none}`
    })
    const untargeted = "metric source: neither a value target nor an average value target was set"
    assert.include(flaw(object({ type: "Value", averageValue: "1" })), { message: `invalid object ${untargeted}` })
    const metric = { name: "depth" }
    assert.include(flaw({ type: "External", external: { metric, target: { type: "Value" } } }), {
      message: `invalid external ${untargeted}`
    })
  })

  it("without pods, or without a request", () => {
    const given = { pods: [], current: 2, observed: 2, tolerances: { down: 0.1, up: 0.1 }, settings, now: 0 }
    const samples = { _tag: "Samples", samples: new Map([["a", { time: 0, window: 0, amount: 1n }]]) } as const
    const messageOf = (spec: MetricSpec, measured: Propose.Measured = samples) =>
      Result.isFailure(Propose.propose({ ...given, spec }, measured))
        ? Result.merge(Propose.propose({ ...given, spec }, measured))
        : undefined
    assert.include(messageOf(cpu), {
      message: "failed to get cpu utilization: no pods returned by selector while calculating replica count"
    })
    assert.include(messageOf(pods), { message: "no pods returned by selector while calculating replica count" })
    assert.include(messageOf(external(value), { _tag: "Amounts", amounts: [1000n, 100_000n] }), {
      message: "unable to calculate ready pods: no pods returned by selector while calculating replica count"
    })
  })
})
