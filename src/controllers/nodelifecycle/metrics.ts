/** What the loop of nodes measures, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Count } from "./zones.ts"

const gauge = (name: string, description: string) => Metric.gauge(`node_collector_${name}`, { description })

const sizes = gauge("zone_size", "Nodes of a zone")
const unhealthy = gauge("unhealthy_nodes_in_zone", "Nodes of a zone that are not ready")
const health = gauge("zone_health", "Percent of the nodes of a zone that are ready")
const evictions = Metric.counter("node_collector_evictions_total", {
  description: "Nodes that were tainted so that their pods leave, by zone",
  incremental: true
})

export const looked = (zone: string, { notReady, ready }: Count): Effect.Effect<void> => {
  const size = ready + notReady
  const of = (metric: Metric.Gauge<number>, value: number) =>
    Metric.update(Metric.withAttributes(metric, { zone }), value)
  return Effect.all([of(sizes, size), of(unhealthy, notReady), of(health, size === 0 ? 0 : (ready / size) * 100)], {
    discard: true
  })
}

export const gaveUp = (zone: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(evictions, { zone }), 1)
