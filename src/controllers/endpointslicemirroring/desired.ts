/**
 * The desired content of the slices for some Endpoints: the subsets repacked, and in each the distinct addresses of
 * each family with their readiness. Up to `limit` addresses of a subset count, ready ones first; invalid addresses are
 * skipped. Pure. Source: pkg/controller/endpointslicemirroring: reconcile.
 */
import * as Ip from "../../kube/ip.ts"
import type { Endpoints, EndpointSlice } from "../../kube/resources.ts"
import { type Family, familyOf } from "../shared/services/pods.ts"
import * as Repack from "../shared/services/repack.ts"
import * as ServicePorts from "../shared/services/servicePorts.ts"

export type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number]

type Port = NonNullable<EndpointSlice["ports"]>[number]

/** The content of one slice. */
export interface Content {
  /** From family and ports; equal for the same slice. */
  readonly key: string
  readonly family: Family
  readonly ports: ReadonlyArray<Port>
  /** By identity; never empty. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
}

export interface Desired {
  readonly contents: ReadonlyArray<Content>
  /** Invalid addresses. */
  readonly invalid: number
  /** Addresses left out, invalid ones included. */
  readonly skipped: number
}

/** Slices differ by family and ports. */
export const keyOf = (family: string, ports: ReadonlyArray<Port>): string => `${family} ${ServicePorts.keyOfAll(ports)}`

/** Identifies an endpoint whether or not it is ready. Source: endpointslice/util: hashEndpoint. */
export const identity = ({ addresses, hostname, targetRef }: Endpoint): string =>
  `${addresses.join()} ${hostname ?? ""} ${targetRef?.namespace ?? ""}/${targetRef?.name ?? ""}`

/** `limit`: maximum number of addresses of a subset, and so of a slice. */
export const of = ({ subsets = [] }: Pick<Endpoints, "subsets">, limit: number): Desired => {
  const contents: Array<Content> = []
  let [invalid, skipped] = [0, 0]
  for (const { addresses = [], notReadyAddresses = [], ports: subsetPorts = [] } of Repack.repack(subsets)) {
    const byFamily = new Map<Family, Map<string, Endpoint>>()
    let added = 0
    const add = (address: Repack.Address, ready: boolean): void => {
      if (added >= limit) return
      const ip = Ip.canonical(address.ip)
      if (ip === undefined) {
        invalid++
        return
      }
      added++
      const family = familyOf(ip)
      const known = byFamily.get(family) ?? new Map<string, Endpoint>()
      byFamily.set(family, known)
      const endpoint = endpointOf({ ...address, ip }, ready)
      // Two spellings of one address are one endpoint; the last one wins.
      known.set(identity(endpoint), endpoint)
    }
    for (const address of addresses) add(address, true)
    for (const address of notReadyAddresses) add(address, false)
    skipped += addresses.length + notReadyAddresses.length - added
    for (const [family, endpoints] of byFamily)
      for (const ports of named(subsetPorts.map(portOf)))
        contents.push({ key: keyOf(family, ports), family, ports, endpoints })
  }
  return { contents, invalid, skipped }
}

/**
 * A slice cannot have two ports of one name: as many port lists as the most frequent name needs, and one without ports.
 */
const named = (ports: ReadonlyArray<Port>): ReadonlyArray<ReadonlyArray<Port>> => {
  const lists: Array<Array<Port>> = [[]]
  for (const port of ports) {
    const free = lists.find((list) => list.every(({ name }) => name !== port.name))
    if (free === undefined) lists.push([port])
    else free.push(port)
  }
  return lists
}

const portOf = ({
  appProtocol,
  name = "",
  port,
  protocol = "TCP"
}: NonNullable<Repack.Subset["ports"]>[number]): Port => ({
  ...(appProtocol === undefined ? {} : { appProtocol }),
  name,
  port,
  protocol
})

const endpointOf = ({ hostname, ip, nodeName, targetRef }: Repack.Address, ready: boolean): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname === undefined || hostname === "" ? {} : { hostname }),
  ...(nodeName === undefined ? {} : { nodeName }),
  ...(targetRef === undefined ? {} : { targetRef })
})
