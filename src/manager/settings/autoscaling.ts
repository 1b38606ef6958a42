/**
 * Settings of all horizontal pod autoscalers. Defaults and meanings are those of kube-controller-manager. Source:
 * pkg/controller/podautoscaler/config.
 */
import * as Option from "effect/Option"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"

const share = {
  metavar: "number",
  expected: "a number from 0, with a fraction if need be",
  decode: (value: string) => (/^\d{1,6}(\.\d{1,6})?$/.test(value) ? Option.some(Number(value)) : Option.none<number>())
}

export const settings = {
  autoscalerSyncPeriod: Setting.make(Codecs.interval, {
    name: "horizontal-pod-autoscaler-sync-period",
    group: "tuning",
    description: "Time between two reconciles of an autoscaler",
    default: "15s"
  }),
  autoscalerDownscaleStabilization: Setting.make(Codecs.duration, {
    name: "horizontal-pod-autoscaler-downscale-stabilization",
    group: "tuning",
    description: "Time for which the highest recommendation is kept before replicas are removed",
    default: "5m"
  }),
  autoscalerTolerance: Setting.make(share, {
    name: "horizontal-pod-autoscaler-tolerance",
    group: "tuning",
    description: "Tolerance around the target, as a share of it, within which nothing is changed",
    default: "0.1"
  }),
  autoscalerCpuInitialization: Setting.make(Codecs.duration, {
    name: "horizontal-pod-autoscaler-cpu-initialization-period",
    group: "tuning",
    description: "Time after its start in which the CPU of a pod is ignored, unless it has been ready all the time",
    default: "5m"
  }),
  autoscalerInitialReadiness: Setting.make(Codecs.duration, {
    name: "horizontal-pod-autoscaler-initial-readiness-delay",
    group: "tuning",
    description: "A pod that became unready within this time after its start counts as never ready",
    default: "30s"
  })
}
