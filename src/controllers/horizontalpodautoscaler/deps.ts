/** The stores and API calls that the autoscaler controller depends on, and its state. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Key } from "../../kube/Key.ts"
import type { HorizontalPodAutoscaler, Pod } from "../../kube/resources.ts"
import type { MetricsApi } from "../../layers/MetricsApi.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type * as Store from "../../streams/store/Store.ts"
import type { Scales } from "../shared/scale/scales.ts"
import * as History from "./plan/history.ts"
import type { Settings } from "./plan/spec.ts"
import * as Selectors from "./selectors.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps {
  readonly autoscalers: Store.Readable<HorizontalPodAutoscaler>
  readonly pods: Store.Readable<Pod>
  readonly scales: Scales
  readonly metrics: MetricsApi["Service"]
  /** Reads the autoscaler from the server. */
  readonly live: (autoscaler: HorizontalPodAutoscaler) => Call<HorizontalPodAutoscaler>
  readonly updateStatus: (autoscaler: HorizontalPodAutoscaler) => Call<HorizontalPodAutoscaler>
  readonly events: EventSink
}

/** Settings and state of one leadership term. */
export interface LoopState {
  readonly settings: Settings
  readonly histories: Histories
}

/**
 * Recommendations, scale events and target selectors between reconciliations, for one leadership term. A new term
 * starts with the current size as a recommendation.
 */
interface Histories {
  /** By uid: a recreated autoscaler starts with no history. */
  readonly history: (key: Key, autoscaler: HorizontalPodAutoscaler) => History.History
  readonly remember: (key: Key, autoscaler: HorizontalPodAutoscaler, history: History.History) => void
  readonly forget: (key: Key) => void
  readonly selectors: Selectors.Table
  /** The number of autoscalers with a history. */
  readonly size: () => number
}

export const makeHistories = (): Histories => {
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
