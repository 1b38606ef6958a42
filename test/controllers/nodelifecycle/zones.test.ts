import * as Arbitrary from "effect/Arbitrary"
import * as Zones from "../../../src/controllers/nodelifecycle/zones.ts"
import type { Node } from "../../../src/kube/resources.ts"
import { int, law, oneOf, prove, type ValueOf } from "../../support/laws.ts"

type Module = typeof Zones

const rates: Zones.Rates = { normal: 0.1, secondary: 0.01, large: 10, unhealthy: 0.55 }

const count = Arbitrary.all({ ready: oneOf(0, 0, 0, 1, 2, 5, 9, 12), notReady: int(0, 12) })

/** Looks at up to three zones; a zone without nodes is not there. */
const histories = Arbitrary.array(
  Arbitrary.all({ a: count, b: count, c: Arbitrary.all({ ready: oneOf(0, 0, 0, 1), notReady: int(0, 3) }) }),
  { minLength: 1, maxLength: 8 }
)

type History = ValueOf<typeof histories>

const zonesOf = (look: History[number]): ReadonlyMap<string, Zones.Count> =>
  new Map(Object.entries(look).filter(([, { notReady, ready }]) => ready + notReady > 0))

const stateOf = ({ notReady, ready }: Zones.Count) =>
  ready === 0 ? "Full" : notReady > 2 && notReady / (ready + notReady) >= 0.55 ? "Partial" : "Normal"

const states = law<Module, History>("a zone is as ill as its nodes say", histories, (module, history) => {
  let before: Zones.States = new Map()
  return history.every((look) => {
    const zones = zonesOf(look)
    before = module.turn(before, zones, rates).states
    return before.size === zones.size && [...zones].every(([zone, one]) => before.get(zone) === stateOf(one))
  })
})

const allFull = (zones: ReadonlyMap<string, Zones.Count>) =>
  zones.size > 0 && [...zones.values()].every((one) => stateOf(one) === "Full")

const stops = law<Module, History>(
  "nobody is given up exactly while no zone has a node that is ready",
  histories,
  (module, history) => {
    let before: Zones.States = new Map()
    return history.every((look) => {
      const zones = zonesOf(look)
      const turn = module.turn(before, zones, rates)
      before = turn.states
      return [...zones].every(([zone, one]) => {
        const rate = turn.rates.get(zone)
        if (allFull(zones)) return rate === 0
        if (stateOf(one) !== "Partial") return rate === 0.1
        return rate === (one.ready + one.notReady > 10 ? 0.01 : 0)
      })
    })
  }
)

const modes = law<Module, History>(
  "entering and leaving are told once each, in turn, of the zones that are still there",
  histories,
  (module, history) => {
    let before: Zones.States = new Map()
    return history.every((look) => {
      const zones = zonesOf(look)
      const was = zones.size > 0 && [...zones.keys()].every((zone) => before.get(zone) === "Full")
      const turn = module.turn(before, zones, rates)
      before = turn.states
      const is = allFull(zones)
      return turn.mode === (is && !was ? "Entered" : was && !is ? "Left" : "Same")
    })
  }
)

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

const places = law<Module, ValueOf<typeof labels>>(
  "a node is in the zone that its labels name, the new ones first",
  labels,
  (module, one) => {
    const region = one.region || one.oldRegion
    const zone = one.zone || one.oldZone
    return (
      module.zoneOf(nodeOf(one)) === (region + zone === "" ? "" : `${region}:\0:${zone}`) &&
      module.counts(nodeOf(one)) === !one.excluded
    )
  }
)

prove<Module>({
  path: "controllers/nodelifecycle/zones.ts",
  module: Zones,
  laws: [states, stops, modes, places],
  mutants: [
    { title: "two nodes make a zone ill", find: "notReady > 2", replace: "notReady > 1" },
    { title: "half is not enough", find: ">= unhealthy", replace: "> unhealthy + 0.1" },
    { title: "one ready node is none", find: "ready === 0 && notReady > 0", replace: "ready <= 1 && notReady > 0" },
    { title: "it goes on while nobody is ready", find: "if (is) return 0", replace: "" },
    {
      title: "a large zone has no rate",
      find: "> rates.large ? rates.secondary : 0",
      replace: "> rates.large ? 0 : 0"
    },
    { title: "a small zone has a rate", find: "rates.secondary : 0", replace: "rates.secondary : rates.secondary" },
    { title: "some zones are enough", find: ".every((state) =>", replace: ".some((state) =>" },
    {
      title: "entering is told again and again",
      find: 'is === was ? "Same" : is',
      replace: 'is === was && !is ? "Same" : is'
    },
    {
      title: "zones that are gone count",
      find: "const was = isDisrupted(known)",
      replace: "const was = isDisrupted(before)"
    },
    {
      title: "old labels first",
      find: 'labels["topology.kubernetes.io/zone"] ?? labels["failure-domain.beta.kubernetes.io/zone"]',
      replace: 'labels["failure-domain.beta.kubernetes.io/zone"] ?? labels["topology.kubernetes.io/zone"]'
    },
    {
      title: "everybody counts",
      find: '!Object.hasOwn(labels, "node.kubernetes.io/exclude-disruption")',
      replace: "labels !== undefined"
    }
  ]
})
