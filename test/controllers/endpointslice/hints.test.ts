/** Hints by zone: nobody is overloaded by them, what can stay stays, and there are none where no division is possible. */
import * as Arbitrary from "effect/Arbitrary"
import * as Allocation from "../../../src/controllers/endpointslice/allocation.ts"
import * as Hints from "../../../src/controllers/endpointslice/hints.ts"
import type { Endpoint } from "../../../src/controllers/endpointslice/model.ts"
import * as Wishes from "../../../src/controllers/endpointslice/wishes.ts"
import { int, law, oneOf, prove, type ValueOf } from "../../support/laws.ts"

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
type Module = Pick<typeof Hints, "hint">

/** All slices as they are then. */
const after = ({ hint }: Module, before: Given): ReadonlyArray<Slice> => {
  const { creates, rewritten, updates } = hint(before)
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

prove<Module>({
  path: "controllers/endpointslice/hints.ts",
  module: Hints,
  laws: [
    law("there are hints exactly where there is a division", scene, (module, one) => {
      const before = given(one)
      return isEven(before) || (module.hint(before).outcome._tag === "Given") === isPossible(before)
    }),
    law("each endpoint that is ready is for one zone that counts, or none for any", scene, (module, one) => {
      const before = given(one)
      const slices = after(module, before)
      return module.hint(before).outcome._tag === "Given"
        ? slices.every((each) => isWellFormed(each, before.shares ?? new Map()))
        : endpointsOf(slices).every(({ hints }) => hints === undefined)
    }),
    law("no endpoint is asked for more than a fifth over the average", scene, (module, one) => {
      const before = given(one)
      const slices = after(module, before)
      const ready = readyOf(slices).length
      return (
        module.hint(before).outcome._tag === "Refused" ||
        [...(before.shares ?? [])].every(([zone, share]) => countOf(slices, zone) >= least(share, ready))
      )
    }),
    law("a second time nothing is written for hints", scene, (module, one) => {
      const before = given(one)
      const again = { ...before, creates: [], updates: [], unchanged: after(module, before) }
      const { outcome, rewritten } = module.hint(again)
      return rewritten.length === 0 && outcome._tag === module.hint(before).outcome._tag
    }),
    law("a slice is written for its hints only if it could not stay beside those that do", scene, (module, one) => {
      const before = given(one)
      const { outcome, rewritten } = module.hint(before)
      const { shares = new Map<string, number>(), unchanged } = before
      if (outcome._tag === "Refused") return true
      const moved = new Set(rewritten.map(({ id }) => id))
      const kept = unchanged.filter(({ id }) => !moved.has(id))
      const ready = readyOf(after(module, before)).length
      const allocation = Allocation.of(shares, ready)
      return unchanged.every((each) => {
        if (!moved.has(each.id) || !isWellFormed(each, shares) || allocation._tag === "Impossible") return true
        const counts = new Map([...shares.keys()].map((zone) => [zone, countOf([...kept, each], zone)]))
        return Allocation.used(allocation.due, counts) > allocation.slack
      })
    }),
    law("no zone gives or takes for less than half an endpoint, if none is below its minimum", scene, (module, one) => {
      const before = fresh(one)
      const { outcome } = module.hint(before)
      const ready = readyOf(before.creates)
      const allocation = Allocation.of(before.shares, ready.length)
      if (outcome._tag === "Refused" || allocation._tag === "Impossible") return true
      const { due } = allocation
      const zones = [...due].map(([zone, { desired, minimum }]) => {
        const own = ready.filter((each) => each.zone === zone).length
        return { zone, surplus: own - desired, isShort: own < minimum }
      })
      if (zones.some(({ isShort }) => isShort)) return true
      const moved = readyOf(after(module, before)).filter((each) => zoneFor(each) !== each.zone)
      return zones.every(
        ({ surplus, zone }) =>
          (surplus >= 0.5 || moved.every((each) => each.zone !== zone)) &&
          (surplus <= -0.5 || moved.every((each) => zoneFor(each) !== zone))
      )
    }),
    law("eight, five and five endpoints stay where 7.2, 5.4 and 5.4 are due", int(1, 2), ({ hint }, times) => {
      const zones = Array.from("aaaaaaaabbbbbccccc".repeat(times))
      const endpoints = zones.map((zone): Endpoint => ({ addresses: [zone], conditions: { ready: true }, zone }))
      const shares = new Map([
        ["a", 0.4],
        ["b", 0.3],
        ["c", 0.3]
      ])
      const { creates } = hint({ shares, creates: [{ endpoints }], updates: [], unchanged: [] })
      const moved = creates.flatMap((one) => one.endpoints).filter((one) => zoneFor(one) !== one.zone)
      return moved.length === (times === 1 ? 0 : 1)
    }),
    law("no two zones swap endpoints", scene, (module, one) => {
      const before = given(one)
      const { creates, rewritten, updates } = module.hint(before)
      const moves = readyOf([...creates, ...updates, ...rewritten]).flatMap((each) => {
        const to = zoneFor(each)
        return to === undefined || to === each.zone ? [] : [`${each.zone}${to}`]
      })
      return moves.every((move) => !moves.includes(`${move.slice(1)}${move.slice(0, 1)}`))
    }),
    law("what is told is what there is", scene, (module, one) => {
      const before = given(one)
      const { outcome } = module.hint(before)
      const slices = after(module, before)
      if (outcome._tag === "Refused") return outcome.ready === readyOf(slices).length
      return ["a", "b", "c", "d"].every((zone) => (outcome.counts.get(zone) ?? 0) === countOf(slices, zone))
    }),
    law("endpoints are the same but for their hints", scene, (module, one) => {
      const before = given(one)
      const text = (slices: ReadonlyArray<Slice>) =>
        slices
          .flatMap(({ endpoints, id }) =>
            endpoints.map(({ addresses, conditions, zone }) => `${id} ${addresses.join()} ${conditions?.ready} ${zone}`)
          )
          .toSorted()
          .join()
      return text(after(module, before)) === text([...before.creates, ...before.updates, ...before.unchanged])
    })
  ],
  mutants: [
    {
      title: "any slice stays",
      find: "moved = unchanged.filter((slice) => !keep(",
      replace: "moved = unchanged.filter((slice) => false && !keep("
    },
    { title: "no slice stays", find: "if (Allocation.used(due, sum) > slack) return false", replace: "return false" },
    { title: "what stays leaves nothing", find: "if (Allocation.used(due, sum) > slack) return false", replace: "" },
    {
      title: "what stays is not counted",
      find: "for (const [zone, count] of sum) counts.set(zone, count)\n",
      replace: ""
    },
    {
      title: "a slice with hints for two zones stays",
      find: "hints.forZones[0]?.name : undefined",
      replace: "hints.forZones[0]?.name : hints?.forZones?.[0]?.name"
    },
    { title: "hints of a zone that is gone stay", find: "|| !due.has(zone)) return false", replace: ") return false" },
    {
      title: "hints of what is not ready stay",
      find: "if (!isReady(endpoint) || zone === undefined",
      replace: "if (!isReady(endpoint)) continue\n    if (zone === undefined"
    },
    {
      title: "what is not ready is hinted",
      find: "(isReady(endpoint) ? zones.next().value : undefined)",
      replace: "zones.next().value"
    },
    {
      title: "what is not ready is counted",
      find: "conditions?.ready === true",
      replace: "conditions?.ready !== undefined"
    },
    {
      title: "an endpoint without a zone is no matter",
      find: 'ready.some(({ zone = "" }) => zone === "")',
      replace: "false"
    },
    { title: "zones that have too few are left so", find: "  secure(division)\n", replace: "" },
    {
      title: "a zone gives what it needs",
      find: "richest(division, (zone) => above(division, zone) > 0)",
      replace: "richest(division, (zone) => zone !== to)"
    },
    {
      title: "every zone is levelled to the last",
      find: "tooMany >= 0.5 && tooFew >= 0.5 && (tooMany >= 1 || tooFew >= 1)",
      replace: "tooMany + tooFew > 1"
    },
    {
      title: "endpoints are spread out whatever their zones are",
      find: "if (due.has(zone)) give(division, at, zone)",
      replace: "if (due.has(zone)) give(division, at, neediest(division))"
    },
    { title: "a move is counted on one side", find: "add(division.counts, from, -1)", replace: "void from" },
    {
      title: "endpoints of other zones stay there",
      find: "if (!due.has(zone)) give(division, at, neediest(division))",
      replace: "if (!due.has(zone)) give(division, at, zone)"
    }
  ]
})

type Told = Pick<typeof Wishes, "holds">

prove<Told>({
  path: "controllers/endpointslice/wishes.ts",
  module: Wishes,
  laws: [
    law("who is not asked again has nothing to write, and who is asked has", scene, ({ holds }, one) => {
      const before = given(one)
      const { outcome } = Hints.hint(before)
      const shares = sharesOf(one.others)
      const { rewritten } = Hints.hint({ creates: [], updates: [], unchanged: after(Hints, before), shares })
      return holds(outcome, shares) === (rewritten.length === 0)
    })
  ],
  mutants: [
    {
      title: "who was refused is not asked",
      find: 'return !isOfNodes || Allocation.of(shares, ready)._tag === "Impossible"',
      replace: "return isOfNodes || ready >= 0"
    },
    { title: "who was refused for its own sake is asked", find: "return !isOfNodes || ", replace: "return " },
    {
      title: "nobody is asked while there can be hints",
      find: "Allocation.used(allocation.due, counts) <= allocation.slack &&",
      replace: ""
    },
    {
      title: "zones that are gone are no matter",
      find: "count === 0 || allocation.due.has(zone)",
      replace: "count >= 0"
    },
    {
      title: "who can have none any more is not asked",
      find: 'if (allocation._tag === "Impossible") return false',
      replace: 'if (allocation._tag === "Impossible") return true'
    }
  ]
})

prove<Pick<typeof Allocation, "of">>({
  path: "controllers/endpointslice/allocation.ts",
  module: Allocation,
  laws: [
    law("each zone is due what keeps its endpoints from overload, and not one more", scene, ({ of }, one) => {
      const shares = sharesOf(one.shares)
      const ready = one.slices.reduce((sum, { endpoints }) => sum + endpoints.length, 0)
      const allocation = of(shares, ready)
      if (allocation._tag === "Impossible") return true
      const load = (zone: string, count: number) => (shares?.get(zone) ?? 0) * ready - 1.2 * count
      return [...allocation.due].every(
        ([zone, { desired, minimum }]) =>
          minimum >= 1 && load(zone, minimum) <= 1e-6 && load(zone, minimum - 1) > -1e-6 && desired >= minimum
      )
    }),
    law("the minimums and the slack are all there are", scene, ({ of }, one) => {
      const ready = one.slices.reduce((sum, { endpoints }) => sum + endpoints.length, 0)
      const allocation = of(sharesOf(one.shares), ready)
      if (allocation._tag === "Impossible") return true
      const sum = [...allocation.due.values()].reduce((all, { minimum }) => all + minimum, allocation.slack)
      return sum === ready && allocation.slack >= 0
    })
  ],
  mutants: [
    { title: "rounded down", find: "Math.ceil(exact", replace: "Math.floor(exact" },
    { title: "no overload at all", find: "threshold = 0.2", replace: "threshold = 0" },
    { title: "twice the overload", find: "threshold = 0.2", replace: "threshold = 0.4" },
    { title: "less than the minimum is desired", find: "Math.max(exact, minimum)", replace: "exact" },
    { title: "more is promised than there is", find: "if (slack >= 0)", replace: "if (slack >= -9)" },
    { title: "the slack is not used up", find: "slack -= minimum", replace: "slack -= 0" }
  ]
})
