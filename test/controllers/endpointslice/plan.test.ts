/** Carried out, a plan leaves slices that say what the pods say, and nothing to do; whatever slices there were. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Model from "../../../src/controllers/endpointslice/model.ts"
import * as Plan from "../../../src/controllers/endpointslice/plan.ts"
import * as ServicePorts from "../../../src/controllers/services/servicePorts.ts"
import type { Draft } from "../../../src/kube/Meta.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import { type EndpointSlice, Service } from "../../../src/kube/resources.ts"
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
  time: oneOf("", "1970-01-01T00:00:05Z")
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

const gathered = (given: Scene, slices: ReadonlyArray<EndpointSlice>): Plan.Gathered => {
  const one = service(given.service)
  const time = given.time === "" ? undefined : given.time
  return {
    service: one,
    pods: selected(one, podsOf(given.pods)),
    slices,
    nodeOf,
    time,
    limit: given.limit,
    shares: undefined
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
      (module, given) => [...said(after(module, given))].sort().join() === [...expected(given)].sort().join()
    ),
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

const facts = {
  ports: "number",
  ip: "10.96.0.1",
  families: "4",
  publishes: false,
  labels: "none",
  traffic: "none",
  selector: "web"
} as const
const podFact = {
  labels: "web",
  port: 8080,
  phase: "Running",
  ready: true,
  families: "4",
  going: false,
  node: "a",
  host: "",
  since: 1
} as const

const endpointOf = (given: Partial<typeof podFact | Record<string, unknown>>, as: object = {}) => {
  const { creates } = Plan.plan({
    service: service({ ...facts, ...as }),
    pods: podsOf([{ ...podFact, id: 1, ...given }]),
    slices: [],
    nodeOf,
    time: undefined,
    limit: 100,
    shares: undefined
  })
  return creates[0]?.endpoints?.[0]
}

describe("an endpoint", () => {
  it("has its three conditions, its pod, its node and its zone", () =>
    assert.deepStrictEqual(endpointOf({}), {
      addresses: ["10.0.0.1"],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: "a",
      targetRef: { kind: "Pod", namespace: "ns", name: "pod-1", uid: "uid-1" },
      zone: "zone-a"
    }))

  for (const [title, pod, as, conditions] of [
    ["is not ready while its pod is not", { ready: false }, {}, [false, false, false]],
    ["is serving but not ready when its pod goes", { going: true }, {}, [false, true, true]],
    ["is ready anyway if the Service says so", { ready: false, going: true }, { publishes: true }, [true, false, true]]
  ] as const) {
    it(`it ${title}`, () => {
      const [ready, serving, terminating] = conditions
      assert.deepStrictEqual(endpointOf(pod, as)?.conditions, { ready, serving, terminating })
    })
  }

  it("has a host name in the Service's own domain only", () => {
    assert.strictEqual(endpointOf({ host: "web" })?.hostname, "host-1")
    assert.isUndefined(endpointOf({ host: "elsewhere" })?.hostname)
  })

  it("has hints as the Service prefers, and only while it is ready", () => {
    assert.isUndefined(endpointOf({})?.hints)
    const zone = { forZones: [{ name: "zone-a" }] }
    assert.deepStrictEqual(endpointOf({}, { traffic: "PreferClose" })?.hints, zone)
    assert.deepStrictEqual(endpointOf({}, { traffic: "PreferSameZone" })?.hints, zone)
    assert.deepStrictEqual(endpointOf({}, { traffic: "PreferSameNode" })?.hints, { forNodes: [{ name: "a" }], ...zone })
    assert.isUndefined(endpointOf({ ready: false }, { traffic: "PreferClose" })?.hints)
    assert.isUndefined(endpointOf({ node: "b" }, { traffic: "PreferClose" })?.hints)
    assert.deepStrictEqual(endpointOf({ node: "b" }, { traffic: "PreferSameNode" })?.hints, {
      forNodes: [{ name: "b" }]
    })
  })

  it("is left out while nobody knows its node, unless it is published anyway", () => {
    assert.isUndefined(endpointOf({ node: "lost" }))
    assert.isDefined(endpointOf({ node: "lost" }, { publishes: true }))
  })
})

describe("the families of a Service", () => {
  for (const [title, spec, families] of [
    ["are those that it was given", { ipFamilies: ["IPv6", "IPv4"], clusterIP: "10.96.0.1" }, ["IPv4", "IPv6"]],
    ["else that of its address", { clusterIP: "fd00::1" }, ["IPv6"]],
    ["else both", { clusterIP: "None" }, ["IPv4", "IPv6"]]
  ] as const) {
    it(`they ${title}`, () =>
      assert.deepStrictEqual(Model.familiesOf({ metadata: { name: Service.kind }, spec: spec }), [...families]))
  }
})
