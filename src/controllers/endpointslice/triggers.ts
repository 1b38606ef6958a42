/**
 * Which Services a change of a slice or a node enqueues. A slice that another client changed or deleted enqueues its
 * Service, after at least a second, so that two writers do not loop; our own writes enqueue nothing. A node enqueues
 * the Services of its pods when it is added and when its zone changes, and the Services whose hints would change.
 * Source: pkg/controller/endpointslice: onEndpointSliceUpdate, checkNodeTopologyDistribution.
 */
import * as Duration from "effect/Duration"
import type * as Key from "../../kube/Key.ts"
import type { EndpointSlice, Node, Pod } from "../../kube/resources.ts"
import type { Index } from "../../layers/Cache.ts"
import type * as Trigger from "../../streams/store/trigger.ts"
import * as Pods from "../shared/services/pods.ts"
import type { Deps } from "./deps.ts"
import * as Slices from "./slices.ts"
import type { State } from "./state.ts"

/** Source: pkg/controller/endpointslice: endpointSliceChangeMinSyncDelay. */
const minSyncDelay = Duration.seconds(1)

const none: ReadonlyArray<Key.Key> = []

/** `batchPeriod`: how long pod changes are batched before a sync. */
export const slices = (
  { queue, services }: Pick<Deps, "queue" | "services">,
  { tracker }: State,
  batchPeriod: Duration.Duration
): Trigger.Trigger<EndpointSlice> => {
  const after = Duration.max(batchPeriod, minSyncDelay)
  return (delta) => {
    const enqueue = (service: Key.Key | undefined): void => {
      if (service !== undefined && services.get(service) !== undefined) queue.addWithUnsafe(service, { after })
    }
    const { object } = delta
    const service = Slices.serviceOf(object)
    if (delta._tag === "Deleted") {
      if (service === undefined || !tracker.observeDeletion(service, object)) enqueue(service)
      return none
    }
    // A slice of the initial list is synced with its Service.
    if (delta._tag === "Created" && delta.initial) return none
    if (delta._tag === "Updated") {
      if (delta.previous === object) return none
      const before = Slices.serviceOf(delta.previous)
      if (before !== service) enqueue(before)
    }
    if (service !== undefined && !tracker.isKnown(service, object)) enqueue(service)
    return none
  }
}

/** Index value: the node of a pod that contributes endpoints. */
export const byNode: Index<Pod> = {
  name: "services/node",
  of: (pod) => {
    const node = pod.spec?.nodeName ?? ""
    return node !== "" && Pods.contributes(pod, { includeTerminating: true }) ? [node] : nowhere
  }
}

const nowhere: ReadonlyArray<string> = []

export const nodes =
  ({ pods }: Pick<Deps, "pods">, { table, topologyCache, zones }: State): Trigger.Trigger<Node> =>
  (delta) => {
    const others = zones.observe(delta) ? topologyCache.concerned(zones.shares()) : none
    if (delta._tag === "Deleted") return others
    if (delta._tag === "Updated" && zoneOf(delta.previous) === zoneOf(delta.object)) return others
    const concerned = new Set(others)
    for (const { metadata } of pods.byIndex(byNode.name, delta.object.metadata.name))
      for (const service of table.matching(metadata.namespace, metadata.labels)) concerned.add(service)
    return [...concerned]
  }

const zoneOf = ({ metadata }: Node): string | undefined => metadata.labels?.["topology.kubernetes.io/zone"]
