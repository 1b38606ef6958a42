/**
 * The error label of a reconciliation. Source: pkg/controller/podautoscaler: reconcileAutoscaler,
 * computeReplicasForMetrics, errSpec.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { MetricSpec } from "../../../src/controllers/horizontalpodautoscaler/plan/spec.ts"
import * as State from "../../../src/controllers/horizontalpodautoscaler/state.ts"
import * as Sync from "../../../src/controllers/horizontalpodautoscaler/sync.ts"
import type { Scale } from "../../../src/controllers/shared/scale/scales.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import type { HorizontalPodAutoscaler, Pod } from "../../../src/kube/resources.ts"
import { MetricsApi, MetricsError } from "../../../src/layers/MetricsApi.ts"
import * as Store from "../../../src/streams/store/Store.ts"
import { storeOf } from "../../support/stores.ts"

const settings = {
  period: 15_000,
  downscaleStabilization: 0,
  tolerance: 0.1,
  cpuInitialization: 0,
  initialReadiness: 0,
  scalesToZero: false
}

interface Case {
  readonly metrics?: ReadonlyArray<MetricSpec>
  readonly apiVersion?: string
  readonly replicas?: number
  /** The server refuses the status. */
  readonly refusesStatus?: boolean
}

const forbidden = ApiError.fromStatus({ context: { verb: "update", path: "/a" }, status: 403, body: "" })

/**
 * One reconciliation of an autoscaler that a server would reject, and the counters after it: `reconciliations_total
 * none spec`.
 */
const countersAfter = Effect.fnUntraced(function* (given: Case) {
  const { apiVersion = "apps/v1", metrics = [], refusesStatus, replicas = 2 } = given
  const autoscaler: HorizontalPodAutoscaler = {
    metadata: { name: "web", namespace: "ns", uid: "u", resourceVersion: "1" },
    spec: { scaleTargetRef: { apiVersion, kind: "Deployment", name: "web" }, maxReplicas: 10, metrics: [...metrics] }
  }
  const scale: Scale = { metadata: { name: "web" }, spec: { replicas }, status: { replicas, selector: "app=web" } }
  const [autoscalers, pods] = [storeOf([autoscaler]), Store.make<Pod>()]
  const away = Effect.fail(new MetricsError({ message: "away" }))
  const sync = Sync.sync(
    {
      autoscalers,
      pods,
      scales: { get: () => Effect.succeed(scale), update: () => Effect.succeed(scale) },
      metrics: MetricsApi.of({
        resource: () => away,
        pods: () => away,
        object: () => away,
        external: () => Effect.succeed([10_000n])
      }),
      live: Effect.succeed,
      updateStatus: (one) => (refusesStatus === true ? Effect.fail(forbidden) : Effect.succeed(one)),
      events: { event: () => Effect.void, normal: () => Effect.void, warning: () => Effect.void }
    },
    State.make(settings)
  )
  yield* Effect.result(sync("ns/web"))
  return (yield* Metric.snapshot).flatMap(({ attributes, id }) => {
    const name = /^horizontal_pod_autoscaler_controller_(.*_total)$/.exec(id)?.[1]
    return name === undefined ? [] : `${name} ${attributes?.["action"]} ${attributes?.["error"]}`
  })
})

const counted = (given: Case) => Effect.provideService(countersAfter(given), Metric.MetricRegistry, new Map())

const cpu: MetricSpec = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } }
}
const depth: MetricSpec = {
  type: "External",
  external: { metric: { name: "depth" }, target: { type: "AverageValue", averageValue: "2" } }
}

describe("the error label", () => {
  it.effect("is spec for an invalid API version of the target", () =>
    Effect.map(counted({ apiVersion: "a/b/c" }), (lines) =>
      assert.deepStrictEqual(lines, ["reconciliations_total none spec"])
    )
  )

  it.effect(
    "is spec for a metric of an unknown type, and internal for its reconciliation, which loses the type of the error",
    () =>
      Effect.map(counted({ metrics: [{ type: "Moon" }] }), (lines) =>
        assert.sameMembers(lines, ["metric_computation_total none spec", "reconciliations_total none internal"])
      )
  )

  it.effect("is internal for a metric that is not served", () =>
    Effect.map(counted({ metrics: [cpu] }), (lines) =>
      assert.sameMembers(lines, ["metric_computation_total none internal", "reconciliations_total none internal"])
    )
  )

  it.effect("is set beside the action that was done", () =>
    Effect.gen(function* () {
      const lines = yield* counted({ metrics: [depth, cpu] })
      assert.include(lines, "reconciliations_total scale_up internal")
      const refused = yield* counted({ metrics: [depth], refusesStatus: true })
      assert.include(refused, "reconciliations_total scale_up internal")
    })
  )
})
