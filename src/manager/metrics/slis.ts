/**
 * How the checks of probes went, in a registry of its own that one may scrape more often than all the rest: whoever asks a probe as a whole, as
 * kubelets do, has its checks counted. Source: k8s.io/component-base/metrics/prometheus/slis.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Observe } from "../probes/handle.ts"

const last = Metric.gauge("kubernetes_healthcheck", {
  description: "How the last check went, by check and probe: 1 is passed, 0 is failed"
})
const total = Metric.counter("kubernetes_healthchecks_total", {
  description: "Checks, by check, probe and how they went",
  incremental: true
})

export interface Slis {
  readonly observe: Observe
  readonly registry: Metric.MetricRegistry
}

/** `about`: registers what is shown of the process besides. */
export const make = Effect.fnUntraced(function* (about: Effect.Effect<void>) {
  const registry: Metric.MetricRegistry = new Map()
  const inRegistry = Effect.provideService(Metric.MetricRegistry, registry)
  yield* inRegistry(about)
  const observe: Observe = (type, { failure, name }) => {
    const status = failure === undefined ? "success" : "error"
    return Effect.andThen(
      Metric.update(Metric.withAttributes(last, { name, type }), failure === undefined ? 1 : 0),
      Metric.update(Metric.withAttributes(total, { name, status, type }), 1)
    ).pipe(inRegistry)
  }
  return { observe, registry } satisfies Slis
})
