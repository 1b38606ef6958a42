/** What the loop of nodes measures, under the names that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Family from "../../streams/metricFamily.ts"
import type { Count } from "./zones.ts"

const gauge = (name: string, description: string) => Family.gauge(`node_collector_${name}`, description, ["zone"])

const sizes = gauge("zone_size", "Nodes of a zone")
const unhealthy = gauge("unhealthy_nodes_in_zone", "Nodes of a zone that are not ready")
const health = gauge("zone_health", "Percent of the nodes of a zone that are ready")
const evictions = Family.counter(
  "node_collector_evictions_total",
  "Nodes that were tainted so that their pods leave, by zone",
  ["zone"]
)

export const families = [sizes, unhealthy, health, evictions]

export const looked = (zone: string, { notReady, ready }: Count): Effect.Effect<void> => {
  const size = ready + notReady
  return Effect.all(
    [
      sizes.set(size, { zone }),
      unhealthy.set(notReady, { zone }),
      health.set(size === 0 ? 0 : (ready / size) * 100, { zone })
    ],
    { discard: true }
  )
}

export const gaveUp = (zone: string): Effect.Effect<void> => evictions.add(1, { zone })
