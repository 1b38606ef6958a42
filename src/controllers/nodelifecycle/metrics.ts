/** Metrics of the node lifecycle loop, under the names of kube-controller-manager. Source: pkg/controller/nodelifecycle/metrics.go. */
import * as Effect from "effect/Effect"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import type { Count } from "./zones.ts"

const gauge = (name: string, description: string) => Family.gauge(`node_collector_${name}`, description, ["zone"])

const sizes = gauge("zone_size", "Nodes of a zone")
const unhealthy = gauge("unhealthy_nodes_in_zone", "Nodes of a zone that are not ready")
const health = gauge("zone_health", "Percent of the nodes of a zone that are ready")
const evictions = Family.counter("node_collector_evictions_total", "Nodes that were tainted with NoExecute, by zone", [
  "zone"
])

const ofOne = Family.histogram(
  "node_collector_update_node_health_duration_seconds",
  "Seconds that a pass took for one node",
  Family.exponential(0.001, 4, 8)
)
const ofAll = Family.histogram(
  "node_collector_update_all_nodes_health_duration_seconds",
  "Seconds that a pass took for all nodes",
  Family.exponential(0.01, 4, 8)
)

export const families = [sizes, unhealthy, health, evictions, ofOne, ofAll]

/** Creates the series of a zone before its first eviction. */
export const known = (zone: string): Effect.Effect<void> => evictions.add(0, { zone })

/** The result of a pass. A zone without nodes counts as healthy. */
export const observed = (zone: string, { notReady, ready }: Count): Effect.Effect<void> => {
  const size = ready + notReady
  return Effect.all(
    [
      sizes.set(size, { zone }),
      unhealthy.set(notReady, { zone }),
      health.set(size === 0 ? 100 : (ready / size) * 100, { zone })
    ],
    { discard: true }
  )
}

export const evicted = (zone: string): Effect.Effect<void> => evictions.add(1, { zone })

/** The duration of a pass in seconds: for each node, and for all of them. */
export const took = (each: Iterable<number>, all: number): Effect.Effect<void> =>
  Effect.andThen(ofOne.observeAll(each), ofAll.observe(all))
