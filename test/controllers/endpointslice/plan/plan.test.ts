import { describe } from "@effect/vitest"
/** An applied plan leaves slices that match the pods, and nothing to do, whatever slices existed. */
import * as Arbitrary from "effect/Arbitrary"
import * as Desired from "../../../../src/controllers/endpointslice/plan/desired.ts"
import * as Plan from "../../../../src/controllers/endpointslice/plan/plan.ts"
import * as ServicePorts from "../../../../src/controllers/shared/services/servicePorts.ts"
import type { Draft } from "../../../../src/kube/Meta.ts"
import * as Owner from "../../../../src/kube/Owner.ts"
import type { EndpointSlice, Service } from "../../../../src/kube/resources.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"
import { nodeOf, podFacts, podsOf, selected, service, serviceFacts } from "../../shared/services/objects.ts"

/** The Service and its pods when a slice was written, or its owner. */
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
  /** Whether it requests topology-aware hints. */
  asks: oneOf(false, false, true)
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const former = { uid: "former-uid" }

const stored = (draft: Draft<EndpointSlice>, name: string): EndpointSlice => ({
  ...draft,
  metadata: { ...draft.metadata, name, uid: `${name}-uid` }
})

/** The slices that earlier syncs may have left. */
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

/** There are no pods in the second zone, so endpoints of the first serve both, or no hints are possible. */
const shares = new Map([
  ["zone-a", 0.6],
  ["zone-b", 0.4]
])

const asking = (given: Service): Service => ({
  ...given,
  metadata: { ...given.metadata, annotations: { "service.kubernetes.io/topology-mode": "Auto" } }
})

const snapshot = (given: Scene, slices: ReadonlyArray<EndpointSlice>): Plan.Snapshot => {
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

const after = (given: Scene) => {
  const slices = before(given)
  return carryOut(slices, Plan.plan(snapshot(given, slices)))
}

const text = (slice: Pick<EndpointSlice, "addressType" | "ports">, endpoint: Desired.Endpoint): string =>
  JSON.stringify([
    slice.addressType,
    ServicePorts.keyOfAll(slice.ports ?? []),
    Object.entries(endpoint).sort(([a], [b]) => (a < b ? -1 : 1))
  ])

/** The slices without proportional hints. */
const bare = (given: Scene, slices: ReadonlyArray<EndpointSlice>): ReadonlyArray<EndpointSlice> =>
  given.asks
    ? slices.map((slice) => Object.assign({}, slice, { endpoints: (slice.endpoints ?? []).map(withoutHints) }))
    : slices

const withoutHints = (endpoint: Desired.Endpoint): Desired.Endpoint => {
  const { hints: _, ...others } = endpoint
  return others
}

/** How many endpoints of the family are for the zone, and how many have any hint. */
const countOf = (slices: ReadonlyArray<EndpointSlice>, family: string, zone: string | undefined): number =>
  slices
    .filter(({ addressType }) => addressType === family)
    .flatMap(({ endpoints = [] }) => endpoints)
    .filter(({ hints }) => hints?.forZones?.[0]?.name === zone).length

const isAsTold = (answers: Plan.Plan["outcomes"], slices: ReadonlyArray<EndpointSlice>): boolean =>
  answers.every(({ family, outcome }) =>
    [...shares.keys()].every(
      (zone) => countOf(slices, family, zone) === (outcome._tag === "Refused" ? 0 : (outcome.counts.get(zone) ?? 0))
    )
  )

/** The numbers of endpoints by family, ports and other properties. */
const places = (slices: ReadonlyArray<EndpointSlice>, more: (endpoint: Desired.Endpoint) => string) => {
  const counts = new Map<string, number>()
  for (const { addressType, endpoints = [], ports = [] } of slices) {
    const key = `${addressType} ${ServicePorts.keyOfAll(ports)} `
    if (endpoints.length === 0) counts.set(key, counts.get(key) ?? 0)
    for (const one of endpoints) counts.set(key + more(one), (counts.get(key + more(one)) ?? 0) + 1)
  }
  return counts
}

/** The expected endpoints, pod by pod and without a plan. */
const expected = (given: Scene): ReadonlyArray<string> => {
  const { pods, service } = snapshot(given, [])
  return Desired.of(service, pods, nodeOf).groups.flatMap(({ endpoints, family, ports }) =>
    [...endpoints.values()].map((endpoint) => text({ addressType: family, ports: [...ports.ports] as never }, endpoint))
  )
}

const linesOf = (slices: ReadonlyArray<EndpointSlice>): ReadonlyArray<string> =>
  slices.flatMap((slice) => (slice.endpoints ?? []).map((endpoint) => text(slice, endpoint)))

const changes = ({ creates, deletes, updates }: Plan.Plan): number => creates.length + updates.length + deletes.length

const isEmpty = ({ endpoints, ports }: EndpointSlice): boolean =>
  (endpoints ?? []).length === 0 && (ports ?? []).length === 0

describe("Plan", () => {
  checkProperty(
    "the slices match the pods",
    scene,
    (given) => [...linesOf(bare(given, after(given)))].sort().join() === [...expected(given)].sort().join()
  )

  checkProperty("each zone has an endpoint for it, or no endpoint of the family has a hint", scene, (given) => {
    const slices = after(given)
    return (
      !given.asks ||
      ["IPv4", "IPv6"].every((family) => {
        const [a = 0, b = 0] = [...shares.keys()].map((zone) => countOf(slices, family, zone))
        return a + b === 0 || (a > 0 && b > 0)
      })
    )
  })

  checkProperty("the outcome of a request for hints is returned", scene, (given) => {
    const slices = before(given)
    const { outcomes } = Plan.plan(snapshot(given, slices))
    const then = after(given)
    const families = given.asks ? Desired.familiesOf(service(given.service)) : []
    return outcomes.length === families.length && isAsTold(outcomes, then)
  })

  checkProperty("a request for hints is answered even if nothing else changes", scene, (given) => {
    const slices = carryOut([], Plan.plan(snapshot({ ...given, asks: false }, [])))
    const plan = Plan.plan(snapshot({ ...given, asks: true }, slices))
    return isAsTold(plan.outcomes, carryOut(slices, plan))
  })

  checkProperty("its counts match the slices", scene, (given) => {
    const slices = before(given)
    const { families, moves, sizes } = Plan.plan(snapshot(given, slices))
    const served = slices.filter(({ addressType }) => families.some((family) => family === addressType))
    const sum = (of: (one: Plan.Moves) => number) => moves.reduce((all, one) => all + of(one), 0)
    const then = after(given)
    const fresh = [...places(then, Desired.identity)].filter(
      ([one, count]) => count > 0 && !places(slices, Desired.identity).has(one)
    )
    return (
      sizes.endpoints === linesOf(then).length &&
      sizes.slices === then.length &&
      sizes.fewest ===
        [...places(then, () => "")].reduce((sum, [, count]) => sum + Math.max(1, Math.ceil(count / given.limit)), 0) &&
      moves.length === families.length &&
      linesOf(served).length + sum(({ added }) => added) - sum(({ removed }) => removed) === sizes.endpoints &&
      sum(({ added }) => added) >= fresh.length
    )
  })

  checkProperty("is idempotent", scene, (given) => changes(Plan.plan(snapshot(given, after(given)))) === 0)

  checkProperty("each family has a slice, and an empty one only if it has no other", scene, (given) => {
    const slices = after(given)
    const families = Desired.familiesOf(service(given.service))
    const all = families.map((family) => slices.filter(({ addressType }) => addressType === family))
    return (
      all.every((some) => some.length > 0 && (some.length === 1 || !some.some(isEmpty))) &&
      slices.every(({ addressType }) => families.some((family) => family === addressType))
    )
  })

  checkProperty("every slice has the Service as owner and its labels, and none exceeds the limit", scene, (given) => {
    const one = service(given.service)
    return after(given).every(
      (slice) =>
        Owner.controlledBy(slice, one.metadata.uid) &&
        (slice.endpoints ?? []).length <= given.limit &&
        slice.metadata.labels?.["kubernetes.io/service-name"] === "web" &&
        slice.metadata.labels["endpointslice.kubernetes.io/managed-by"] === "endpointslice-controller.k8s.io" &&
        slice.metadata.labels["team"] === one.metadata.labels?.["team"] &&
        (slice.metadata.labels["service.kubernetes.io/headless"] === "") === (one.spec?.clusterIP === "None")
    )
  })

  checkProperty("labels follow the Service, even if nothing else changes", scene, (given) => {
    const labelled = (labels: "none" | "team"): Scene => ({ ...given, service: { ...given.service, labels } })
    const slices = carryOut([], Plan.plan(snapshot(labelled("none"), [])))
    const then = carryOut(slices, Plan.plan(snapshot(labelled("team"), slices)))
    return then.every(({ metadata }) => metadata.labels?.["team"] === "a")
  })

  checkProperty("a written slice has the trigger time, or none", scene, (given) => {
    const slices = before(given)
    const { creates, updates } = Plan.plan(snapshot(given, slices))
    const key = "endpoints.kubernetes.io/last-change-trigger-time"
    return [...creates, ...updates].every(({ metadata }) => (metadata?.annotations?.[key] ?? "") === given.time)
  })

  checkProperty("no slice is created while one of the same family is deleted that could be reused", scene, (given) => {
    const { creates, deletes } = Plan.plan(snapshot(given, before(given)))
    const uid = service(given.service).metadata.uid
    return !deletes.some(
      (slice) => Owner.controlledBy(slice, uid) && creates.some(({ addressType }) => addressType === slice.addressType)
    )
  })

  checkProperty("a Service that is being deleted gets no new slices", scene, (given) => {
    const { service, ...others } = snapshot(given, before(given))
    const metadata = { ...service.metadata, deletionTimestamp: "1970-01-01T00:00:09Z" }
    return Plan.plan({ ...others, service: { ...service, metadata } }).creates.length === 0
  })
})
