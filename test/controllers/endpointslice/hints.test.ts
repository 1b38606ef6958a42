import { describe } from "@effect/vitest"
/** Hints by zone: nobody is overloaded by them, what can stay stays, and there are none where no division is possible. */
import * as Arbitrary from "effect/Arbitrary"
import * as Allocation from "../../../src/controllers/endpointslice/allocation.ts"
import * as Hints from "../../../src/controllers/endpointslice/hints.ts"
import type { Endpoint } from "../../../src/controllers/endpointslice/model.ts"
import * as TopologyCache from "../../../src/controllers/endpointslice/topologyCache.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"

const endpoint = Arbitrary.all({
  /** Of the last one no node counts. */
  zone: oneOf("a", "a", "a", "b", "b", "c", "d"),
  hint: oneOf("", "a", "a", "b", "b", "c", "d", "two", "node"),
  ready: oneOf(true, true, true, true, false)
})
const slice = Arbitrary.all({
  endpoints: Arbitrary.array(endpoint, { maxLength: 7 }),
  as: oneOf("create", "update", "unchanged", "unchanged"),
  /** Whether it has been hinted before, each endpoint for its own zone. */
  isOwn: oneOf(true, true, false)
})
/** The processors of three zones; of the third there may be none. */
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

/** All slices are new, and all endpoints ready and in zones that count. */
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
/** All slices as they are then. */
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

/** The least that a zone with that share may have: then each is asked for a fifth over the average. */
const least = (share: number, ready: number) => Math.ceil((share * ready) / 1.2 - 1e-9)

const isPossible = ({ creates, shares, unchanged, updates }: Given): boolean => {
  const ready = readyOf([...creates, ...updates, ...unchanged])
  if (shares === undefined || shares.size > ready.length || ready.some(({ zone }) => zone === undefined)) return false
  return [...shares.values()].reduce((sum, share) => sum + least(share, ready.length), 0) <= ready.length
}

/** Rules of small numbers are met by rounding on both sides of a whole one. */
const isEven = ({ creates, shares, unchanged, updates }: Given): boolean => {
  const { length } = readyOf([...creates, ...updates, ...unchanged])
  return [...(shares ?? [])].some(
    ([, share]) => Math.abs((share * length) / 1.2 - Math.round((share * length) / 1.2)) < 1e-6
  )
}

const isWellFormed = (slice: Slice, zones: Allocation.Shares): boolean =>
  slice.endpoints.every((one) => (isReady(one) ? zones.has(zoneFor(one) ?? "") : one.hints === undefined))

describe("Hints", () => {
  checkProperty("there are hints exactly where there is a division", scene, (one) => {
    const before = given(one)
    return isEven(before) || (Hints.hint(before).outcome._tag === "Given") === isPossible(before)
  })

  checkProperty("each endpoint that is ready is for one zone that counts, or none for any", scene, (one) => {
    const before = given(one)
    const slices = after(before)
    return Hints.hint(before).outcome._tag === "Given"
      ? slices.every((each) => isWellFormed(each, before.shares ?? new Map()))
      : endpointsOf(slices).every(({ hints }) => hints === undefined)
  })

  checkProperty("no endpoint is asked for more than a fifth over the average", scene, (one) => {
    const before = given(one)
    const slices = after(before)
    const ready = readyOf(slices).length
    return (
      Hints.hint(before).outcome._tag === "Refused" ||
      [...(before.shares ?? [])].every(([zone, share]) => countOf(slices, zone) >= least(share, ready))
    )
  })

  checkProperty("a second time nothing is written for hints", scene, (one) => {
    const before = given(one)
    const again = { ...before, creates: [], updates: [], unchanged: after(before) }
    const { outcome, rewritten } = Hints.hint(again)
    return rewritten.length === 0 && outcome._tag === Hints.hint(before).outcome._tag
  })

  checkProperty("a slice is written for its hints only if it could not stay beside those that do", scene, (one) => {
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

  checkProperty("no zone gives or takes for less than half an endpoint, if none is below its minimum", scene, (one) => {
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
  })

  checkProperty("eight, five and five endpoints stay where 7.2, 5.4 and 5.4 are due", int(1, 2), (times) => {
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

  checkProperty("no two zones swap endpoints", scene, (one) => {
    const before = given(one)
    const { creates, rewritten, updates } = Hints.hint(before)
    const moves = readyOf([...creates, ...updates, ...rewritten]).flatMap((each) => {
      const to = zoneFor(each)
      return to === undefined || to === each.zone ? [] : [`${each.zone}${to}`]
    })
    return moves.every((move) => !moves.includes(`${move.slice(1)}${move.slice(0, 1)}`))
  })

  checkProperty("what is told is what there is", scene, (one) => {
    const before = given(one)
    const { outcome } = Hints.hint(before)
    const slices = after(before)
    if (outcome._tag === "Refused") return outcome.ready === readyOf(slices).length
    return ["a", "b", "c", "d"].every((zone) => (outcome.counts.get(zone) ?? 0) === countOf(slices, zone))
  })

  checkProperty("endpoints are the same but for their hints", scene, (one) => {
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
describe("Wishes", () => {
  checkProperty("who is not asked again has nothing to write, and who is asked has", scene, (one) => {
    const before = given(one)
    const { outcome } = Hints.hint(before)
    const shares = sharesOf(one.others)
    const { rewritten } = Hints.hint({ creates: [], updates: [], unchanged: after(before), shares })
    return TopologyCache.holds(outcome, shares) === (rewritten.length === 0)
  })
})

describe("Allocation", () => {
  checkProperty("each zone is due what keeps its endpoints from overload, and not one more", scene, (one) => {
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

  checkProperty("the minimums and the slack are all there are", scene, (one) => {
    const ready = one.slices.reduce((sum, { endpoints }) => sum + endpoints.length, 0)
    const allocation = Allocation.of(sharesOf(one.shares), ready)
    if (allocation._tag === "Impossible") return true
    const sum = [...allocation.due.values()].reduce((all, { minimum }) => all + minimum, allocation.slack)
    return sum === ready && allocation.slack >= 0
  })
})
