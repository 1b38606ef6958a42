/**
 * What part of the cluster's processors each zone has: totals that each change of a node adds to or takes from, so that no change costs a look at
 * the others. Nodes of the control plane and those that are not ready do not count. Plain synchronous state. Source: endpointslice/topologycache.
 */
import * as Quantity from "../../kube/quantity.ts"
import type { Node } from "../../kube/resources.ts"
import type { Delta } from "../../streams/store/Store.ts"
import * as Nodes from "../shared/nodes/node.ts"
import type { Shares } from "./allocation.ts"

export interface Zones {
  /** True if the shares are others now. */
  readonly observe: (delta: Delta<Node>) => boolean
  /** Undefined while fewer than two zones have processors, or of one node that counts nobody knows its zone or its processors. */
  readonly shares: () => Shares | undefined
}

/** What a node adds; both 0 or empty for one of which too little is known. */
interface Part {
  readonly zone: string
  /** Thousandths of a processor. */
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
  if (Nodes.readyCondition(node)?.status !== "True") return undefined
  const zone = labels[zoneLabel] ?? ""
  const processors = Number(Quantity.milli(node.status?.allocatable?.["cpu"] ?? "0") ?? 0n)
  return zone === "" || processors <= 0 ? unknown : { zone, processors }
}

const unknown: Part = { zone: "", processors: 0 }

const isSame = (a: Part | undefined, b: Part | undefined): boolean =>
  a?.zone === b?.zone && a?.processors === b?.processors

export const make = (): Zones => {
  const parts = new Map<string, Part>()
  /** By zone, the empty one for nodes of which too little is known; none without nodes. */
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
