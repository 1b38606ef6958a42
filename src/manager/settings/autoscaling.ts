/**
 * How eager and how patient autoscalers are, for all of them. Defaults and meanings are those of kube-controller-manager. Source:
 * pkg/controller/podautoscaler/config.
 */
import * as Option from "effect/Option"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

const share = {
  metavar: "number",
  expected: "a number from 0, with a fraction if need be",
  decode: (value: string) => (/^\d{1,6}(\.\d{1,6})?$/.test(value) ? Option.some(Number(value)) : Option.none<number>())
}

export const settings = {
  autoscalerSyncPeriod: Setting.make(Codecs.interval, {
    name: "horizontal-pod-autoscaler-sync-period",
    group: "tuning",
    description: "Time between two looks at an autoscaler",
    default: "15s"
  }),
  autoscalerDownscaleStabilization: Setting.make(Codecs.duration, {
    name: "horizontal-pod-autoscaler-downscale-stabilization",
    group: "tuning",
    description: "For so long the highest recommendation stands before replicas are taken away",
    default: "5m"
  }),
  autoscalerTolerance: Setting.make(share, {
    name: "horizontal-pod-autoscaler-tolerance",
    group: "tuning",
    description: "Share of the target within which a metric is near enough to change nothing",
    default: "0.1"
  }),
  autoscalerCpuInitialization: Setting.make(Codecs.duration, {
    name: "horizontal-pod-autoscaler-cpu-initialization-period",
    group: "tuning",
    description:
      "For so long after its start the CPU of a pod that is not ready, or was not ready all the time, is not counted",
    default: "5m"
  }),
  autoscalerInitialReadiness: Setting.make(Codecs.duration, {
    name: "horizontal-pod-autoscaler-initial-readiness-delay",
    group: "tuning",
    description: "A pod that became unready within so long after its start has never been ready",
    default: "30s"
  })
}
