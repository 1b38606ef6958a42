/**
 * Which Services a change of a slice or of a node asks for. A slice asks for its Service when another client wrote or deleted it, a second
 * later at least, so that two who write do not chase each other; our own writes ask for nothing. A node asks for the Services of its pods when it is
 * first seen and when its zone changes, and for those that ask for hints by zone when they would not get the same any more. Source: spec F.3.
 */
import * as Duration from "effect/Duration"
import type * as Key from "../../kube/Key.ts"
import type { EndpointSlice, Node, Pod } from "../../kube/resources.ts"
import type { Index } from "../../layers/Cache.ts"
import type * as Trigger from "../../streams/store/trigger.ts"
import * as Pods from "../shared/services/pods.ts"
import type { LoopState, Deps } from "./deps.ts"
import * as Slices from "./slices.ts"

/** At least. Source: endpointSliceChangeMinSyncDelay. */
export const minSyncDelay = Duration.seconds(1)

const none: ReadonlyArray<Key.Key> = []

export const slices =
  (
    { queue, services }: Pick<Deps, "queue" | "services">,
    { tracker, minSyncDelay: after }: LoopState
  ): Trigger.Trigger<EndpointSlice> =>
  (delta) => {
    const enqueue = (service: Key.Key | undefined): void => {
      if (service !== undefined && services.get(service) !== undefined) queue.addWithUnsafe(service, { after })
    }
    const { object } = delta
    const service = Slices.serviceOf(object)
    if (delta._tag === "Deleted") {
      if (service === undefined || !tracker.observeDeletion(service, object)) enqueue(service)
      return none
    }
    // What was there before us is looked at with its Service.
    if (delta._tag === "Created" && delta.initial) return none
    if (delta._tag === "Updated") {
      if (delta.previous === object) return none
      const before = Slices.serviceOf(delta.previous)
      if (before !== service) enqueue(before)
    }
    if (service !== undefined && !tracker.isKnown(service, object)) enqueue(service)
    return none
  }

/** Value: the node of a pod that has something to offer. */
export const byNode: Index<Pod> = {
  name: "services/node",
  of: (pod) => {
    const node = pod.spec?.nodeName ?? ""
    return node !== "" && Pods.contributes(pod, { includeTerminating: true }) ? [node] : nowhere
  }
}

const nowhere: ReadonlyArray<string> = []

export const nodes =
  ({ pods }: Pick<Deps, "pods">, { table, topologyCache, zones }: LoopState): Trigger.Trigger<Node> =>
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
