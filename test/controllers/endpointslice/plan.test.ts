/** Carried out, a plan leaves slices that say what the pods say, and nothing to do; whatever slices there were. */
import * as Arbitrary from "effect/Arbitrary"
import * as Model from "../../../src/controllers/endpointslice/model.ts"
import * as Plan from "../../../src/controllers/endpointslice/plan.ts"
import * as ServicePorts from "../../../src/controllers/services/servicePorts.ts"
import type { Draft } from "../../../src/kube/Meta.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import type { EndpointSlice, Service } from "../../../src/kube/resources.ts"
import { int, law, oneOf, prove } from "../../support/laws.ts"
import { nodeOf, podFacts, podsOf, selected, service, serviceFacts } from "../services/objects.ts"

/** What a Service and its pods were like when a slice was written, or whose it is. */
const sliceFacts = Arbitrary.all({
  pods: Arbitrary.array(podFacts, { maxLength: 4 }),
  as: serviceFacts,
  owner: oneOf("own", "own", "own", "former")
})
const scene = Arbitrary.all({
  service: serviceFacts,
  pods: Arbitrary.array(podFacts, { maxLength: 8 }),
  slices: Arbitrary.array(sliceFacts, { maxLength: 3 }),
  limit: int(1, 4),
  time: oneOf("", "1970-01-01T00:00:05Z"),
  /** Whether it asks for hints by zone. */
  asks: oneOf(false, false, true)
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const former = { uid: "former-uid" }

const stored = (draft: Draft<EndpointSlice>, name: string): EndpointSlice => ({
  ...draft,
  metadata: { ...draft.metadata, name, uid: `${name}-uid` }
})

/** The slices that syncs of the past may have left. */
const before = ({ limit, slices }: Scene): ReadonlyArray<EndpointSlice> =>
  slices.flatMap(({ as, owner, pods }, i) => {
    const given = { ...service(as), ...(owner === "own" ? {} : { metadata: { ...service(as).metadata, ...former } }) }
    const all = selected(given, podsOf(pods))
    const { creates } = Plan.plan({
      service: given,
      pods: all,
      slices: [],
      nodeOf,
      time: undefined,
      limit,
      shares: undefined
    })
    return creates.map((draft, j) => stored(draft, `${i}-${j}`))
  })

/** Pods of the second zone there are none, so endpoints of the first are for both, or no hints are possible. */
const shares = new Map([
  ["zone-a", 0.6],
  ["zone-b", 0.4]
])

const asking = (given: Service): Service => ({
  ...given,
  metadata: { ...given.metadata, annotations: { "service.kubernetes.io/topology-mode": "Auto" } }
})

const gathered = (given: Scene, slices: ReadonlyArray<EndpointSlice>): Plan.Gathered => {
  const one = given.asks ? asking(service(given.service)) : service(given.service)
  const time = given.time === "" ? undefined : given.time
  return {
    service: one,
    pods: selected(one, podsOf(given.pods)),
    slices,
    nodeOf,
    time,
    limit: given.limit,
    shares
  }
}

const carryOut = (slices: ReadonlyArray<EndpointSlice>, { creates, deletes, updates }: Plan.Plan) => {
  const gone = new Set([...deletes, ...updates].map(({ metadata }) => metadata.name))
  const made = creates.map((draft, i) => stored(draft, `new-${i}`))
  return [...slices.filter(({ metadata }) => !gone.has(metadata.name)), ...updates, ...made]
}

const after = (module: typeof Plan, given: Scene) => {
  const slices = before(given)
  return carryOut(slices, module.plan(gathered(given, slices)))
}

const text = (slice: Pick<EndpointSlice, "addressType" | "ports">, endpoint: Model.Endpoint): string =>
  JSON.stringify([
    slice.addressType,
    ServicePorts.keyOfAll(slice.ports ?? []),
    Object.entries(endpoint).sort(([a], [b]) => (a < b ? -1 : 1))
  ])

/** The slices without hints that depend on all of them. */
const bare = (given: Scene, slices: ReadonlyArray<EndpointSlice>): ReadonlyArray<EndpointSlice> =>
  given.asks
    ? slices.map((slice) => Object.assign({}, slice, { endpoints: (slice.endpoints ?? []).map(withoutHints) }))
    : slices

const withoutHints = (endpoint: Model.Endpoint): Model.Endpoint => {
  const { hints: _, ...others } = endpoint
  return others
}

/** How many endpoints of the family are for the zone, and how many are for any. */
const countOf = (slices: ReadonlyArray<EndpointSlice>, family: string, zone: string | undefined): number =>
  slices
    .filter(({ addressType }) => addressType === family)
    .flatMap(({ endpoints = [] }) => endpoints)
    .filter(({ hints }) => hints?.forZones?.[0]?.name === zone).length

const isAsTold = (answers: Plan.Plan["answers"], slices: ReadonlyArray<EndpointSlice>): boolean =>
  answers.every(({ family, outcome }) =>
    [...shares.keys()].every(
      (zone) => countOf(slices, family, zone) === (outcome._tag === "Refused" ? 0 : (outcome.counts.get(zone) ?? 0))
    )
  )

/** How many endpoints there are of each family, set of ports and whatever else. */
const places = (slices: ReadonlyArray<EndpointSlice>, more: (endpoint: Model.Endpoint) => string) => {
  const counts = new Map<string, number>()
  for (const { addressType, endpoints = [], ports = [] } of slices) {
    const key = `${addressType} ${ServicePorts.keyOfAll(ports)} `
    if (endpoints.length === 0) counts.set(key, counts.get(key) ?? 0)
    for (const one of endpoints) counts.set(key + more(one), (counts.get(key + more(one)) ?? 0) + 1)
  }
  return counts
}

/** What the pods say, one by one and without a plan. */
const expected = (given: Scene): ReadonlyArray<string> => {
  const { pods, service } = gathered(given, [])
  return Model.of(service, pods, nodeOf).groups.flatMap(({ endpoints, family, ports }) =>
    [...endpoints.values()].map((endpoint) => text({ addressType: family, ports: [...ports.ports] as never }, endpoint))
  )
}

const said = (slices: ReadonlyArray<EndpointSlice>): ReadonlyArray<string> =>
  slices.flatMap((slice) => (slice.endpoints ?? []).map((endpoint) => text(slice, endpoint)))

const changes = ({ creates, deletes, updates }: Plan.Plan): number => creates.length + updates.length + deletes.length

const isEmpty = ({ endpoints, ports }: EndpointSlice): boolean =>
  (endpoints ?? []).length === 0 && (ports ?? []).length === 0

prove<typeof Plan>({
  path: "controllers/endpointslice/plan.ts",
  module: Plan,
  laws: [
    law(
      "the slices say what the pods say",
      scene,
      (module, given) =>
        [...said(bare(given, after(module, given)))].sort().join() === [...expected(given)].sort().join()
    ),
    law("each zone has an endpoint for it, or no endpoint of the family is for any", scene, (module, given) => {
      const slices = after(module, given)
      return (
        !given.asks ||
        ["IPv4", "IPv6"].every((family) => {
          const [a = 0, b = 0] = [...shares.keys()].map((zone) => countOf(slices, family, zone))
          return a + b === 0 || (a > 0 && b > 0)
        })
      )
    }),
    law("it is told what became of a wish for hints", scene, (module, given) => {
      const slices = before(given)
      const { answers } = module.plan(gathered(given, slices))
      const then = after(module, given)
      const families = given.asks ? Model.familiesOf(service(given.service)) : []
      return answers.length === families.length && isAsTold(answers, then)
    }),
    law("a wish for hints is answered if nothing else changes either", scene, (module, given) => {
      const slices = carryOut([], module.plan(gathered({ ...given, asks: false }, [])))
      const plan = module.plan(gathered({ ...given, asks: true }, slices))
      return isAsTold(plan.answers, carryOut(slices, plan))
    }),
    law("its numbers are what happens", scene, (module, given) => {
      const slices = before(given)
      const { families, moves, sizes } = module.plan(gathered(given, slices))
      const served = slices.filter(({ addressType }) => families.some((family) => family === addressType))
      const sum = (of: (one: Plan.Moves) => number) => moves.reduce((all, one) => all + of(one), 0)
      const then = after(module, given)
      const fresh = [...places(then, Model.identity)].filter(
        ([one, count]) => count > 0 && !places(slices, Model.identity).has(one)
      )
      return (
        sizes.endpoints === said(then).length &&
        sizes.slices === then.length &&
        sizes.fewest ===
          [...places(then, () => "")].reduce(
            (sum, [, count]) => sum + Math.max(1, Math.ceil(count / given.limit)),
            0
          ) &&
        moves.length === families.length &&
        said(served).length + sum(({ added }) => added) - sum(({ removed }) => removed) === sizes.endpoints &&
        sum(({ added }) => added) >= fresh.length
      )
    }),
    law(
      "a second plan is empty",
      scene,
      (module, given) => changes(module.plan(gathered(given, after(module, given)))) === 0
    ),
    law("each family has a slice, and an empty one only if it has no other", scene, (module, given) => {
      const slices = after(module, given)
      const families = Model.familiesOf(service(given.service))
      const all = families.map((family) => slices.filter(({ addressType }) => addressType === family))
      return (
        all.every((some) => some.length > 0 && (some.length === 1 || !some.some(isEmpty))) &&
        slices.every(({ addressType }) => families.some((family) => family === addressType))
      )
    }),
    law("every slice is the Service's, under its labels and none too full", scene, (module, given) => {
      const one = service(given.service)
      return after(module, given).every(
        (slice) =>
          Owner.controlledBy(slice, one.metadata.uid) &&
          (slice.endpoints ?? []).length <= given.limit &&
          slice.metadata.labels?.["kubernetes.io/service-name"] === "web" &&
          slice.metadata.labels["endpointslice.kubernetes.io/managed-by"] === "endpointslice-controller.k8s.io" &&
          slice.metadata.labels["team"] === one.metadata.labels?.["team"] &&
          (slice.metadata.labels["service.kubernetes.io/headless"] === "") === (one.spec?.clusterIP === "None")
      )
    }),
    law("labels follow the Service, if nothing else changes either", scene, (module, given) => {
      const labelled = (labels: "none" | "team"): Scene => ({ ...given, service: { ...given.service, labels } })
      const slices = carryOut([], module.plan(gathered(labelled("none"), [])))
      const then = carryOut(slices, module.plan(gathered(labelled("team"), slices)))
      return then.every(({ metadata }) => metadata.labels?.["team"] === "a")
    }),
    law("what is written says since when it waited, or nothing", scene, (module, given) => {
      const slices = before(given)
      const { creates, updates } = module.plan(gathered(given, slices))
      const key = "endpoints.kubernetes.io/last-change-trigger-time"
      return [...creates, ...updates].every(({ metadata }) => (metadata?.annotations?.[key] ?? "") === given.time)
    }),
    law("no slice is made while one of the family is deleted that could be it", scene, (module, given) => {
      const { creates, deletes } = module.plan(gathered(given, before(given)))
      const uid = service(given.service).metadata.uid
      return !deletes.some(
        (slice) =>
          Owner.controlledBy(slice, uid) && creates.some(({ addressType }) => addressType === slice.addressType)
      )
    }),
    law("a Service that is going gets no new slices", scene, (module, given) => {
      const { service, ...others } = gathered(given, before(given))
      const metadata = { ...service.metadata, deletionTimestamp: "1970-01-01T00:00:09Z" }
      return module.plan({ ...others, service: { ...service, metadata } }).creates.length === 0
    })
  ],
  mutants: [
    {
      title: "nobody is hinted who asks for it",
      find: "const hinted = Model.isProportional(service.metadata) ?",
      replace: "const hinted = !Model.isProportional(service.metadata) && time === '' ?"
    },
    {
      title: "hints by zone make an endpoint another one",
      find: "Model.isProportional(service.metadata) ? Model.equalButHints : Model.equal",
      replace: "Model.equal"
    },
    {
      title: "hints of one family are divided among both",
      find: "(slice) => slice.addressType === family && Slices.isOwned(slice, service) && !touched.has(slice)",
      replace: "(slice) => Slices.isOwned(slice, service) && !touched.has(slice)"
    },
    {
      title: "slices are hinted that are written or go",
      find: "Slices.isOwned(slice, service) && !touched.has(slice)",
      replace: "Slices.isOwned(slice, service)"
    },
    {
      title: "slices are not written for their hints alone",
      find: "...rewritten.map((slice) => Slices.rehint(slice, writing))",
      replace: "...rewritten.slice(0, 0)"
    },
    {
      title: "what comes is not counted",
      find: "movesOf(gathered, model, family, change.added)",
      replace: "movesOf(gathered, model, family, 0)"
    },
    { title: "a slice that goes is counted", find: "creates.length - deletes.length)", replace: "creates.length)" },
    {
      title: "only what is empty needs slices",
      find: "sum + Math.ceil(group.endpoints.size / limit), empty)",
      replace: "sum + group.endpoints.size, empty)"
    },
    {
      title: "slices of a former Service are kept",
      find: "slice.addressType) && Slices.isOwned(slice, service)",
      replace: "slice.addressType) && true"
    },
    {
      title: "slices of a family that is gone are kept",
      find: "model.families.some((family) => family === slice.addressType) && Slices",
      replace: "Slices"
    },
    {
      title: "what a former Service had is filled again",
      find: "if (slice.addressType !== family || !Slices.isOwned(slice, service)) continue",
      replace: "if (slice.addressType !== family) continue"
    },
    {
      title: "changed labels are not written",
      find: "const isStale = !Slices.hasLabels(slice, writing.labels)",
      replace: "const isStale = false"
    },
    { title: "slices with other ports are forgotten", find: "      byPorts.delete(key)\n", replace: "" },
    {
      title: "slices of ports that nobody has are left",
      find: "const spare = [...byPorts.values()].flat().map(({ slice }) => slice)",
      replace: "const spare: Array<EndpointSlice> = []"
    },
    { title: "there is no placeholder", find: "return held(packing) ?", replace: "return held(packing) || true ?" },
    { title: "there is always a placeholder", find: "return held(packing) ?", replace: "return !held(packing) ?" },
    {
      title: "a placeholder is made beside slices that go",
      find: "if (kept === undefined) return",
      replace: "if (kept === undefined || true) return"
    },
    {
      title: "a placeholder is written again and again",
      find: "return Slices.isPlaceholder(kept, writing.labels)\n    ?",
      replace: 'return Slices.isPlaceholder(kept, writing.labels) && kept.addressType === ""\n    ?'
    },
    {
      title: "what is a placeholder already is kept beside others",
      find: "const deletes = spare.filter((slice) => slice !== kept)",
      replace: "const deletes = spare.filter(() => false)"
    },
    {
      title: "new slices for a Service that goes",
      find: "creates: isLeaving ? [] :",
      replace: "creates: isLeaving && false ? [] :"
    },
    {
      title: "one family is as good as another",
      find: ".filter((group) => group.family === family)",
      replace: ".filter(() => true)"
    }
  ]
})
