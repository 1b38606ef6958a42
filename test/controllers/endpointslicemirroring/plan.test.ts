/** Carried out, a plan leaves slices that say what the Endpoints say, and nothing to do; whatever slices there were. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Mirrored from "../../../src/controllers/endpointslicemirroring/mirrored.ts"
import * as Model from "../../../src/controllers/endpointslicemirroring/model.ts"
import * as Plan from "../../../src/controllers/endpointslicemirroring/plan.ts"
import * as Repack from "../../../src/controllers/services/repack.ts"
import * as ServicePorts from "../../../src/controllers/services/servicePorts.ts"
import * as Ip from "../../../src/kube/ip.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import type { EndpointSlice } from "../../../src/kube/resources.ts"
import { law, oneOf, prove, type ValueOf } from "../../support/laws.ts"
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

/** What the Endpoints say once they are repacked, one address after the other: of two texts of one the last counts. */
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

prove<typeof Model>({
  path: "controllers/endpointslicemirroring/model.ts",
  module: Model,
  laws: [
    law("each address is said once, by its family and ports", model, (module, given) => {
      const { contents } = module.of(endpointsOf(given.endpoints), given.limit)
      const lines = contents.flatMap(({ endpoints, family, ports }) =>
        [...endpoints.values()].map((one) => lineOf(family, ports, one))
      )
      return lines.toSorted().join() === expected(given).join()
    }),
    law("there is one content for a key, none empty and none too long", model, (module, given) => {
      const { contents } = module.of(endpointsOf(given.endpoints), given.limit)
      return (
        new Set(contents.map(({ family, ports }) => module.keyOf(family, ports))).size === contents.length &&
        contents.every(({ endpoints, family, key, ports }) => {
          const size = endpoints.size
          return size > 0 && size <= given.limit && key === module.keyOf(family, ports)
        })
      )
    }),
    law("what is left out is counted, and what is no address apart", model, (module, given) => {
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
      const counted = module.of(endpointsOf(given.endpoints), given.limit)
      return counted.invalid === invalid && counted.skipped === skipped + invalid
    }),
    law("a port has a name and a protocol", model, (module, given) =>
      module
        .of(endpointsOf(given.endpoints), given.limit)
        .contents.every(({ ports }) => ports.every(({ name, protocol }) => name !== undefined && protocol === "TCP"))
    )
  ],
  mutants: [
    { title: "the limit is one less", find: "if (added >= limit) return", replace: "if (added >= limit - 1) return" },
    { title: "a subset has no limit", find: "if (added >= limit) return", replace: "" },
    { title: "addresses are taken as they are written", find: "{ ...address, ip }", replace: "address" },
    { title: "what is none is not counted", find: "invalid++", replace: "" },
    { title: "what is none counts as taken", find: "invalid++\n", replace: "invalid++\nadded++\n" },
    { title: "all are ready", find: "add(address, false)", replace: "add(address, true)" },
    { title: "none is ready", find: "add(address, true)", replace: "add(address, false)" },
    { title: "pods of one address are one", find: '${targetRef?.name ?? ""}', replace: "" },
    { title: "ports do not tell slices apart", find: "`${family} ${ServicePorts.keyOfAll(ports)}`", replace: "family" },
    {
      title: "the order of ports tells slices apart",
      find: "ServicePorts.keyOfAll(ports)",
      replace: "ports.map(({ name }) => name).join()"
    },
    { title: "families share slices", find: "const family = familyOf(ip)", replace: 'const family: Family = "IPv4"' },
    {
      title: "what is skipped forgets what was taken",
      find: "notReadyAddresses.length - added",
      replace: "notReadyAddresses.length"
    },
    { title: "ports lose what is spoken there", find: "{ appProtocol }", replace: "{}" },
    { title: "hosts have no names", find: "{ hostname }", replace: "{}" },
    { title: "nobody knows nodes", find: "{ nodeName }", replace: "{}" },
    { title: "nobody knows pods", find: "{ targetRef }", replace: "{}" }
  ]
})

const scene = Arbitrary.all({
  endpoints: endpointsFacts,
  state: oneOf("there", "there", "there", "leaving", "gone"),
  slices: Arbitrary.array(past, { maxLength: 3 }),
  limit
})

type Scene = ValueOf<typeof scene>

const gathered = (given: Scene, slices: Slices): Plan.Gathered => {
  const one = endpointsOf(given.endpoints)
  const leaving = { ...one, metadata: { ...one.metadata, deletionTimestamp: "1970-01-01T00:00:00Z" } }
  const endpoints = given.state === "gone" ? undefined : given.state === "leaving" ? leaving : one
  return { endpoints, slices, limit: given.limit }
}

const carryOut = (slices: Slices, { creates, deletes, updates }: Plan.Plan): Slices => {
  const gone = new Set([...deletes, ...updates].map(({ metadata }) => metadata.name))
  return [
    ...slices.filter(({ metadata }) => !gone.has(metadata.name)),
    ...updates.map(written),
    ...creates.map((draft, i) => stored(draft, `new-${i}`))
  ]
}

const before = (given: Scene): Slices => slicesOf(given.slices, given.endpoints, given.limit)

const after = (module: typeof Plan, given: Scene): Slices =>
  carryOut(before(given), module.plan(gathered(given, before(given))))

const there = (given: Scene): Scene => ({ ...given, state: "there" })

const changes = ({ creates, deletes, updates }: Plan.Plan): number => creates.length + updates.length + deletes.length

const endpointsIn = (slices: Slices): number => slices.reduce((sum, one) => sum + (one.endpoints ?? []).length, 0)

const keyOf = ({ addressType, ports }: EndpointSlice) => Model.keyOf(addressType, ports ?? [])

prove<typeof Plan>({
  path: "controllers/endpointslicemirroring/plan.ts",
  module: Plan,
  laws: [
    law(
      "the slices say what the Endpoints say",
      scene,
      (module, given) => said(after(module, there(given))).join() === expected(given).join()
    ),
    law("there is one slice for ports and family", scene, (module, given) => {
      const keys = after(module, there(given)).map(keyOf)
      return new Set(keys).size === keys.length
    }),
    law(
      "of Endpoints that are not mirrored no slice is left",
      scene,
      (module, given) => after(module, { ...given, state: "gone" }).length === 0
    ),
    law("of Endpoints that are going no slice is made", scene, (module, given) => {
      const { creates } = module.plan(gathered({ ...given, state: "leaving" }, before(given)))
      return creates.length === 0
    }),
    law(
      "a second look writes nothing",
      scene,
      (module, given) => changes(module.plan(gathered(given, after(module, given)))) === 0
    ),
    law("every slice is theirs, with their labels and annotations", scene, (module, given) => {
      const one = endpointsOf(given.endpoints)
      return after(module, there(given)).every(
        (slice) =>
          Owner.controlledBy(slice, "uid") &&
          text(slice.metadata.labels) === text(Mirrored.labelsOf(one)) &&
          text(slice.metadata.annotations ?? {}) === text(Mirrored.annotationsOf(one))
      )
    }),
    law(
      "as few writes as can be: what is right stays, nothing is made and deleted in one family",
      scene,
      (module, given) => {
        const slices = before(given)
        const { creates, deletes, updates } = module.plan(gathered(there(given), slices))
        const right = new Set(said(slices).length === 0 ? [] : after(module, there(given)).map((one) => text(one)))
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
    ),
    law("what is counted is what happens", scene, (module, given) => {
      const slices = before(given)
      const { added, removed, updated } = module.plan(gathered(given, slices)).totals
      const now = after(module, given)
      const same = said(slices).join() === said(now).join() && slices.length === now.length
      return endpointsIn(slices) + added - removed === endpointsIn(now) && updated >= 0 && (!same || added === removed)
    })
  ],
  mutants: [
    { title: "nobody cleans up", find: "deletes: slices, totals", replace: "deletes: [], totals" },
    { title: "what is left over stays", find: "deletes: spare,", replace: "deletes: []," },
    {
      title: "what is left over is not used",
      find: "const [slice] = at < 0 ? [] :",
      replace: "const [slice] = at < 9 ? [] :"
    },
    { title: "one family is as good as another", find: "slice.addressType === content.family", replace: "true" },
    { title: "new slices for Endpoints that go", find: "if (slice === undefined && isLeaving) continue", replace: "" },
    { title: "two slices of one key may stay", find: "missing.delete(key)", replace: "" },
    {
      title: "an endpoint more is no difference",
      find: "if (added + updated + removed > 0",
      replace: "if (updated + removed > 0"
    },
    {
      title: "an endpoint less is no difference",
      find: "if (added + updated + removed > 0",
      replace: "if (added + updated > 0"
    },
    {
      title: "a state is no difference",
      find: "if (added + updated + removed > 0",
      replace: "if (added + removed > 0"
    },
    { title: "labels may drift", find: "|| !Mirrored.isLabelled(slice, endpoints)", replace: "" },
    { title: "everything is written each time", find: "|| !Mirrored.isLabelled(slice, endpoints)", replace: "|| true" },
    {
      title: "an endpoint may be there twice",
      find: "removed: held.length - kept.size",
      replace: "removed: [...held].filter((one) => !wanted.has(Model.identity(one))).length"
    },
    { title: "what comes is not counted", find: "totals.added += content.endpoints.size", replace: "" },
    { title: "what goes with a slice is not counted", find: "totals.removed += sizeOf(spare)", replace: "" },
    { title: "what gives way is not counted", find: "totals.removed += sizeOf([slice])", replace: "" }
  ]
})

describe("whose Endpoints are mirrored", () => {
  const wanted = (metadata: object) => Mirrored.isWanted({ metadata: { name: "web", ...metadata } })

  it("those that do not say no, in that very word, and are no lock", () => {
    assert.isTrue(wanted({}))
    const skip = "endpointslice.kubernetes.io/skip-mirror"
    assert.isFalse(wanted({ labels: { [skip]: "true" } }))
    assert.isTrue(wanted({ labels: { [skip]: "True" } }))
    assert.isTrue(wanted({ labels: { [skip]: "" } }))
    assert.isFalse(wanted({ annotations: { "control-plane.alpha.kubernetes.io/leader": "" } }))
    assert.isTrue(wanted({ annotations: { [skip]: "true" } }))
  })

  it("of Services that select nothing", () => {
    const leaves = (spec?: object) => Mirrored.leavesToOthers({ metadata: { name: "web" }, ...(spec && { spec }) })
    assert.isTrue(leaves())
    assert.isTrue(leaves({ selector: {} }))
    assert.isTrue(leaves({ type: "ExternalName" }))
    assert.isFalse(leaves({ selector: { app: "web" } }))
  })
})
