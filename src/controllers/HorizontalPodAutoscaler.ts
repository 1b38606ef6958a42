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
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Deps from "./horizontalpodautoscaler/deps.ts"
import * as Metrics from "./horizontalpodautoscaler/metrics.ts"
import type { Settings } from "./horizontalpodautoscaler/plan/spec.ts"
import * as Selectors from "./horizontalpodautoscaler/selectors.ts"
import * as State from "./horizontalpodautoscaler/state.ts"
import * as Sync from "./horizontalpodautoscaler/sync.ts"
import * as Scales from "./shared/scale/scales.ts"

export interface Options {
  /** How many autoscalers are reconciled at once. `--concurrent-horizontal-pod-autoscaler-syncs`, 5. */
  readonly concurrency?: number | undefined
  /** Interval between reconciliations of an autoscaler. `--horizontal-pod-autoscaler-sync-period`, 15 s. */
  readonly period?: Duration.Input | undefined
  /** How long the highest recommendation holds. `--horizontal-pod-autoscaler-downscale-stabilization`, 5 minutes. */
  readonly downscaleStabilization?: Duration.Input | undefined
  /** The accepted deviation from the target, as a share. `--horizontal-pod-autoscaler-tolerance`, 0.1. */
  readonly tolerance?: number | undefined
  /**
   * How long the CPU samples of a new pod may be ignored. `--horizontal-pod-autoscaler-cpu-initialization-period`, 5
   * minutes.
   */
  readonly cpuInitialization?: Duration.Input | undefined
  /** How long a new pod may take to become ready first. `--horizontal-pod-autoscaler-initial-readiness-delay`, 30 s. */
  readonly initialReadiness?: Duration.Input | undefined
  /** The feature gate `HPAScaleToZero`. Default: off. */
  readonly scalesToZero?: boolean | undefined
}

const settingsOf = (options: Options): Settings => {
  const millis = (given: Duration.Input | undefined, usual: Duration.Input) =>
    Duration.toMillis(Duration.fromInputUnsafe(given ?? usual))
  return {
    period: millis(options.period, "15 seconds"),
    downscaleStabilization: millis(options.downscaleStabilization, "5 minutes"),
    tolerance: options.tolerance ?? 0.1,
    cpuInitialization: millis(options.cpuInitialization, "5 minutes"),
    initialReadiness: millis(options.initialReadiness, "30 seconds"),
    scalesToZero: options.scalesToZero ?? false
  }
}

// A reconciliation keeps its recommendation and the target's selector for later ones.
export const make = (options: Options = {}) => {
  const settings = settingsOf(options)
  return Controller.stateful({
    name: "horizontalpodautoscaling",
    queue: "horizontalpodautoscaler",
    metrics: Metrics.families,
    component: "horizontal-pod-autoscaler",
    for: HorizontalPodAutoscaler,
    access: Deps.access,
    concurrency: options.concurrency ?? 5,
    // A failed reconciliation is retried after the normal period, and the rate limit does not delay others.
    backoff: { base: settings.period, max: settings.period },
    bucket: { perSecond: 1e6, burst: 1e6 },
    body: Effect.fnUntraced(function* (context) {
      const { queue } = context
      const scales = Scales.make(yield* KubeClient, yield* Discovery)
      const deps = Deps.depsOf(context, { scales, metrics: yield* MetricsApi })
      const sync = Sync.sync(deps, State.make(settings))
      return {
        sources: [
          // An update does not advance the next reconciliation: the first is one period after the autoscaler was
          // added.
          Controller.watch(HorizontalPodAutoscaler, ({ _tag, object }) => {
            if (_tag === "Deleted") return [Key.of(object)]
            queue.addWithUnsafe(Key.of(object), { after: settings.period })
            return []
          }),
          Controller.watch(Pod, () => [], { indexes: [Selectors.byLabel] })
        ],
        reconcile: ({ key }) =>
          Effect.map(sync(key), (isThere) => (isThere ? Reconcile.after(settings.period) : Reconcile.done))
      }
    })
  })
}

/** Provides the metrics APIs of the cluster, called with the controller's identity. */
export const withServedMetrics = <R>(controller: Controller.Descriptor<R | MetricsApi>) => ({
  ...controller,
  layer: Layer.provide(controller.layer, MetricsApi.layer)
})
