/** The canonical layout of subsets has the same addresses and ports, in the least number of subsets. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Repack from "../../../../src/controllers/shared/services/repack.ts"
import * as ServicePorts from "../../../../src/controllers/shared/services/servicePorts.ts"
import { oneOf } from "../../../support/property.ts"

const address = Arbitrary.all({
  ip: oneOf("10.0.0.1", "10.0.0.2", "10.0.0.3", "fd00::1"),
  uid: oneOf("", "", "a", "b"),
  hostname: oneOf("first", "second")
})

const port = Arbitrary.all({ name: oneOf("http", "web"), port: oneOf(80, 90), appProtocol: oneOf("", "h2c") })

const subsets = Arbitrary.array(
  Arbitrary.all({
    ready: Arbitrary.array(address, { maxLength: 4 }),
    unready: Arbitrary.array(address, { maxLength: 3 }),
    ports: Arbitrary.array(port, { maxLength: 3 })
  }),
  { maxLength: 4 }
)

type Facts = typeof subsets extends Arbitrary.Arbitrary<infer A> ? A : never

const subsetsOf = (facts: Facts): ReadonlyArray<Repack.Subset> => {
  const addressesOf = (all: Facts[number]["ready"]) =>
    all.map(({ hostname, ip, uid }) => ({ ip, hostname, ...(uid === "" ? {} : { targetRef: { uid } }) }))
  return facts.map(({ ports, ready, unready }) => ({
    addresses: addressesOf(ready),
    notReadyAddresses: addressesOf(unready),
    ports: ports.map(({ appProtocol, ...one }) => ({ ...one, ...(appProtocol === "" ? {} : { appProtocol }) }))
  }))
}

const idOf = ({ ip, targetRef }: Repack.Address): string => `${ip} ${targetRef?.uid ?? ""}`

/** Whether each address is ready under each port, and its text: the subsets, one line for each pair. */
const pairs = (all: ReadonlyArray<Repack.Subset>): ReadonlyMap<string, boolean> => {
  const texts = new Map<string, string>()
  const found = new Map<string, { readonly text: string; readonly ready: boolean }>()
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of all)
    for (const one of [...addresses, ...notReadyAddresses]) {
      const text = texts.get(idOf(one)) ?? JSON.stringify(one)
      texts.set(idOf(one), text)
      for (const key of ports.length === 0 ? ["none"] : ports.map((each) => ServicePorts.keyOf(each))) {
        const pair = `${idOf(one)} ${key}`
        const ready = !notReadyAddresses.some((other) => idOf(other) === idOf(one)) && found.get(pair)?.ready !== false
        found.set(pair, { text: `${text} ${key}`, ready })
      }
    }
  return new Map(Array.from(found.values(), ({ ready, text }) => [text, ready] as const))
}

/** A port of none says nothing beside a subset with the same addresses. */
const essential = (all: ReadonlyMap<string, boolean>): string =>
  Array.from(all, ([text, ready]) => `${text} ${ready}`)
    .filter((line) => !/ none (true|false)$/.test(line))
    .toSorted()
    .join("\n")

describe("repacked subsets", () => {
  it.prop("hold the same addresses under the same ports", [subsets], ([facts]) => {
    const given = subsetsOf(facts)
    assert.strictEqual(essential(pairs(Repack.repack(given))), essential(pairs(given)))
  })

  it.prop("name each port once, and no set of addresses in the same state twice", [subsets], ([facts]) => {
    const packed = Repack.repack(subsetsOf(facts))
    const ports = packed.flatMap((one) => one.ports?.map((each) => ServicePorts.keyOf(each)) ?? ["none"])
    assert.strictEqual(new Set(ports).size, ports.length)
    const sets = packed.map(({ addresses, notReadyAddresses }) => JSON.stringify([addresses, notReadyAddresses]))
    assert.strictEqual(new Set(sets).size, sets.length)
    assert.notInclude(sets, "[null,null]")
  })

  it.prop("are their own canonical layout, whatever the order of the subsets", [subsets], ([facts]) => {
    const plain = subsetsOf(
      facts.map((one) => ({
        ...one,
        ready: one.ready.map((each) => ({ ...each, hostname: "first" })),
        unready: one.unready.map((each) => ({ ...each, hostname: "first" }))
      }))
    )
    const packed = Repack.repack(plain)
    assert.deepStrictEqual(Repack.repack(packed), packed)
    assert.deepStrictEqual(Repack.repack(plain.toReversed()), packed)
  })

  it("hold addresses without ports that no other subset holds", () => {
    const addresses = [{ ip: "10.0.0.1" }]
    const ports = [{ port: 80 }]
    assert.deepStrictEqual(Repack.repack([{ addresses }, { addresses, ports }]), [{ addresses, ports }])
    assert.deepStrictEqual(Repack.repack([{ addresses }, { notReadyAddresses: addresses, ports }]), [
      { addresses },
      { notReadyAddresses: addresses, ports }
    ])
  })
})
