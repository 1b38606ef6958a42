/** The state of one leadership term. */
import type { Key } from "../../kube/Key.ts"
import * as Selection from "../shared/services/selection.ts"
import * as Totals from "../shared/services/totals.ts"
import * as SliceTracker from "./sliceTracker.ts"
import * as TopologyCache from "./topologyCache.ts"
import * as Zones from "./zones.ts"

export interface State {
  readonly table: Selection.Table
  readonly tracker: SliceTracker.SliceTracker
  readonly zones: Zones.Zones
  readonly topologyCache: TopologyCache.TopologyCache
  readonly totals: Totals.Totals
  readonly preferences: Preferences
}

export const make = (): State => ({
  table: Selection.makeTable(),
  tracker: SliceTracker.make(),
  zones: Zones.make(),
  topologyCache: TopologyCache.make(),
  totals: Totals.make(),
  preferences: makePreferences()
})

/** How many Services have each traffic distribution. */
interface Preferences {
  /** Returns the number of Services for each value that ever occurred. */
  readonly note: (service: Key, preference: string | undefined) => ReadonlyMap<string, number>
}

const makePreferences = (): Preferences => {
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
