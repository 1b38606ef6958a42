/** An applied plan leaves slices that match the Endpoints, and nothing to do, whatever slices existed. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Mirrored from "../../../src/controllers/endpointslicemirroring/mirrored.ts"
import * as Desired from "../../../src/controllers/endpointslicemirroring/desired.ts"
import * as Plan from "../../../src/controllers/endpointslicemirroring/plan.ts"
import * as Repack from "../../../src/controllers/shared/services/repack.ts"
import * as ServicePorts from "../../../src/controllers/shared/services/servicePorts.ts"
import * as Ip from "../../../src/kube/ip.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import type { EndpointSlice } from "../../../src/kube/resources.ts"
import { checkProperty, oneOf, type ValueOf } from "../../support/property.ts"
import { endpointsFacts, endpointsOf, limit, past, slicesOf, stored, written } from "./objects.ts"

type Slices = ReadonlyArray<EndpointSlice>

const text = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one
  )

const repacked = (facts: ValueOf<typeof endpointsFacts>) => Repack.repack(endpointsOf(facts).subsets ?? [])

const lineOf = (family: string, ports: Parameters<typeof ServicePorts.keyOfAll>[0], endpoint: unknown): string =>
  `${family} ${ServicePorts.keyOfAll(ports)} ${text(endpoint)}`

/** The expected content after repacking, address by address; the last of two spellings of one address counts. */
const expected = (given: { readonly endpoints: ValueOf<typeof endpointsFacts>; readonly limit: number }) => {
  const said = new Map<string, string>()
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of repacked(given.endpoints)) {
    const all = [
      ...addresses.map((one) => ({ one, ready: true })),
      ...notReadyAddresses.map((one) => ({ one, ready: false }))
    ]
    const valid = all.filter(({ one }) => Ip.canonical(one.ip) !== undefined).slice(0, given.limit)
    for (const { one, ready } of valid) {
      const { ip, ...rest } = one
      const address = Ip.canonical(ip) ?? ""
      const family = address.includes(":") ? "IPv6" : "IPv4"
      const slice = `${family} ${ServicePorts.keyOfAll(ports)}`
      const id = `${slice} ${address} ${one.hostname ?? ""} ${one.targetRef?.name ?? ""}`
      said.set(id, lineOf(family, ports, { addresses: [address], conditions: { ready }, ...rest }))
    }
  }
  return [...said.values()].toSorted()
}

const said = (slices: Slices) =>
  slices
    .flatMap(({ addressType, endpoints = [], ports = [] }) => endpoints.map((one) => lineOf(addressType, ports, one)))
    .toSorted()

const model = Arbitrary.all({ endpoints: endpointsFacts, limit })

describe("Desired", () => {
  checkProperty("has each address once for its family and ports", model, (given) => {
    const { contents } = Desired.of(endpointsOf(given.endpoints), given.limit)
    const lines = contents.flatMap(({ endpoints, family, ports }) =>
      [...endpoints.values()].map((one) => lineOf(family, ports, one))
    )
    return lines.toSorted().join() === expected(given).join()
  })

  checkProperty("has one content per key, none empty and none above the limit", model, (given) => {
    const { contents } = Desired.of(endpointsOf(given.endpoints), given.limit)
    return (
      new Set(contents.map(({ family, ports }) => Desired.keyOf(family, ports))).size === contents.length &&
      contents.every(({ endpoints, family, key, ports }) => {
        const size = endpoints.size
        return size > 0 && size <= given.limit && key === Desired.keyOf(family, ports)
      })
    )
  })

  checkProperty("counts skipped addresses, and invalid ones separately", model, (given) => {
    const subsets = repacked(given.endpoints)
    let [invalid, skipped] = [0, 0]
    for (const { addresses = [], notReadyAddresses = [] } of subsets) {
      let taken = 0
      for (const { ip } of [...addresses, ...notReadyAddresses]) {
        if (taken === given.limit) skipped++
        else if (Ip.canonical(ip) === undefined) invalid++
        else taken++
      }
    }
    const counted = Desired.of(endpointsOf(given.endpoints), given.limit)
    return counted.invalid === invalid && counted.skipped === skipped + invalid
  })

  checkProperty("gives each port a name and a protocol", model, (given) =>
    Desired.of(endpointsOf(given.endpoints), given.limit).contents.every(({ ports }) =>
      ports.every(({ name, protocol }) => name !== undefined && protocol === "TCP")
    )
  )
})

const scene = Arbitrary.all({
  endpoints: endpointsFacts,
  state: oneOf("there", "there", "there", "leaving", "gone"),
  slices: Arbitrary.array(past, { maxLength: 3 }),
  limit
})

type Scene = ValueOf<typeof scene>

const snapshot = (given: Scene, slices: Slices): Plan.Snapshot => {
  const one = endpointsOf(given.endpoints)
  const leaving = { ...one, metadata: { ...one.metadata, deletionTimestamp: "1970-01-01T00:00:00Z" } }
  const endpoints = given.state === "gone" ? undefined : given.state === "leaving" ? leaving : one
  return { endpoints, slices, limit: given.limit }
}

const carryOut = (slices: Slices, { creates, deletes, updates }: Plan.Plan): Slices => {
  const replaced = new Set([...deletes, ...updates].map(({ metadata }) => metadata.name))
  return [
    ...slices.filter(({ metadata }) => !replaced.has(metadata.name)),
    ...updates.map(written),
    ...creates.map((draft, i) => stored(draft, `new-${i}`))
  ]
}

const before = (given: Scene): Slices => slicesOf(given.slices, given.endpoints, given.limit)

const after = (given: Scene): Slices => carryOut(before(given), Plan.plan(snapshot(given, before(given))))

const there = (given: Scene): Scene => ({ ...given, state: "there" })

const changes = ({ creates, deletes, updates }: Plan.Plan): number => creates.length + updates.length + deletes.length

const endpointsIn = (slices: Slices): number => slices.reduce((sum, one) => sum + (one.endpoints ?? []).length, 0)

const keyOf = ({ addressType, ports }: EndpointSlice) => Desired.keyOf(addressType, ports ?? [])

describe("Plan", () => {
  checkProperty(
    "the slices match the Endpoints",
    scene,
    (given) => said(after(there(given))).join() === expected(given).join()
  )

  checkProperty("there is one slice per family and set of ports", scene, (given) => {
    const keys = after(there(given)).map(keyOf)
    return new Set(keys).size === keys.length
  })

  checkProperty(
    "no slice is left of Endpoints that are not mirrored",
    scene,
    (given) => after({ ...given, state: "gone" }).length === 0
  )

  checkProperty("no slice is created for Endpoints that are being deleted", scene, (given) => {
    const { creates } = Plan.plan(snapshot({ ...given, state: "leaving" }, before(given)))
    return creates.length === 0
  })

  checkProperty("is idempotent", scene, (given) => changes(Plan.plan(snapshot(given, after(given)))) === 0)

  checkProperty("every slice has the Endpoints as owner, and their labels and annotations", scene, (given) => {
    const one = endpointsOf(given.endpoints)
    return after(there(given)).every(
      (slice) =>
        Owner.controlledBy(slice, "uid") &&
        text(slice.metadata.labels) === text(Mirrored.labelsOf(one)) &&
        text(slice.metadata.annotations ?? {}) === text(Mirrored.annotationsOf(one))
    )
  })

  checkProperty(
    "writes are minimal: a correct slice stays, and none is created and deleted in one family",
    scene,
    (given) => {
      const slices = before(given)
      const { creates, deletes, updates } = Plan.plan(snapshot(there(given), slices))
      const right = new Set(said(slices).length === 0 ? [] : after(there(given)).map((one) => text(one)))
      const touched = [...updates, ...deletes].map(({ metadata }) => metadata.name)
      const firstOfKey = slices.filter((one, i) => slices.findIndex((other) => keyOf(other) === keyOf(one)) === i)
      return (
        !creates.some((one) => deletes.some(({ addressType }) => addressType === one.addressType)) &&
        updates.every((one) =>
          slices.some((slice) => slice.metadata.uid === one.metadata.uid && text(slice) !== text(one))
        ) &&
        firstOfKey.every((one) => !right.has(text(one)) || !touched.includes(one.metadata.name))
      )
    }
  )

  checkProperty("its counts match the slices", scene, (given) => {
    const slices = before(given)
    const { added, removed, updated } = Plan.plan(snapshot(given, slices)).totals
    const now = after(given)
    const same = said(slices).join() === said(now).join() && slices.length === now.length
    return endpointsIn(slices) + added - removed === endpointsIn(now) && updated >= 0 && (!same || added === removed)
  })
})

describe("mirrored Endpoints", () => {
  const wanted = (metadata: object) => Mirrored.isWanted({ metadata: { name: "web", ...metadata } })

  it("are those without the label skip-mirror=true and without a leader election annotation", () => {
    assert.isTrue(wanted({}))
    const skip = "endpointslice.kubernetes.io/skip-mirror"
    assert.isFalse(wanted({ labels: { [skip]: "true" } }))
    assert.isTrue(wanted({ labels: { [skip]: "True" } }))
    assert.isTrue(wanted({ labels: { [skip]: "" } }))
    assert.isFalse(wanted({ annotations: { "control-plane.alpha.kubernetes.io/leader": "" } }))
    assert.isTrue(wanted({ annotations: { [skip]: "true" } }))
  })

  it("belong to Services without a selector", () => {
    const leaves = (spec?: object) => Mirrored.leavesToOthers({ metadata: { name: "web" }, ...(spec && { spec }) })
    assert.isTrue(leaves())
    assert.isTrue(leaves({ selector: {} }))
    assert.isTrue(leaves({ type: "ExternalName" }))
    assert.isFalse(leaves({ selector: { app: "web" } }))
  })
})
