/**
 * The controller's metrics, with the names of kube-controller-manager. Source: pkg/controller/podautoscaler/metrics.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"

const prefix = "horizontal_pod_autoscaler_controller_"
const bounds = Family.exponential(0.001, 2, 15)

const reconciliations = Family.counter(
  `${prefix}reconciliations_total`,
  "Reconciliations of autoscalers, by action and kind of error",
  ["action", "error"]
)
const reconciliationSeconds = Family.histogram(
  `${prefix}reconciliation_duration_seconds`,
  "Seconds that a reconciliation of an autoscaler took, by action and kind of error",
  bounds,
  ["action", "error"]
)
const computations = Family.counter(
  `${prefix}metric_computation_total`,
  "Computations for one metric, by proposed action, kind of error and metric type",
  ["action", "error", "metric_type"]
)
const computationSeconds = Family.histogram(
  `${prefix}metric_computation_duration_seconds`,
  "Seconds that a computation for one metric took, by proposed action, kind of error and metric type",
  bounds,
  ["action", "error", "metric_type"]
)
const autoscalers = Family.gauge(`${prefix}num_horizontal_pod_autoscalers`, "Number of autoscalers")

const sizes = Family.gauge(`${prefix}desired_replicas`, "Desired replicas of an autoscaler", ["hpa_name", "namespace"])

export const families = [reconciliations, reconciliationSeconds, computations, computationSeconds, autoscalers, sizes]

export type Action = "scale_up" | "scale_down" | "none"
/**
 * `spec`: the autoscaler's spec is wrong; `internal`: any other failure. Source: pkg/controller/podautoscaler: errSpec.
 */
export type Fault = "spec" | "internal" | "none"

export const actionOf = (from: number, to: number): Action =>
  to > from ? "scale_up" : to < from ? "scale_down" : "none"

/** The labels of a reconciliation, successful or not. */
interface Judgement {
  readonly action: Action
  readonly fault: Fault
}

/** Runs the effect and passes its duration in seconds to `record`. */
const timed = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  record: (seconds: number, result: A | E) => Effect.Effect<void>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.monotonicTimeNanos, (begun) => {
    const after = (result: A | E) =>
      Effect.flatMap(Clock.monotonicTimeNanos, (now) => record(Number(now - begun) / 1e9, result))
    return effect.pipe(Effect.tap(after), Effect.tapError(after))
  })

/** Times one reconciliation. */
export const reconciled = <A extends Judgement, E extends Judgement, R>(
  reconciliation: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  timed(reconciliation, (seconds, { action, fault }) => {
    const attributes = { action, error: fault }
    return Effect.andThen(reconciliations.add(1, attributes), reconciliationSeconds.observe(seconds, attributes))
  })

/** Times one metric of an autoscaler. */
export const computed = <A, R>(
  type: string,
  computation: Effect.Effect<A, never, R>,
  judge: (result: A) => Judgement
): Effect.Effect<A, never, R> =>
  timed(computation, (seconds, result) => {
    const { action, fault } = judge(result)
    const attributes = { action, error: fault, metric_type: type }
    return Effect.andThen(computations.add(1, attributes), computationSeconds.observe(seconds, attributes))
  })

export const counted = (count: number): Effect.Effect<void> => autoscalers.set(count)

const nameOf = (namespace: string | undefined, name: string) => ({ hpa_name: name, namespace: namespace ?? "" })

/** Sets the gauge of desired replicas. */
export const desired = ({ metadata }: KubeObject, replicas: number): Effect.Effect<void> =>
  sizes.set(replicas, nameOf(metadata.namespace, metadata.name))

/** Removes the gauge of a deleted autoscaler. */
export const gone = (key: Key.Key): Effect.Effect<void> => {
  const { name, namespace } = Key.parse(key)
  return sizes.remove(nameOf(namespace, name))
}
