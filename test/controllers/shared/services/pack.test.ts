/** Packing of endpoints: slices have the right endpoints within the limit, unchanged slices are not written, and the number of writes is minimal. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Pack from "../../../../src/controllers/shared/services/pack.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"

/** An endpoint is a number, in one of three states. */
interface Endpoint {
  readonly id: number
  readonly state: number
}

const endpoint = Arbitrary.all({ id: int(0, 11), state: oneOf(0, 0, 0, 1) })
const slice = Arbitrary.all({
  endpoints: Arbitrary.array(endpoint, { maxLength: 5 }),
  isStale: oneOf(false, false, false, true)
})
const group = Arbitrary.all({
  desired: Arbitrary.array(endpoint, { minLength: 1, maxLength: 8 }),
  slices: Arbitrary.array(slice, { maxLength: 4 })
})
const scene = Arbitrary.all({ groups: Arbitrary.array(group, { maxLength: 2 }), spare: int(0, 2), limit: int(1, 4) })

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never
type Group = Pack.Group<number, string, Endpoint>

const rules = (limit: number): Pack.Rules<Endpoint> => ({
  limit,
  identity: ({ id }) => String(id),
  equal: (a, b) => a.state === b.state
})

/** Groups of named slices. */
const of = ({ groups, spare }: Scene): { readonly groups: ReadonlyArray<Group>; readonly spare: Array<string> } => ({
  groups: groups.map(({ desired, slices }, group) => ({
    group,
    desired: new Map(desired.map((one) => [String(one.id), one])),
    slices: slices.map((one, i) => ({ ...one, slice: `${group}-${i}` }))
  })),
  spare: Array.from({ length: spare }, (_, i) => `spare-${i}`)
})

/** The slices after the packing was applied. */
const after = (given: Scene, packing: Pack.Packing<number, string, Endpoint>) => {
  const { groups } = of(given)
  const touched = new Set([...packing.updates.map((one) => one.slice), ...packing.deletes])
  const left = groups.flatMap(({ group, slices }) =>
    slices.filter((one) => !touched.has(one.slice)).map(({ endpoints }) => ({ group, endpoints }))
  )
  return [...left, ...packing.updates, ...packing.creates]
}

const run = (given: Scene) => {
  const { groups, spare } = of(given)
  return Pack.pack(groups, spare, rules(given.limit))
}

const show = (endpoints: Iterable<Endpoint>): string =>
  [...endpoints]
    .map(({ id, state }) => `${id}${state}`)
    .sort()
    .join()

/** The numbers that decide how many writes are needed. */
interface Counted {
  /** Endpoints without a slice. */
  readonly missing: number
  /** Room in slices that have to be written anyway. */
  readonly room: number
  /** Room in each of the other slices. */
  readonly others: ReadonlyArray<number>
}

const count = ({ desired, slices }: Group, limit: number) => {
  const placed = new Set<string>()
  let forced = 0
  let room = 0
  let emptied = 0
  const others: Array<number> = []
  for (const { endpoints, isStale } of slices) {
    const kept = endpoints.filter(({ id }) => desired.has(String(id)))
    for (const { id } of kept) placed.add(String(id))
    const same =
      kept.length === endpoints.length && kept.every((one) => desired.get(String(one.id))?.state === one.state)
    if (kept.length === 0) emptied++
    else if (same && !isStale) others.push(limit - kept.length)
    else {
      forced++
      room += limit - kept.length
    }
  }
  const counted: Counted = { missing: desired.size - placed.size, room, others }
  return { counted, forced, emptied }
}

/** How many slices the endpoints of a group need at least besides those that have to be written, and how many of these exist, by trying all numbers. */
const choices = ({ missing, others, room }: Counted, limit: number) =>
  Array.from({ length: 2 ** others.length }, (_, mask) => {
    const chosen = others.filter((_, i) => (mask & (1 << i)) !== 0)
    const left = missing - room - chosen.reduce((sum, one) => sum + one, 0)
    return { written: chosen.length, needed: Math.max(0, Math.ceil(left / limit)) }
  })

/** The fewest writes, by trying every set of slices that could be written. */
const fewest = (given: Scene): number => {
  const { groups, spare } = of(given)
  const each = groups.map((group) => count(group, given.limit))
  const free = spare.length + each.reduce((sum, { emptied }) => sum + emptied, 0)
  const forced = each.reduce((sum, one) => sum + one.forced, 0)
  const all = each.reduce<ReadonlyArray<{ readonly written: number; readonly needed: number }>>(
    (sums, { counted }) =>
      sums.flatMap((sum) =>
        choices(counted, given.limit).map(({ needed, written }) => ({
          written: sum.written + written,
          needed: sum.needed + needed
        }))
      ),
    [{ written: 0, needed: 0 }]
  )
  return Math.min(...all.map(({ needed, written }) => forced + free + written + Math.max(0, needed - free)))
}

/** No endpoint occurs twice in a group, and no slice exceeds the limit, so the endpoints to keep are determined. */
const isTidy = (given: Scene): boolean =>
  given.groups.every(({ slices }) => {
    const ids = slices.flatMap(({ endpoints }) => endpoints.map(({ id }) => id))
    return new Set(ids).size === ids.length && slices.every(({ endpoints }) => endpoints.length <= given.limit)
  })

/** Groups that satisfy that condition. */
const tidy = (given: Scene): Scene => ({
  ...given,
  groups: given.groups.map((group) => {
    const seen = new Set<number>()
    const slices = group.slices.map(({ endpoints, isStale }) => {
      const once = endpoints.filter(({ id }) => !seen.has(id) && seen.add(id).size > 0).slice(0, given.limit)
      return { endpoints: once, isStale }
    })
    return { ...group, slices }
  })
})

describe("Pack", () => {
  checkProperty("the slices of a group contain all endpoints, each once", scene, (given) => {
    const slices = after(given, run(given))
    return of(given).groups.every(
      ({ desired, group }) =>
        show(slices.filter((one) => one.group === group).flatMap(({ endpoints }) => endpoints)) ===
        show(desired.values())
    )
  })

  checkProperty("no slice exceeds the limit, and none is empty", scene, (given) =>
    after(given, run(given)).every(({ endpoints }) => endpoints.length > 0 && endpoints.length <= given.limit)
  )

  checkProperty("packing twice writes nothing", scene, (given) => {
    const slices = after(given, run(given))
    const { groups } = of(given)
    const again = groups.map(({ desired, group }) => ({
      group,
      desired,
      slices: slices
        .filter((one) => one.group === group)
        .map(({ endpoints }, i) => ({ slice: `${group}-${i}`, endpoints, isStale: false }))
    }))
    const { creates, deletes, unchanged, updates } = Pack.pack(again, [], rules(given.limit))
    return creates.length + updates.length + deletes.length === 0 && unchanged === slices.length
  })

  checkProperty("the number of writes is minimal", scene, (given) => {
    const { creates, deletes, updates } = run(tidy(given))
    return creates.length + updates.length + deletes.length === fewest(tidy(given))
  })

  checkProperty("a stale slice is written, and each slice at most once", scene, (given) => {
    const { deletes, updates } = run(given)
    const touched = [...updates.map((one) => one.slice), ...deletes]
    const { groups, spare } = of(given)
    const stale = groups.flatMap(({ slices }) => slices.filter((one) => one.isStale).map((one) => one.slice))
    return new Set(touched).size === touched.length && [...stale, ...spare].every((one) => touched.includes(one))
  })

  checkProperty("unchanged slices are counted", scene, (given) => {
    const { deletes, unchanged, updates } = run(given)
    const { groups, spare } = of(given)
    const all = spare.length + groups.reduce((sum, { slices }) => sum + slices.length, 0)
    return unchanged === all - updates.length - deletes.length
  })

  checkProperty("the fullest of the written slices is filled first", scene, ({ limit }) => {
    const slices = [1, 3].map((size, i) => ({
      slice: `${i}`,
      endpoints: Array.from({ length: size }, (_, id) => ({ id: 10 * i + id, state: 0 })),
      isStale: true
    }))
    const all = [...slices.flatMap(({ endpoints }) => endpoints), { id: 99, state: 0 }]
    const desired = new Map(all.map((one) => [String(one.id), one]))
    const { updates } = Pack.pack([{ group: 0, desired, slices }], [], rules(3 + limit))
    return updates.find(({ slice }) => slice === "1")?.endpoints.length === 4
  })

  checkProperty("new endpoints that fit into a slice are added to the one with the least room", scene, ({ limit }) => {
    const slices = [1, 3, 2].map((size, i) => ({
      slice: `${i}`,
      endpoints: Array.from({ length: size }, (_, id) => ({ id: 10 * i + id, state: 0 })),
      isStale: false
    }))
    const all = [...slices.flatMap(({ endpoints }) => endpoints), { id: 99, state: 0 }]
    const desired = new Map(all.map((one) => [String(one.id), one]))
    const { updates } = Pack.pack([{ group: 0, desired, slices }], [], rules(3 + limit))
    return updates.length === 1 && updates[0]?.slice === "1"
  })

  checkProperty("new endpoints that fit into no slice are written to a new one", scene, ({ limit }) => {
    const full = Array.from({ length: limit + 1 }, (_, id) => ({ id, state: 0 }))
    const all = [...full, { id: 98, state: 0 }, { id: 99, state: 0 }]
    const desired = new Map(all.map((one) => [String(one.id), one]))
    const slices = [{ slice: "0", endpoints: full, isStale: false }]
    const { creates, updates } = Pack.pack([{ group: 0, desired, slices }], [], rules(limit + 2))
    return updates.length === 0 && creates.length === 1 && creates[0]?.endpoints.length === 2
  })
})

describe("the generated values", () => {
  it("satisfy their invariants", () => {
    const messy: Scene = {
      limit: 1,
      spare: 0,
      groups: [
        {
          desired: [{ id: 1, state: 0 }],
          slices: [
            {
              endpoints: [
                { id: 1, state: 0 },
                { id: 1, state: 0 },
                { id: 2, state: 0 }
              ],
              isStale: false
            }
          ]
        }
      ]
    }
    assert.isFalse(isTidy(messy))
    assert.isTrue(isTidy(tidy(messy)))
  })
})

describe("a hundred and fifty endpoints", () => {
  const endpoints = Array.from({ length: 150 }, (_, id) => ({ id, state: 0 }))
  const desired = new Map(endpoints.map((one) => [String(one.id), one]))

  it("make two slices", () => {
    const { creates } = Pack.pack([{ group: 0, desired, slices: [] }], [], rules(100))
    assert.deepStrictEqual(
      creates.map((one) => one.endpoints.length),
      [100, 50]
    )
  })

  it("cause one write when one of them changes", () => {
    const slices = [endpoints.slice(0, 100), endpoints.slice(100)].map((some, i) => ({
      slice: `${i}`,
      endpoints: some.map((one) => (one.id === 120 ? { ...one, state: 1 } : one)),
      isStale: false
    }))
    const { creates, deletes, updates } = Pack.pack([{ group: 0, desired, slices }], [], rules(100))
    assert.deepStrictEqual([creates.length, updates.map((one) => one.slice), deletes.length], [0, ["1"], 0])
  })
})
