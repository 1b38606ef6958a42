/** The autoscaler controller on the embedded API server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { HorizontalPodAutoscaler, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Harness from "./horizontalpodautoscaler/harness.ts"

const able = "AbleToScale True ReadyForNewScale: recommended size matches current size"
const gotScale = "AbleToScale True SucceededGetScale: the HPA controller was able to get the target's current scale"
const inRange = "ScalingLimited False DesiredWithinRange: the desired count is within the acceptable range"
const share = "cpu resource utilization (percentage of request)"
const valid = `ScalingActive True ValidMetricFound: the HPA was able to successfully calculate a replica count from ${share}`

describe("the size of a target", () => {
  it.effect("grows with the usage of its pods, with an event, and is reconciled every 15 seconds", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.autoscaled(measured, 2, "1")
        yield* Harness.advance("14 seconds")
        assert.strictEqual(yield* Harness.size, 2)
        yield* Harness.advance("1 second")
        assert.strictEqual(yield* Harness.size, 4)
        assert.deepStrictEqual(yield* Harness.conditions, [
          "AbleToScale True SucceededRescale: the HPA controller was able to update the target scale to 4",
          valid,
          inRange
        ])
        const { metadata, status } = yield* Harness.get()
        assert.isUndefined(metadata.generation)
        assert.deepInclude(status, {
          currentReplicas: 2,
          desiredReplicas: 4,
          lastScaleTime: "1970-01-01T00:00:15Z",
          currentMetrics: [
            { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 100, averageValue: "1" } } }
          ]
        })
        assert.notProperty(status, "observedGeneration")
        assert.deepStrictEqual(yield* Harness.events, [
          `Normal SuccessfulRescale: New size: 4; reason: ${share} above target`
        ])
        yield* Harness.follow
        yield* Harness.uses(measured, { cpu: "500m" })
        yield* Harness.reconcileOnce
        assert.deepStrictEqual(yield* Harness.conditions, [able, valid, inRange])
        assert.deepInclude((yield* Harness.get()).status, { currentReplicas: 4, desiredReplicas: 4 })
      })
    )
  )

  it.effect("is unchanged within the tolerance, and nothing is written", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.autoscaled(measured, 4, "540m")
        yield* Harness.reconcileOnce
        const before = yield* Harness.get()
        yield* Harness.advance("1 minute")
        assert.deepStrictEqual(yield* Harness.get(), before)
        assert.strictEqual(yield* Harness.size, 4)
      })
    )
  )

  it.effect("shrinks after all metrics were below their targets for five minutes", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.autoscaled(measured, 4, "200m")
        yield* Harness.reconcileOnce
        assert.deepStrictEqual(yield* Harness.conditions, [
          "AbleToScale True ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation",
          valid,
          inRange
        ])
        yield* Harness.advance("285 seconds")
        assert.strictEqual(yield* Harness.size, 4)
        yield* Harness.becomes(4)
        yield* Harness.becomes(2)
        assert.deepStrictEqual(yield* Harness.events, [
          "Normal SuccessfulRescale: New size: 2; reason: All metrics below target"
        ])
      })
    )
  )

  it.effect("is moved into its bounds without a metrics query", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        measured.usage = undefined
        yield* Harness.target(12)
        yield* Harness.autoscaler()
        yield* Harness.becomes(10)
        yield* Harness.resize(1)
        yield* Harness.change({ minReplicas: 3 })
        yield* Harness.becomes(3)
        assert.deepStrictEqual(yield* Harness.events, [
          "Normal SuccessfulRescale: New size: 10; reason: Current number of replicas above Spec.MaxReplicas",
          "Normal SuccessfulRescale: New size: 3; reason: Current number of replicas below Spec.MinReplicas"
        ])
        assert.notProperty((yield* Harness.get()).status, "currentMetrics[0]")
        yield* Harness.resize(0)
        yield* Harness.becomes(0)
        const off =
          "ScalingActive False ScalingDisabled: scaling is disabled since the replica count of the target is zero"
        assert.deepStrictEqual(yield* Harness.conditions, [gotScale, off])
        assert.lengthOf(yield* Harness.events, 2)
      })
    )
  )

  it.effect("is limited: at most doubled, or four, and by its bounds", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(1)
        yield* Harness.autoscaler({ minReplicas: 2, maxReplicas: 7 })
        yield* Harness.becomes(2)
        yield* Harness.change({ minReplicas: 1 })
        yield* Harness.pods(2)
        yield* Harness.uses(measured, { cpu: "9" })
        yield* Harness.becomes(4)
        const fast =
          "ScalingLimited True ScaleUpLimit: the desired replica count is increasing faster than the maximum scale rate"
        assert.include(yield* Harness.conditions, fast)
        yield* Harness.follow
        yield* Harness.uses(measured, { cpu: "9" })
        yield* Harness.becomes(7)
        const many =
          "ScalingLimited True TooManyReplicas: the desired replica count is more than the maximum replica count"
        assert.include(yield* Harness.conditions, many)
        yield* Harness.change({ minReplicas: 3 })
        yield* Harness.follow
        yield* Harness.uses(measured, { cpu: "1m" })
        yield* Harness.advance("315 seconds")
        assert.strictEqual(yield* Harness.size, 3)
        const few =
          "ScalingLimited True TooFewReplicas: the desired replica count is less than the minimum replica count"
        assert.include(yield* Harness.conditions, few)
      })
    )
  )

  it.effect("of any kind with a scale subresource, custom resources included", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const client = yield* KubeClient
        const replicas = { type: "integer" }
        yield* cluster.apply([
          {
            apiVersion: "apiextensions.k8s.io/v1",
            kind: "CustomResourceDefinition",
            metadata: { name: "farms.example.com" },
            spec: {
              group: "example.com",
              scope: "Namespaced",
              names: { kind: "Farm", plural: "farms" },
              versions: [
                {
                  name: "v1",
                  served: true,
                  storage: true,
                  schema: {
                    openAPIV3Schema: {
                      type: "object",
                      properties: {
                        spec: { type: "object", properties: { replicas } },
                        status: { type: "object", properties: { replicas, selector: { type: "string" } } }
                      }
                    }
                  },
                  subresources: {
                    status: {},
                    scale: {
                      specReplicasPath: ".spec.replicas",
                      statusReplicasPath: ".status.replicas",
                      labelSelectorPath: ".status.selector"
                    }
                  }
                }
              ]
            }
          }
        ])
        yield* cluster.advance("10 seconds")
        yield* Harness.target(2)
        const farm = { apiVersion: "example.com/v1", kind: "Farm", metadata: { name: "web" } }
        yield* cluster.apply([{ ...farm, spec: { replicas: 2 } }])
        const scaleTargetRef = { apiVersion: "example.com/v1", kind: "Farm", name: "web" }
        yield* Harness.autoscaler({ scaleTargetRef })
        yield* Harness.uses(measured, { cpu: "1" })
        yield* Harness.reconcileOnce
        const missing = "ScalingActive False InvalidSelector: the HPA target's scale is missing a selector"
        assert.deepStrictEqual(yield* Harness.conditions, [gotScale, missing])
        assert.deepStrictEqual(yield* Harness.events, [
          "Warning SelectorRequired: selector is required",
          "Warning FailedComputeMetricsReplicas: selector is required"
        ])
        const at = (subresource: string) => `/apis/example.com/v1/namespaces/default/farms/web/${subresource}`
        const context = { verb: "patch", path: at("status") }
        const body = { status: { replicas: 2, selector: "app=web" } }
        const contentType = "application/merge-patch+json"
        yield* client.raw({ method: "PATCH", path: at("status"), body, contentType, context })
        yield* Harness.reconcileOnce
        const scale = yield* client.raw({
          method: "GET",
          path: at("scale"),
          context: { verb: "get", path: at("scale") }
        })
        assert.deepNestedInclude(scale.body, { "spec.replicas": 4 })
      })
    )
  )
})

describe("failures", () => {
  it.effect("of the target are reported and retried", () =>
    Harness.scenario(() =>
      Effect.gen(function* () {
        yield* Harness.autoscaler()
        yield* Harness.reconcileOnce
        const why = 'deployments.apps "web" not found'
        const failed =
          "AbleToScale False FailedGetScale: the HPA controller was unable to get the target's current scale"
        assert.deepStrictEqual(yield* Harness.conditions, [`${failed}: ${why}`])
        yield* Harness.change({ scaleTargetRef: { kind: "Moon" } })
        yield* Harness.reconcileOnce
        assert.deepStrictEqual(yield* Harness.conditions, [`${failed}: no matches for kind "Moon" in group "apps"`])
        yield* Harness.change({ scaleTargetRef: { apiVersion: "a/b/c" } })
        yield* Harness.reconcileOnce
        assert.deepStrictEqual(yield* Harness.conditions, [`${failed}: unexpected GroupVersion string: a/b/c`])
        yield* Harness.change({ scaleTargetRef: { apiVersion: "v1", kind: "Pod" } })
        yield* Harness.reconcileOnce
        assert.deepStrictEqual(yield* Harness.conditions, [
          `${failed}: the server could not find the requested resource`
        ])
        assert.deepStrictEqual(yield* Harness.events, [
          `Warning FailedGetScale: ${why}`,
          'Warning FailedGetScale: no matches for kind "Moon" in group "apps"',
          "Warning FailedGetScale: unexpected GroupVersion string: a/b/c",
          "Warning FailedGetScale: the server could not find the requested resource"
        ])
        yield* Harness.target(12)
        yield* Harness.change({ scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment" } })
        yield* Harness.becomes(10)
      })
    )
  )

  it.effect("of the only metric keep the size, with the reason in two conditions and an event", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        measured.usage = undefined
        yield* Harness.target(2)
        yield* Harness.autoscaler()
        yield* Harness.becomes(2)
        const why =
          "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)"
        assert.deepStrictEqual(yield* Harness.conditions, [
          gotScale,
          `ScalingActive False FailedGetResourceMetric: the HPA was unable to compute the replica count: ${why}`
        ])
        assert.deepStrictEqual(yield* Harness.events, [
          `Warning FailedGetResourceMetric: ${why}`,
          `Warning FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: ${why}`
        ])
        assert.deepInclude((yield* Harness.get()).status, { currentReplicas: 2, desiredReplicas: 0 })
        measured.usage = new Map()
        yield* Harness.reconcileOnce
        assert.include((yield* Harness.conditions)[1], "no metrics returned from resource metrics API")
        measured.usage = new Map([["web-0", { memory: "1Gi" }]])
        yield* Harness.reconcileOnce
        assert.include(
          (yield* Harness.conditions)[1],
          "did not receive metrics for targeted pods (pods might be unready)"
        )
      })
    )
  )

  it.effect("of one metric of two prevent only a scale-down", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(4)
        const memory = {
          type: "Resource",
          resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } }
        }
        yield* Harness.autoscaler({
          metrics: [Harness.cpu(50), memory],
          behavior: { scaleDown: { stabilizationWindowSeconds: 0 } }
        })
        yield* Harness.uses(measured, { memory: "1Mi" })
        yield* Harness.becomes(4)
        assert.deepStrictEqual(yield* Harness.reasons, [
          "AbleToScale True SucceededGetScale",
          "ScalingActive False FailedGetResourceMetric"
        ])
        assert.deepStrictEqual(
          (yield* Harness.get()).status?.currentMetrics?.map(({ type }) => type),
          ["", "Resource"]
        )
        yield* Harness.uses(measured, { memory: "1.5Gi" })
        yield* Harness.becomes(6)
        assert.include(
          yield* Harness.events,
          "Normal SuccessfulRescale: New size: 6; reason: memory resource above target"
        )
        yield* Harness.follow
        yield* Harness.uses(measured, { memory: "1Mi", cpu: "1m" })
        yield* Harness.becomes(1)
      })
    )
  )

  it.effect("of another autoscaler that selects the same pods stop both", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.target(2)
        yield* Harness.autoscaler()
        yield* Harness.autoscaler({}, "other")
        yield* Harness.uses(measured, { cpu: "500m" })
        yield* Harness.advance("30 seconds")
        const why = "pods by selector app=web are controlled by multiple HPAs: [default/other default/web]"
        assert.deepStrictEqual(yield* Harness.conditions, [
          gotScale,
          `ScalingActive False AmbiguousSelector: ${why}`,
          inRange
        ])
        assert.include(yield* Harness.events, `Warning AmbiguousSelector: ${why}`)
        yield* Effect.flatMap(KubeClient, (client) =>
          client.delete(HorizontalPodAutoscaler, { namespace: "default", name: "other" })
        )
        yield* Harness.reconcileOnce
        assert.include(yield* Harness.conditions, valid)
      })
    )
  )

  it.effect("of the scale update are reported, and the size is decided again by the next reconciliation", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.autoscaled(measured, 2, "1")
        const match = { verb: "update", resource: "deployments.apps/scale" } as const
        const fault = { _tag: "Status", code: 403, message: "no" } as const
        yield* (yield* ApiServer).setFaults([{ match, fault, times: 1 }])
        yield* Harness.becomes(2)
        assert.deepStrictEqual(yield* Harness.conditions, [
          "AbleToScale False FailedUpdateScale: the HPA controller was unable to update the target scale: no",
          valid,
          inRange
        ])
        assert.deepInclude((yield* Harness.get()).status, { currentReplicas: 2, desiredReplicas: 0 })
        yield* Harness.becomes(4)
        assert.deepStrictEqual(yield* Harness.events, [
          `Warning FailedRescale: New size: 4; reason: ${share} above target; error: no`,
          `Normal SuccessfulRescale: New size: 4; reason: ${share} above target`
        ])
      })
    )
  )

  it.effect("of the status update are reported", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.autoscaled(measured, 2, "1")
        const match = { verb: "update", resource: "horizontalpodautoscalers.autoscaling/status" } as const
        const fault = { _tag: "Status", code: 403, message: "no" } as const
        yield* (yield* ApiServer).setFaults([{ match, fault, times: 1 }])
        yield* Harness.becomes(4)
        assert.deepStrictEqual(yield* Harness.events, [
          `Normal SuccessfulRescale: New size: 4; reason: ${share} above target`,
          "Warning FailedUpdateStatus: no"
        ])
        yield* Harness.follow
        yield* Harness.uses(measured, { cpu: "500m" })
        yield* Harness.reconcileOnce
        assert.deepStrictEqual(yield* Harness.conditions, [able, valid, inRange])
      })
    )
  )
})

describe("a conflict", () => {
  const match = { verb: "update", resource: "deployments.apps/scale" } as const
  const conflict = { _tag: "Conflict" } as const

  it.effect("is resolved by reading the scale again, up to five times", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.autoscaled(measured, 2, "1")
        yield* (yield* ApiServer).setFaults([{ match, fault: conflict, times: 4 }])
        yield* Harness.reconcileOnce
        yield* Harness.advance("1 second")
        assert.strictEqual(yield* Harness.size, 4)
        yield* Harness.resize(2)
        yield* (yield* ApiServer).setFaults([{ match, fault: conflict, times: 5 }])
        yield* Harness.reconcileOnce
        yield* Harness.advance("1 second")
        assert.strictEqual(yield* Harness.size, 2)
        const events = yield* Harness.events
        assert.match(
          events.at(-1) ?? "",
          /^Warning FailedRescale: New size: 4; reason: .*; error: .*the object has been modified/
        )
      })
    )
  )

  it.effect("with a client that changed the size leaves the size until the next reconciliation", () =>
    Harness.scenario((measured) =>
      Effect.gen(function* () {
        yield* Harness.autoscaled(measured, 2, "1")
        yield* (yield* ApiServer).setFaults([{ match, fault: { _tag: "Delay", millis: 1000 }, times: 1 }])
        yield* Harness.reconcileOnce
        yield* Harness.resize(7)
        yield* Harness.advance("2 seconds")
        assert.strictEqual(yield* Harness.size, 7)
        assert.match((yield* Harness.events).at(-1) ?? "", /^Warning FailedRescale/)
      })
    )
  )
})

it.effect("desired_replicas is the decision of each autoscaler, even without a change, and is removed with it", () =>
  Harness.scenario((measured) =>
    Effect.gen(function* () {
      const desired = Effect.map(Metric.snapshot, (all) =>
        all.flatMap(({ attributes, id, state }) =>
          id === "horizontal_pod_autoscaler_controller_desired_replicas" && "value" in state
            ? [{ ...attributes, is: state.value }]
            : []
        )
      )
      yield* Harness.autoscaled(measured, 2, "500m")
      yield* Harness.reconcileOnce
      const labels = { hpa_name: "web", namespace: "default" }
      assert.deepStrictEqual(yield* desired, [{ ...labels, is: 2 }])
      yield* Harness.uses(measured, { cpu: "1" })
      yield* Harness.becomes(4)
      assert.deepStrictEqual(yield* desired, [{ ...labels, is: 4 }])
      const client = yield* KubeClient
      yield* client.delete(HorizontalPodAutoscaler, { namespace: "default", name: "web" })
      yield* Harness.reconcileOnce
      assert.deepStrictEqual(yield* desired, [])
    })
  ).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
)

it.effect("a deleted autoscaler has no state left, and a recreated one starts without history", () =>
  Harness.scenario((measured) =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* Harness.autoscaled(measured, 4, "1")
      yield* Harness.becomes(8)
      yield* client.delete(HorizontalPodAutoscaler, { namespace: "default", name: "web" })
      yield* Harness.resize(2)
      yield* Harness.pods(2)
      yield* Harness.autoscaler()
      yield* Harness.uses(measured, { cpu: "500m" })
      yield* Harness.becomes(2)
      yield* Harness.advance("1 minute")
      assert.lengthOf(yield* Effect.map(client.list(Pod, { namespace: "default" }), ({ items }) => items), 2)
      assert.strictEqual(yield* Harness.size, 2)
    })
  )
)
