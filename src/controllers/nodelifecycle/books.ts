/**
 * What the loop of nodes remembers between two looks, for one term of leadership. A new term starts with nothing: every node is given its whole
 * time again, and taints that are there stay. Plain synchronous state.
 */
import type { Node } from "../../kube/resources.ts"
import type { Ports, Settings } from "./ports.ts"
import * as Health from "./health.ts"
import { Lines } from "./lines.ts"
import type * as Zones from "./zones.ts"

export interface Books {
  /** From monotonic time to observed time, in milliseconds. */
  readonly time: (now: number) => number
  readonly seen: Map<string, Health.Seen>
  /** The nodes as the last look left them, by name: newer than the cache where it wrote. */
  readonly judged: Map<string, Node>
  /** Nodes of which a pod may be marked as ready that is not. */
  readonly owed: Set<string>
  readonly lines: Lines
  states: Zones.States
}

export const make = (settings: Settings): Books => ({
  time: Health.observedTime(2 * settings.period),
  seen: new Map(),
  judged: new Map(),
  owed: new Set(),
  lines: new Lines(settings.normal),
  states: new Map()
})

/** The node in its newest known form. */
export const latest = ({ judged }: Books, { nodes }: Pick<Ports, "nodes">, name: string): Node | undefined => {
  const cached = nodes.get(name)
  const known = judged.get(name)
  return cached === undefined || known?.metadata.uid !== cached.metadata.uid ? cached : known
}
