/**
 * The state of one leadership term: recommendations, scale events and target selectors between reconciliations. A new term starts with the
 * current size as a recommendation.
 */
import type { Key } from "../../kube/Key.ts"
import type { HorizontalPodAutoscaler } from "../../kube/resources.ts"
import * as History from "./plan/history.ts"
import type { Settings } from "./plan/spec.ts"
import * as Selectors from "./selectors.ts"

export interface State {
  readonly settings: Settings
  /** By uid: a recreated autoscaler starts with no history. */
  readonly history: (key: Key, autoscaler: HorizontalPodAutoscaler) => History.History
  /** Keeps the history after a reconciliation. */
  readonly remember: (key: Key, autoscaler: HorizontalPodAutoscaler, history: History.History) => void
  readonly forget: (key: Key) => void
  readonly selectors: Selectors.Table
  /** The number of autoscalers with a history. */
  readonly size: () => number
}

export const make = (settings: Settings): State => {
  const known = new Map<Key, { readonly uid: string | undefined; readonly history: History.History }>()
  const selectors = Selectors.makeTable()
  return {
    settings,
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
