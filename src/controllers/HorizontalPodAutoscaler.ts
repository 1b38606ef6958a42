/**
 * horizontalpodautoscaling: sets the replicas of scalable objects to what their metrics require, within the bounds and
 * the scaling behavior. `horizontalpodautoscaler/` decides and applies. Source: pkg/controller/podautoscaler.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Key from "../kube/Key.ts"
import { HorizontalPodAutoscaler, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import { Discovery } from "../layers/Discovery.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import { MetricsApi } from "../layers/MetricsApi.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Deps from "./horizontalpodautoscaler/deps.ts"
import * as Metrics from "./horizontalpodautoscaler/metrics.ts"
import type { Settings } from "./horizontalpodautoscaler/plan/spec.ts"
import * as Selectors from "./horizontalpodautoscaler/selectors.ts"
import * as State from "./horizontalpodautoscaler/state.ts"
import * as Sync from "./horizontalpodautoscaler/sync.ts"
import * as Scales from "./shared/scale/scales.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-horizontal-pod-autoscaler-syncs", 5, "HorizontalPodAutoscalers"),
  period: Setting.make(Codecs.interval, {
    name: "horizontal-pod-autoscaler-sync-period",
    group: "tuning",
    description: "Time between two reconciles of an autoscaler",
    default: "15s"
  }),
  downscaleStabilization: Setting.make(Codecs.duration, {
    name: "horizontal-pod-autoscaler-downscale-stabilization",
    group: "tuning",
    description: "Time for which the highest recommendation is kept before replicas are removed",
    default: "5m"
  }),
  tolerance: Setting.make(Codecs.fraction, {
    name: "horizontal-pod-autoscaler-tolerance",
    group: "tuning",
    description: "Tolerance around the target, as a share of it, within which nothing is changed",
    default: "0.1"
  }),
  cpuInitialization: Setting.make(Codecs.duration, {
    name: "horizontal-pod-autoscaler-cpu-initialization-period",
    group: "tuning",
    description: "Time after its start in which the CPU of a pod is ignored, unless it has been ready all the time",
    default: "5m"
  }),
  initialReadiness: Setting.make(Codecs.duration, {
    name: "horizontal-pod-autoscaler-initial-readiness-delay",
    group: "tuning",
    description: "A pod that became unready within this time after its start counts as never ready",
    default: "30s"
  }),
  scalesToZero: Setting.gate({
    name: "HPAScaleToZero",
    stage: "ALPHA",
    byDefault: false,
    summary: "Autoscalers with an Object or External metric may take the last replica away, and bring it back"
  })
}

export type Options = Setting.Options<typeof settings>

/** Times in milliseconds. */
const inMillis = (values: Setting.Values<typeof settings>): Settings => ({
  ...values,
  period: Duration.toMillis(values.period),
  downscaleStabilization: Duration.toMillis(values.downscaleStabilization),
  cpuInitialization: Duration.toMillis(values.cpuInitialization),
  initialReadiness: Duration.toMillis(values.initialReadiness)
})

// A reconciliation keeps its recommendation and the target's selector for later ones.
export const make = (options: Options = {}) => {
  const config = inMillis(Setting.complete(settings, options))
  return Controller.stateful({
    name: "horizontalpodautoscaling",
    queue: "horizontalpodautoscaler",
    metrics: Metrics.families,
    component: "horizontal-pod-autoscaler",
    for: HorizontalPodAutoscaler,
    access: Deps.access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    // A failed reconciliation is retried after the normal period, and the rate limit does not delay others.
    backoff: { base: config.period, max: config.period },
    bucket: { perSecond: 1e6, burst: 1e6 },
    body: Effect.fnUntraced(function* (context) {
      const { queue } = context
      const scales = Scales.make(yield* KubeClient, yield* Discovery)
      const deps = Deps.depsOf(context, { scales, metrics: yield* MetricsApi })
      const sync = Sync.sync(deps, State.make(config))
      return {
        sources: [
          // An update does not advance the next reconciliation: the first is one period after the autoscaler was
          // added.
          Controller.watch(HorizontalPodAutoscaler, ({ _tag, object }) => {
            if (_tag === "Deleted") return [Key.of(object)]
            queue.addWithUnsafe(Key.of(object), { after: config.period })
            return []
          }),
          Controller.watch(Pod, () => [], { indexes: [Selectors.byLabel] })
        ],
        reconcile: ({ key }) =>
          Effect.map(sync(key), (isThere) => (isThere ? Reconcile.after(config.period) : Reconcile.done))
      }
    })
  })
}

/** Provides the metrics APIs of the cluster, called with the controller's identity. */
export const withServedMetrics = <R>(controller: Controller.Descriptor<R | MetricsApi>) => ({
  ...controller,
  layer: Layer.provide(controller.layer, MetricsApi.layer)
})
