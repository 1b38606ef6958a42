/**
 * What the loop of autoscalers remembers between two looks: what was recommended and done, and whom each target selects. Plain synchronous
 * state, for one term of leadership; a new term takes the size it finds for a recommendation.
 */
import type { Key } from "../../kube/Key.ts"
import type { HorizontalPodAutoscaler } from "../../kube/resources.ts"
import * as History from "./plan/history.ts"
import * as Selectors from "./selectors.ts"

export interface Books {
  /** Of this very autoscaler: a namesake starts clean. */
  readonly history: (key: Key, autoscaler: HorizontalPodAutoscaler) => History.History
  readonly remember: (key: Key, autoscaler: HorizontalPodAutoscaler, history: History.History) => void
  readonly forget: (key: Key) => void
  readonly selectors: Selectors.Table
  /** How many autoscalers are remembered. */
  readonly size: () => number
}

export const make = (): Books => {
  const known = new Map<Key, { readonly uid: string | undefined; readonly history: History.History }>()
  const selectors = Selectors.makeTable()
  return {
    history: (key, { metadata }) => {
      const entry = known.get(key)
      return entry === undefined || entry.uid !== metadata.uid ? History.empty : entry.history
    },
    remember: (key, { metadata }, history) => void known.set(key, { uid: metadata.uid, history }),
    forget: (key) => {
      known.delete(key)
      selectors.delete(key)
    },
    selectors,
    size: () => known.size
  }
}
