import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Zones from "../../../src/controllers/nodelifecycle/zones.ts"
import type { Node } from "../../../src/kube/resources.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"
const rates: Zones.Rates = { normal: 0.1, secondary: 0.01, large: 10, unhealthy: 0.55 }

const count = Arbitrary.all({ ready: oneOf(0, 0, 0, 1, 2, 5, 9, 12), notReady: int(0, 12) })

/** Successive passes over up to three zones; a zone without nodes does not exist. */
const histories = Arbitrary.array(
  Arbitrary.all({ a: count, b: count, c: Arbitrary.all({ ready: oneOf(0, 0, 0, 1), notReady: int(0, 3) }) }),
  { minLength: 1, maxLength: 8 }
)

type History = ValueOf<typeof histories>

const zonesOf = (visit: History[number]): ReadonlyMap<string, Zones.Count> =>
  new Map(Object.entries(visit).filter(([, { notReady, ready }]) => ready + notReady > 0))

const stateOf = ({ notReady, ready }: Zones.Count) =>
  ready === 0 ? "Full" : notReady > 2 && notReady / (ready + notReady) >= 0.55 ? "Partial" : "Normal"
const allFull = (zones: ReadonlyMap<string, Zones.Count>) =>
  zones.size > 0 && [...zones.values()].every((one) => stateOf(one) === "Full")
const labels = Arbitrary.all({
  region: oneOf("", "r"),
  zone: oneOf("", "z"),
  oldRegion: oneOf("", "q"),
  oldZone: oneOf("", "y"),
  excluded: oneOf(true, false)
})

const nodeOf = ({ excluded, oldRegion, oldZone, region, zone }: ValueOf<typeof labels>): Node => ({
  metadata: {
    name: "n",
    labels: Object.fromEntries(
      [
        ["topology.kubernetes.io/region", region],
        ["topology.kubernetes.io/zone", zone],
        ["failure-domain.beta.kubernetes.io/region", oldRegion],
        ["failure-domain.beta.kubernetes.io/zone", oldZone],
        ["node.kubernetes.io/exclude-disruption", excluded ? "x" : ""]
      ].filter(([, value]) => value !== "")
    ) as Record<string, string>
  },
  spec: {}
})
describe("Zones", () => {
  checkProperty("the state of a zone follows from the counts of its nodes", histories, (history) => {
    let before: Zones.States = new Map()
    return history.every((visit) => {
      const zones = zonesOf(visit)
      before = Zones.transition(before, zones, rates).states
      return before.size === zones.size && [...zones].every(([zone, one]) => before.get(zone) === stateOf(one))
    })
  })

  checkProperty("the rates are zero exactly while no zone has a ready node", histories, (history) => {
    let before: Zones.States = new Map()
    return history.every((visit) => {
      const zones = zonesOf(visit)
      const transition = Zones.transition(before, zones, rates)
      before = transition.states
      return [...zones].every(([zone, one]) => {
        const rate = transition.rates.get(zone)
        if (allFull(zones)) return rate === 0
        if (stateOf(one) !== "Partial") return rate === 0.1
        return rate === (one.ready + one.notReady > 10 ? 0.01 : 0)
      })
    })
  })

  checkProperty(
    "entering and leaving full disruption alternate, for the zones that still exist",
    histories,
    (history) => {
      let before: Zones.States = new Map()
      return history.every((visit) => {
        const zones = zonesOf(visit)
        const was = zones.size > 0 && [...zones.keys()].every((zone) => before.get(zone) === "Full")
        const transition = Zones.transition(before, zones, rates)
        before = transition.states
        const is = allFull(zones)
        return transition.mode === (is && !was ? "Entered" : was && !is ? "Left" : "Same")
      })
    }
  )

  checkProperty(
    "the zone of a node follows from its labels; the current labels precede the deprecated ones",
    labels,
    (one) => {
      const region = one.region || one.oldRegion
      const zone = one.zone || one.oldZone
      return (
        Zones.zoneOf(nodeOf(one)) === (region + zone === "" ? "" : `${region}:\0:${zone}`) &&
        Zones.counts(nodeOf(one)) === !one.excluded
      )
    }
  )
})
