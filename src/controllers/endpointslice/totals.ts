/** What the Services come to together, by the difference that each sync makes. Plain synchronous state, for one term of leadership. */
import type { Key } from "../../kube/Key.ts"
import type { Sizes } from "./plan.ts"

/** Both answer with the sum of all Services. */
export interface Totals {
  readonly note: (service: Key, size: Sizes) => Sizes
  readonly forget: (service: Key) => Sizes
  /**
   * What the Service says of where its traffic goes. Answers with how many Services say each of the things that were ever said.
   */
  readonly prefer: (service: Key, preference: string | undefined) => ReadonlyMap<string, number>
}

const none: Sizes = { endpoints: 0, slices: 0, fewest: 0 }

export const make = (): Totals => {
  const sizes = new Map<Key, Sizes>()
  const preferences = new Map<Key, string>()
  const services = new Map<string, number>()
  let sum = none
  const change = (service: Key, size: Sizes): Sizes => {
    const before = sizes.get(service) ?? none
    sum = {
      endpoints: sum.endpoints + size.endpoints - before.endpoints,
      slices: sum.slices + size.slices - before.slices,
      fewest: sum.fewest + size.fewest - before.fewest
    }
    return sum
  }
  const add = (preference: string | undefined, count: number): void => {
    if (preference !== undefined) services.set(preference, (services.get(preference) ?? 0) + count)
  }
  return {
    note: (service, size) => {
      const all = change(service, size)
      sizes.set(service, size)
      return all
    },
    forget: (service) => {
      const all = change(service, none)
      sizes.delete(service)
      return all
    },
    prefer: (service, preference) => {
      add(preferences.get(service), -1)
      add(preference, 1)
      if (preference === undefined) preferences.delete(service)
      else preferences.set(service, preference)
      return services
    }
  }
}
