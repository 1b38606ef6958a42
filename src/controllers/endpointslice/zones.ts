/**
 * Each zone's share of the nodes' CPU, as totals that every node event updates, so that no event scans all nodes.
 * Control plane nodes and nodes that are not ready do not count. Plain synchronous state. Source:
 * endpointslice/topologycache: SetNodes.
 */
import * as Quantity from "../../kube/quantity.ts"
import type { Node } from "../../kube/resources.ts"
import type { Delta } from "../../streams/store/Store.ts"
import * as Nodes from "../shared/nodes/node.ts"
import type { Shares } from "./plan/allocation.ts"

export interface Zones {
  /** Returns whether the shares changed. */
  readonly observe: (delta: Delta<Node>) => boolean
  /** Undefined while fewer than two zones have CPU, or if the zone or CPU of a counted node is unknown. */
  readonly shares: () => Shares | undefined
}

/** A node's contribution; empty and 0 if its zone or CPU is unknown. */
interface Part {
  readonly zone: string
  /** In millicores. */
  readonly processors: number
}

interface Total {
  readonly nodes: number
  readonly processors: number
}

const excluded = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"]

const zoneLabel = "topology.kubernetes.io/zone"

/** Undefined for a node that does not count. */
export const partOf = (node: Node): Part | undefined => {
  const { labels = {} } = node.metadata
  if (excluded.some((label) => Object.hasOwn(labels, label))) return undefined
  if (!Nodes.isReady(node)) return undefined
  const zone = labels[zoneLabel] ?? ""
  const processors = Number(Quantity.milli(node.status?.allocatable?.["cpu"] ?? "0") ?? 0n)
  return zone === "" || processors <= 0 ? unknown : { zone, processors }
}

const unknown: Part = { zone: "", processors: 0 }

const isSame = (a: Part | undefined, b: Part | undefined): boolean =>
  a?.zone === b?.zone && a?.processors === b?.processors

export const make = (): Zones => {
  const parts = new Map<string, Part>()
  /** By zone, the empty string for nodes with unknown zone or CPU; zones without nodes are absent. */
  const totals = new Map<string, Total>()
  let shares: Shares | undefined

  const add = ({ processors, zone }: Part, sign: 1 | -1): void => {
    const { nodes, processors: sum } = totals.get(zone) ?? { nodes: 0, processors: 0 }
    if (nodes + sign === 0) totals.delete(zone)
    else totals.set(zone, { nodes: nodes + sign, processors: sum + sign * processors })
  }

  return {
    observe: ({ _tag, object }) => {
      const { name } = object.metadata
      const before = parts.get(name)
      const part = _tag === "Deleted" ? undefined : partOf(object)
      if (isSame(before, part)) return false
      if (before !== undefined) add(before, -1)
      if (part === undefined) parts.delete(name)
      else {
        parts.set(name, part)
        add(part, 1)
      }
      const previous = shares
      shares = sharesOf(totals)
      return previous !== shares
    },
    shares: () => shares
  }
}

const sharesOf = (totals: ReadonlyMap<string, Total>): Shares | undefined => {
  if (totals.size < 2 || totals.has("")) return undefined
  const all = [...totals.values()].reduce((sum, { processors }) => sum + processors, 0)
  const zones = [...totals].sort(([a], [b]) => (a < b ? -1 : 1))
  return new Map(zones.map(([zone, { processors }]) => [zone, processors / all]))
}
