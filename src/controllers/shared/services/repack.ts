/**
 * Subsets of Endpoints in their canonical layout: every port is in one subset, with all its addresses, and ports that have the same addresses in
 * the same state share it. If an address occurs twice, its first object is kept, and it is not ready if one of them is not. Pure. Source:
 * pkg/api/v1/endpoints: RepackSubsets.
 */
import type { Endpoints } from "../../../kube/resources.ts"
import * as ServicePorts from "./servicePorts.ts"

export type Subset = NonNullable<Endpoints["subsets"]>[number]
export type Address = NonNullable<Subset["addresses"]>[number]
type Port = NonNullable<Subset["ports"]>[number]

interface OnPort {
  /** Undefined for the subsets without ports. */
  readonly port: Port | undefined
  /** Whether an address is ready on the port, by the address's number; undefined if the port does not have the address. */
  readonly ready: Array<boolean | undefined>
}

export const repack = (subsets: ReadonlyArray<Subset>): ReadonlyArray<Subset> => {
  const { addresses, byPort } = expand(subsets)
  const order = Array.from(addresses.keys()).sort((a, b) => inOrder(addresses[a], addresses[b]))
  const bySet = new Map<string, { readonly ready: OnPort["ready"]; readonly ports: Array<Port> }>()
  for (const { port, ready } of byPort.values()) {
    const key = order.map((at) => (ready[at] === undefined ? "-" : ready[at] ? "1" : "0")).join("")
    const known = bySet.get(key) ?? { ready, ports: [] }
    bySet.set(key, known)
    if (port !== undefined) known.ports.push(port)
  }
  return Array.from(bySet.values(), ({ ports, ready }) => {
    const those = (wanted: boolean) =>
      order.flatMap((at) => (ready[at] === wanted && addresses[at] !== undefined ? [addresses[at]] : []))
    const sorted = ports.sort((a, b) => compare(a.name, b.name) || a.port - b.port || compare(keyOf(a), keyOf(b)))
    return subset({ addresses: those(true), notReadyAddresses: those(false), ports: sorted })
  }).sort((a, b) => compare(ServicePorts.keyOfAll(a.ports ?? []), ServicePorts.keyOfAll(b.ports ?? [])))
}

/** All addresses without duplicates, and their state on each port. */
const expand = (subsets: ReadonlyArray<Subset>) => {
  const addresses: Array<Address> = []
  const numbers = new Map<string, number>()
  const byPort = new Map<string | undefined, OnPort>()
  // Pods of one template share their list of ports.
  const byList = new Map<ReadonlyArray<Port>, ReadonlyArray<OnPort>>()
  const onPort = (port: Port | undefined): OnPort => {
    const key = port && keyOf(port)
    const known = byPort.get(key) ?? { port, ready: [] }
    byPort.set(key, known)
    return known
  }
  const numberOf = (address: Address): number => {
    const id = `${address.ip} ${address.targetRef?.uid ?? ""}`
    const known = numbers.get(id)
    if (known !== undefined) return known
    numbers.set(id, addresses.length)
    return addresses.push(address) - 1
  }
  for (const { addresses: readyOnes = [], notReadyAddresses = [], ports = [] } of subsets) {
    const [ready, unready] = [readyOnes.map(numberOf), notReadyAddresses.map(numberOf)]
    if (ready.length + unready.length === 0) continue
    const list = byList.get(ports) ?? (ports.length === 0 ? [onPort(undefined)] : ports.map(onPort))
    byList.set(ports, list)
    for (const one of list) {
      for (const at of ready) one.ready[at] ??= true
      for (const at of unready) one.ready[at] = false
    }
  }
  return { addresses, byPort }
}

const { keyOf } = ServicePorts

const compare = (a = "", b = ""): number => (a === b ? 0 : a < b ? -1 : 1)

const inOrder = (a: Address | undefined, b: Address | undefined): number =>
  compare(a?.ip, b?.ip) || compare(a?.targetRef?.uid, b?.targetRef?.uid)

/** Omits empty lists. */
export const subset = ({ addresses, notReadyAddresses, ports }: Required<Subset>): Subset => ({
  ...(addresses.length === 0 ? {} : { addresses }),
  ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
  ...(ports.length === 0 ? {} : { ports })
})
