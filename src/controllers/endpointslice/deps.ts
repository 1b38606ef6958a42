/** The stores and API calls that the EndpointSlice controller depends on, and its state. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Key } from "../../kube/Key.ts"
import type { Draft } from "../../kube/Meta.ts"
import type { EndpointSlice, Node, Pod, Service } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import type * as Selection from "../shared/services/selection.ts"
import type { Totals } from "../shared/services/totals.ts"
import type { SliceTracker } from "./sliceTracker.ts"
import type { TopologyCache } from "./topologyCache.ts"
import type { Zones } from "./zones.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps {
  readonly services: Store.Readable<Service>
  readonly pods: Store.Readable<Pod>
  readonly nodes: Store.Readable<Node>
  readonly slices: Store.Readable<EndpointSlice>
  readonly create: (draft: Draft<EndpointSlice>) => Call<EndpointSlice>
  readonly update: (slice: EndpointSlice) => Call<EndpointSlice>
  readonly remove: (slice: EndpointSlice) => Call<unknown>
  readonly events: EventSink
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

/** State and settings of one leadership term. */
export interface LoopState {
  readonly table: Selection.Table
  readonly tracker: SliceTracker
  readonly zones: Zones
  readonly topologyCache: TopologyCache
  readonly totals: Totals
  readonly preferences: Preferences
  /** Maximum number of endpoints in a slice. */
  readonly limit: number
  /** The delay between a change of a slice by another client and the sync. */
  readonly minSyncDelay: Duration.Duration
}

/** How many Services have each traffic distribution; state of one leadership term. */
interface Preferences {
  /** Returns the number of Services for each value that ever occurred. */
  readonly note: (service: Key, preference: string | undefined) => ReadonlyMap<string, number>
}

export const makePreferences = (): Preferences => {
  const known = new Map<Key, string>()
  const services = new Map<string, number>()
  const add = (preference: string | undefined, count: number): void => {
    if (preference !== undefined) services.set(preference, (services.get(preference) ?? 0) + count)
  }
  return {
    note: (service, preference) => {
      add(known.get(service), -1)
      add(preference, 1)
      if (preference === undefined) known.delete(service)
      else known.set(service, preference)
      return services
    }
  }
}
