/** What the Services come to together, by the difference that each sync makes. Plain synchronous state, for one term of leadership. */
import type { Key } from "../../kube/Key.ts"
import type { Sizes } from "./plan.ts"

type Size = Pick<Sizes, "endpoints" | "slices" | "fewest">

/** Both answer with the sum of all Services. */
export interface Totals {
  readonly note: (service: Key, size: Size) => Size
  readonly forget: (service: Key) => Size
}

const none: Size = { endpoints: 0, slices: 0, fewest: 0 }

export const make = (): Totals => {
  const sizes = new Map<Key, Size>()
  let sum = none
  const change = (service: Key, size: Size): Size => {
    const before = sizes.get(service) ?? none
    sum = {
      endpoints: sum.endpoints + size.endpoints - before.endpoints,
      slices: sum.slices + size.slices - before.slices,
      fewest: sum.fewest + size.fewest - before.fewest
    }
    return sum
  }
  return {
    note: (service, { endpoints, fewest, slices }) => {
      const size = { endpoints, fewest, slices }
      const all = change(service, size)
      sizes.set(service, size)
      return all
    },
    forget: (service) => {
      const all = change(service, none)
      sizes.delete(service)
      return all
    }
  }
}
