/** The endpoint of one pod: conditions, host name, hints, node and zone; and the address families. */
import { assert, describe, it } from "@effect/vitest"
import * as Desired from "../../../../src/controllers/endpointslice/plan/desired.ts"
import * as Plan from "../../../../src/controllers/endpointslice/plan/plan.ts"
import { Service } from "../../../../src/kube/resources.ts"
import { nodeOf, podsOf, service } from "../../shared/services/objects.ts"

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
  it("has three conditions, and references to pod, node and zone", () =>
    assert.deepStrictEqual(endpointOf({}), {
      addresses: ["10.0.0.1"],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: "a",
      targetRef: { kind: "Pod", namespace: "ns", name: "pod-1", uid: "uid-1" },
      zone: "zone-a"
    }))

  for (const [title, pod, as, conditions] of [
    ["is not ready while its pod is not", { ready: false }, {}, [false, false, false]],
    ["is serving but not ready while its pod is terminating", { going: true }, {}, [false, true, true]],
    [
      "is ready despite its pod if the Service publishes addresses that are not ready",
      { ready: false, going: true },
      { publishes: true },
      [true, false, true]
    ]
  ] as const) {
    it(`it ${title}`, () => {
      const [ready, serving, terminating] = conditions
      assert.deepStrictEqual(endpointOf(pod, as)?.conditions, { ready, serving, terminating })
    })
  }

  it("has a host name only in the Service's own domain", () => {
    assert.strictEqual(endpointOf({ host: "web" })?.hostname, "host-1")
    assert.isUndefined(endpointOf({ host: "elsewhere" })?.hostname)
  })

  it("has hints for the traffic distribution, only while it is ready", () => {
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

  it("is left out while its node is unknown, unless addresses that are not ready are published", () => {
    assert.isUndefined(endpointOf({ node: "lost" }))
    assert.isDefined(endpointOf({ node: "lost" }, { publishes: true }))
  })
})

describe("the families of a Service", () => {
  for (const [title, spec, families] of [
    ["are those of its spec", { ipFamilies: ["IPv6", "IPv4"], clusterIP: "10.96.0.1" }, ["IPv4", "IPv6"]],
    ["are those of its cluster IP otherwise", { clusterIP: "fd00::1" }, ["IPv6"]],
    ["else both", { clusterIP: "None" }, ["IPv4", "IPv6"]]
  ] as const) {
    it(`they ${title}`, () =>
      assert.deepStrictEqual(Desired.familiesOf({ metadata: { name: Service.kind }, spec: spec }), [...families]))
  }
})
