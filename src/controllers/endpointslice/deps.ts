/** What the slice loop reads and does; nothing here knows where it goes. */
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

/** What one run of the loop remembers and is told. */
export interface LoopState {
  readonly table: Selection.Table
  readonly tracker: SliceTracker
  readonly zones: Zones
  readonly topologyCache: TopologyCache
  readonly totals: Totals
  readonly preferences: Preferences
  /** Endpoints in a slice, at most. */
  readonly limit: number
  /** Between a change of a slice by another client and the sync that puts it right. */
  readonly minSyncDelay: Duration.Duration
}

/** The traffic distributions that Services ask for, and how many ask for each; for one term of leadership. */
interface Preferences {
  /** Returns how many Services have each of the values that were ever seen. */
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
