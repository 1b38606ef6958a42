/**
 * What the slices of some Endpoints are to say: for each set of ports and each family the addresses, each once, with whether it is ready. At most so
 * many of a subset count, those that are ready first; texts that are no addresses are left out. Pure. Source: spec F.4.
 */
import * as Ip from "../../kube/ip.ts"
import type { Endpoints, EndpointSlice } from "../../kube/resources.ts"
import { type Family, familyOf } from "../services/pods.ts"
import * as ServicePorts from "../services/servicePorts.ts"

type Subset = NonNullable<Endpoints["subsets"]>[number]

type Address = NonNullable<Subset["addresses"]>[number]

export type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number]

type Port = NonNullable<EndpointSlice["ports"]>[number]

/** What one slice is to hold. */
export interface Content {
  /** Of the family and the ports; the same text for the same slice. */
  readonly key: string
  readonly family: Family
  readonly ports: ReadonlyArray<Port>
  /** By identity; never empty. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
}

export interface Model {
  readonly contents: ReadonlyArray<Content>
  /** Addresses that are none. */
  readonly invalid: number
  /** Addresses that are left out, those that are none among them. */
  readonly skipped: number
}

/** By what slices are told apart. */
export const keyOf = (family: string, ports: ReadonlyArray<Port>): string => `${family} ${ServicePorts.keyOfAll(ports)}`

/** What an endpoint is known by, whether it is ready or not. */
export const identity = ({ addresses, targetRef }: Endpoint): string =>
  `${addresses.join()} ${targetRef?.namespace ?? ""}/${targetRef?.name ?? ""}`

interface Growing {
  readonly family: Family
  readonly ports: ReadonlyArray<Port>
  readonly endpoints: Map<string, Endpoint>
}

/** `limit`: addresses of a subset, and of a slice, at most. */
export const of = ({ subsets = [] }: Pick<Endpoints, "subsets">, limit: number): Model => {
  const growing = new Map<string, Growing>()
  let [invalid, skipped] = [0, 0]
  for (const { addresses = [], notReadyAddresses = [], ports: subsetPorts = [] } of subsets) {
    const ports = subsetPorts.map(portOf)
    let added = 0
    const add = (address: Address, ready: boolean): void => {
      if (added >= limit) return
      const ip = Ip.canonical(address.ip)
      if (ip === undefined) {
        invalid++
        return
      }
      added++
      const family = familyOf(ip)
      const key = keyOf(family, ports)
      const known = growing.get(key) ?? { family, ports, endpoints: new Map() }
      growing.set(key, known)
      const endpoint = endpointOf({ ...address, ip }, ready)
      // Of an address that is there twice with the same ports, what is said last counts.
      known.endpoints.set(identity(endpoint), endpoint)
    }
    for (const address of addresses) add(address, true)
    for (const address of notReadyAddresses) add(address, false)
    skipped += addresses.length + notReadyAddresses.length - added
  }
  const contents = Array.from(growing, ([key, { endpoints, family, ports }]) => ({
    key,
    family,
    ports,
    endpoints: new Map([...endpoints].slice(0, limit))
  }))
  return { contents, invalid, skipped }
}

const portOf = ({ appProtocol, name = "", port, protocol = "TCP" }: NonNullable<Subset["ports"]>[number]): Port => ({
  ...(appProtocol === undefined ? {} : { appProtocol }),
  name,
  port,
  protocol
})

const endpointOf = ({ hostname, ip, nodeName, targetRef }: Address, ready: boolean): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname === undefined || hostname === "" ? {} : { hostname }),
  ...(nodeName === undefined ? {} : { nodeName }),
  ...(targetRef === undefined ? {} : { targetRef })
})
