import { describe } from "@effect/vitest"
/** The zones' shares of CPU: after any sequence of node events the same as by a scan. */
import * as Arbitrary from "effect/Arbitrary"
import * as Zones from "../../../src/controllers/endpointslice/zones.ts"
import type { Node } from "../../../src/kube/resources.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"

const fact = Arbitrary.all({
  id: int(0, 4),
  exists: oneOf(true, true, true, false),
  zone: oneOf("a", "a", "b", "b", "c", ""),
  cpu: oneOf("1", "2", "1500m", "0", "none"),
  ready: oneOf("True", "True", "True", "False", "none"),
  role: oneOf("none", "none", "none", "control-plane", "master")
})
const history = Arbitrary.array(fact, { maxLength: 12 })
type Fact = ValueOf<typeof fact>

const node = ({ cpu, id, ready, role, zone }: Fact): Node => ({
  metadata: {
    name: `node-${id}`,
    labels: {
      ...(zone === "" ? {} : { "topology.kubernetes.io/zone": zone }),
      ...(role === "none" ? {} : { [`node-role.kubernetes.io/${role}`]: "" })
    }
  },
  status: {
    ...(cpu === "none" ? {} : { allocatable: { cpu } }),
    conditions: ready === "none" ? [] : [{ type: "Ready", status: ready }]
  }
})

const millis: Record<string, number> = { "1": 1000, "2": 2000, "1500m": 1500, "0": 0, none: 0 }

/** By a scan of all nodes. */
const expected = (nodes: Iterable<Fact>): string => {
  const counting = [...nodes].filter(({ ready, role }) => role === "none" && ready === "True")
  if (counting.some(({ cpu, zone }) => zone === "" || millis[cpu] === 0)) return "unknown"
  const sums: Record<string, number> = {}
  for (const { cpu, zone } of counting) sums[zone] = (sums[zone] ?? 0) + (millis[cpu] ?? 0)
  const zones = Object.keys(sums).toSorted()
  const all = zones.reduce((sum, zone) => sum + (sums[zone] ?? 0), 0)
  return zones.length < 2 ? "unknown" : zones.map((zone) => `${zone} ${(sums[zone] ?? 0) / all}`).join()
}

const text = (shares: ReturnType<Zones.Zones["shares"]>): string =>
  shares === undefined ? "unknown" : [...shares].map(([zone, share]) => `${zone} ${share}`).join()

const run = (facts: ReadonlyArray<Fact>, each: (recorded: boolean, before: string, after: string) => boolean) => {
  const zones = Zones.make()
  const present = new Map<number, Fact>()
  return facts.every((one) => {
    const before = text(zones.shares())
    const previous = present.get(one.id)
    if (!one.exists && previous === undefined) return true
    if (one.exists) present.set(one.id, one)
    else present.delete(one.id)
    const recorded = zones.observe(
      !one.exists
        ? { _tag: "Deleted", object: node(previous ?? one), stateUnknown: false }
        : previous === undefined
          ? { _tag: "Created", object: node(one), initial: false }
          : { _tag: "Updated", object: node(one), previous: node(previous) }
    )
    return each(recorded, before, text(zones.shares())) && text(zones.shares()) === expected(present.values())
  })
}

describe("Zones", () => {
  checkProperty("the shares equal those of a scan", history, (facts) => run(facts, () => true))

  checkProperty("a change of the shares is reported", history, (facts) =>
    run(facts, (recorded, before, after) => recorded || before === after)
  )

  checkProperty("a node event without a change changes nothing", fact, (one) => {
    const zones = Zones.make()
    zones.observe({ _tag: "Created", object: node(one), initial: true })
    return !zones.observe({ _tag: "Updated", object: node(one), previous: node(one) })
  })
})
