import { describe } from "@effect/vitest"
/**
 * Zone hints: no endpoint is overloaded, slices keep their hints where possible, and there are none without an
 * allocation.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Allocation from "../../../../src/controllers/endpointslice/plan/allocation.ts"
import * as Hints from "../../../../src/controllers/endpointslice/plan/hints.ts"
import type { Endpoint } from "../../../../src/controllers/endpointslice/plan/desired.ts"
import * as TopologyCache from "../../../../src/controllers/endpointslice/topologyCache.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../../support/property.ts"

const endpoint = Arbitrary.all({
  /** In the last zone no node counts. */
  zone: oneOf("a", "a", "a", "b", "b", "c", "d"),
  hint: oneOf("", "a", "a", "b", "b", "c", "d", "two", "node"),
  ready: oneOf(true, true, true, true, false)
})
const slice = Arbitrary.all({
  endpoints: Arbitrary.array(endpoint, { maxLength: 7 }),
  as: oneOf("create", "update", "unchanged", "unchanged"),
  /** Whether it already has a hint for its own zone. */
  isOwn: oneOf(true, true, false)
})
/** The CPU of three zones; the third may have none. */
const shares = Arbitrary.all({
  a: int(1, 9),
  b: int(1, 9),
  c: oneOf(0, 1, 1, 5),
  known: oneOf(true, true, true, true, false)
})
const scene = Arbitrary.all({
  shares,
  others: shares,
  slices: Arbitrary.array(slice, { minLength: 1, maxLength: 4 }),
  homeless: oneOf(false, false, false, false, true)
})
type Scene = ValueOf<typeof scene>

interface Slice {
  readonly id: number
  readonly endpoints: ReadonlyArray<Endpoint>
}

const hintsOf = (hint: string): NonNullable<Endpoint["hints"]> => {
  if (hint === "two") return { forZones: [{ name: "a" }, { name: "b" }] }
  return {
    forZones: [{ name: hint === "node" ? "a" : hint }],
    ...(hint === "node" ? { forNodes: [{ name: "n" }] } : {})
  }
}

const sharesOf = ({ a, b, c, known }: ValueOf<typeof shares>): Allocation.Shares | undefined => {
  const sum = a + b + c
  const all = Object.entries({ a, b, c }).filter(([, share]) => share > 0)
  return known ? new Map(all.map(([zone, share]) => [zone, share / sum])) : undefined
}

const given = ({ homeless, shares, slices }: Scene) => {
  const of = (as: string): ReadonlyArray<Slice> =>
    slices.flatMap((one, id) => {
      if (one.as !== as) return []
      const endpoints = one.endpoints.map(({ hint, ready, zone }, i): Endpoint => {
        const own = one.isOwn ? (ready ? zone : "") : hint
        return {
          addresses: [`10.0.${id}.${i}`],
          conditions: { ready },
          ...(homeless && id + i === 0 ? {} : { zone }),
          ...(own === "" ? {} : { hints: hintsOf(own) })
        }
      })
      return [{ id, endpoints }]
    })
  return { shares: sharesOf(shares), creates: of("create"), updates: of("update"), unchanged: of("unchanged") }
}

/** All slices are new, and all endpoints are ready and in known zones. */
const fresh = (one: Scene): Given => {
  const counted = sharesOf(one.shares) ?? new Map()
  const slices = one.slices.map((each): Scene["slices"][number] => ({
    isOwn: false,
    as: "create",
    endpoints: each.endpoints.map(({ zone }) => ({ zone: counted.has(zone) ? zone : "a", hint: "", ready: true }))
  }))
  return given({ ...one, homeless: false, slices })
}

type Given = ReturnType<typeof given>
/** All slices after hints were added. */
const after = (before: Given): ReadonlyArray<Slice> => {
  const { creates, rewritten, updates } = Hints.hint(before)
  const touched = new Set(rewritten.map(({ id }) => id))
  return [...creates, ...updates, ...rewritten, ...before.unchanged.filter(({ id }) => !touched.has(id))]
}

const endpointsOf = (slices: ReadonlyArray<Slice>) => slices.flatMap(({ endpoints }) => endpoints)
const isReady = ({ conditions }: Endpoint) => conditions?.ready === true
const readyOf = (slices: ReadonlyArray<Slice>) => endpointsOf(slices).filter(isReady)
const zoneFor = ({ hints }: Endpoint) =>
  hints?.forZones?.length === 1 && hints.forNodes === undefined ? hints.forZones[0]?.name : undefined
const countOf = (slices: ReadonlyArray<Slice>, zone: string) =>
  readyOf(slices).filter((one) => zoneFor(one) === zone).length

/** The minimum for a zone with that share: each endpoint then has an overload of 20 %. */
const least = (share: number, ready: number) => Math.ceil((share * ready) / 1.2 - 1e-9)

const isPossible = ({ creates, shares, unchanged, updates }: Given): boolean => {
  const ready = readyOf([...creates, ...updates, ...unchanged])
  if (shares === undefined || shares.size > ready.length || ready.some(({ zone }) => zone === undefined)) return false
  return [...shares.values()].reduce((sum, share) => sum + least(share, ready.length), 0) <= ready.length
}

/** Small numbers meet the rules only after rounding in both directions. */
const isEven = ({ creates, shares, unchanged, updates }: Given): boolean => {
  const { length } = readyOf([...creates, ...updates, ...unchanged])
  return [...(shares ?? [])].some(
    ([, share]) => Math.abs((share * length) / 1.2 - Math.round((share * length) / 1.2)) < 1e-6
  )
}

const isWellFormed = (slice: Slice, zones: Allocation.Shares): boolean =>
  slice.endpoints.every((one) => (isReady(one) ? zones.has(zoneFor(one) ?? "") : one.hints === undefined))

describe("Hints", () => {
  checkProperty("exist exactly if an allocation is possible", scene, (one) => {
    const before = given(one)
    return isEven(before) || (Hints.hint(before).outcome._tag === "Given") === isPossible(before)
  })

  checkProperty("give each ready endpoint one known zone, or none of them any", scene, (one) => {
    const before = given(one)
    const slices = after(before)
    return Hints.hint(before).outcome._tag === "Given"
      ? slices.every((each) => isWellFormed(each, before.shares ?? new Map()))
      : endpointsOf(slices).every(({ hints }) => hints === undefined)
  })

  checkProperty("overload no endpoint by more than 20 %", scene, (one) => {
    const before = given(one)
    const slices = after(before)
    const ready = readyOf(slices).length
    return (
      Hints.hint(before).outcome._tag === "Refused" ||
      [...(before.shares ?? [])].every(([zone, share]) => countOf(slices, zone) >= least(share, ready))
    )
  })

  checkProperty("are idempotent", scene, (one) => {
    const before = given(one)
    const again = { ...before, creates: [], updates: [], unchanged: after(before) }
    const { outcome, rewritten } = Hints.hint(again)
    return rewritten.length === 0 && outcome._tag === Hints.hint(before).outcome._tag
  })

  checkProperty("lead to a write of a slice only if it could not keep its hints beside the others", scene, (one) => {
    const before = given(one)
    const { outcome, rewritten } = Hints.hint(before)
    const { shares = new Map<string, number>(), unchanged } = before
    if (outcome._tag === "Refused") return true
    const moved = new Set(rewritten.map(({ id }) => id))
    const kept = unchanged.filter(({ id }) => !moved.has(id))
    const ready = readyOf(after(before)).length
    const allocation = Allocation.of(shares, ready)
    return unchanged.every((each) => {
      if (!moved.has(each.id) || !isWellFormed(each, shares) || allocation._tag === "Impossible") return true
      const counts = new Map([...shares.keys()].map((zone) => [zone, countOf([...kept, each], zone)]))
      return Allocation.used(allocation.due, counts) > allocation.slack
    })
  })

  checkProperty(
    "move an endpoint only for at least half an endpoint, if no zone is below its minimum",
    scene,
    (one) => {
      const before = fresh(one)
      const { outcome } = Hints.hint(before)
      const ready = readyOf(before.creates)
      const allocation = Allocation.of(before.shares, ready.length)
      if (outcome._tag === "Refused" || allocation._tag === "Impossible") return true
      const { due } = allocation
      const zones = [...due].map(([zone, { desired, minimum }]) => {
        const own = ready.filter((each) => each.zone === zone).length
        return { zone, surplus: own - desired, isShort: own < minimum }
      })
      if (zones.some(({ isShort }) => isShort)) return true
      const moved = readyOf(after(before)).filter((each) => zoneFor(each) !== each.zone)
      return zones.every(
        ({ surplus, zone }) =>
          (surplus >= 0.5 || moved.every((each) => each.zone !== zone)) &&
          (surplus <= -0.5 || moved.every((each) => zoneFor(each) !== zone))
      )
    }
  )

  checkProperty("keep eight, five and five endpoints where 7.2, 5.4 and 5.4 are desired", int(1, 2), (times) => {
    const zones = Array.from("aaaaaaaabbbbbccccc".repeat(times))
    const endpoints = zones.map((zone): Endpoint => ({ addresses: [zone], conditions: { ready: true }, zone }))
    const shares = new Map([
      ["a", 0.4],
      ["b", 0.3],
      ["c", 0.3]
    ])
    const { creates } = Hints.hint({ shares, creates: [{ endpoints }], updates: [], unchanged: [] })
    const moved = creates.flatMap((one) => one.endpoints).filter((one) => zoneFor(one) !== one.zone)
    return moved.length === (times === 1 ? 0 : 1)
  })

  checkProperty("never swap endpoints between two zones", scene, (one) => {
    const before = given(one)
    const { creates, rewritten, updates } = Hints.hint(before)
    const moves = readyOf([...creates, ...updates, ...rewritten]).flatMap((each) => {
      const to = zoneFor(each)
      return to === undefined || to === each.zone ? [] : [`${each.zone}${to}`]
    })
    return moves.every((move) => !moves.includes(`${move.slice(1)}${move.slice(0, 1)}`))
  })

  checkProperty("have counts that match the slices", scene, (one) => {
    const before = given(one)
    const { outcome } = Hints.hint(before)
    const slices = after(before)
    if (outcome._tag === "Refused") return outcome.ready === readyOf(slices).length
    return ["a", "b", "c", "d"].every((zone) => (outcome.counts.get(zone) ?? 0) === countOf(slices, zone))
  })

  checkProperty("change nothing else of an endpoint", scene, (one) => {
    const before = given(one)
    const text = (slices: ReadonlyArray<Slice>) =>
      slices
        .flatMap(({ endpoints, id }) =>
          endpoints.map(({ addresses, conditions, zone }) => `${id} ${addresses.join()} ${conditions?.ready} ${zone}`)
        )
        .toSorted()
        .join()
    return text(after(before)) === text([...before.creates, ...before.updates, ...before.unchanged])
  })
})
describe("TopologyCache", () => {
  checkProperty("returns exactly the Services whose hints would change", scene, (one) => {
    const before = given(one)
    const { outcome } = Hints.hint(before)
    const shares = sharesOf(one.others)
    const { rewritten } = Hints.hint({ creates: [], updates: [], unchanged: after(before), shares })
    return TopologyCache.holds(outcome, shares) === (rewritten.length === 0)
  })
})

describe("Allocation", () => {
  checkProperty("has a minimum for each zone that prevents overload, and not one endpoint more", scene, (one) => {
    const shares = sharesOf(one.shares)
    const ready = one.slices.reduce((sum, { endpoints }) => sum + endpoints.length, 0)
    const allocation = Allocation.of(shares, ready)
    if (allocation._tag === "Impossible") return true
    const load = (zone: string, count: number) => (shares?.get(zone) ?? 0) * ready - 1.2 * count
    return [...allocation.due].every(
      ([zone, { desired, minimum }]) =>
        minimum >= 1 && load(zone, minimum) <= 1e-6 && load(zone, minimum - 1) > -1e-6 && desired >= minimum
    )
  })

  checkProperty("has minimums and slack that add up to all endpoints", scene, (one) => {
    const ready = one.slices.reduce((sum, { endpoints }) => sum + endpoints.length, 0)
    const allocation = Allocation.of(sharesOf(one.shares), ready)
    if (allocation._tag === "Impossible") return true
    const sum = [...allocation.due.values()].reduce((all, { minimum }) => all + minimum, allocation.slack)
    return sum === ready && allocation.slack >= 0
  })
})
