/**
 * What the Endpoints of a Service should hold: for each pod one address of the Service's first family, under the numbers that its ports have on
 * that pod. Ports that the same addresses have, in the same state, are one subset; everything is in one order, so that equal content is
 * written in one way. Pure and total. Source: spec F.1, F.2; endpoints RepackSubsets.
 */
import * as PodState from "../../kube/pod.ts"
import type { Endpoints, Pod, Service } from "../../kube/resources.ts"
import * as Pods from "../services/pods.ts"
import * as ServicePorts from "../services/servicePorts.ts"

export type Subset = NonNullable<Endpoints["subsets"]>[number]
export type Address = NonNullable<Subset["addresses"]>[number]

/** Addresses in one object, at most; of more, some are left out. */
export const capacity = 1000

interface Stated {
  readonly address: Address
  readonly ready: boolean
  /** Place in the order of all addresses: by address, then by uid. */
  readonly rank: number
}

/** The address that the Service's first family has in the pod. Source: podToEndpointAddressForService. */
const addressOf = (service: Service, pod: Pod): string | undefined => {
  const { clusterIP = "", ipFamilies = [] } = service.spec ?? {}
  const known = clusterIP === "" || clusterIP === "None" ? (pod.status?.podIP ?? "") : clusterIP
  const family = ipFamilies[0] === "IPv6" || ipFamilies[0] === "IPv4" ? ipFamilies[0] : Pods.familyOf(known)
  return Pods.addressesOf(pod, family)[0]
}

const describe = (service: Service, pod: Pod): Omit<Stated, "rank"> | undefined => {
  const publishes = service.spec?.publishNotReadyAddresses === true
  if (!Pods.contributes(pod, { includeTerminating: publishes })) return undefined
  const ip = addressOf(service, pod)
  if (ip === undefined) return undefined
  const hostname = Pods.hostname(pod, service)
  const nodeName = pod.spec?.nodeName ?? ""
  const address = {
    ...(hostname === undefined ? {} : { hostname }),
    ip,
    ...(nodeName === "" ? {} : { nodeName }),
    targetRef: Pods.reference(pod)
  }
  return { address, ready: publishes || PodState.isReady(pod) }
}

const compare = (a: string | undefined, b: string | undefined): number => (a === b ? 0 : (a ?? "") < (b ?? "") ? -1 : 1)

const inOrder = (a: Address, b: Address): number => compare(a.ip, b.ip) || compare(a.targetRef?.uid, b.targetRef?.uid)

/** The pods are those that the Service selects. */
export const of = (service: Service, pods: ReadonlyArray<Pod>): ReadonlyArray<Subset> => {
  const isHeadless = service.spec?.clusterIP === "None"
  const withoutPorts = (service.spec?.ports ?? []).length === 0
  if (withoutPorts && !isHeadless) return []
  const portsOf = ServicePorts.resolver(service)
  const described = pods.flatMap((pod) => {
    const one = describe(service, pod)
    return one === undefined ? [] : [{ ...one, pod }]
  })
  /** By port; of a Service without ports, all under none. */
  const byPort = new Map<string, { readonly port: ServicePorts.Resolved | undefined; readonly on: Array<Stated> }>()
  const put = (key: string, port: ServicePorts.Resolved | undefined, one: Stated): void => {
    const known = byPort.get(key)
    if (known === undefined) byPort.set(key, { port, on: [one] })
    else known.on.push(one)
  }
  described
    .sort((a, b) => inOrder(a.address, b.address))
    .forEach(({ pod, ...one }, rank) => {
      const stated = { ...one, rank }
      if (withoutPorts) put("", undefined, stated)
      // Two ports of a Service can be the same one on a pod.
      const ports = new Map(portsOf(pod).ports.map((port) => [ServicePorts.keyOf(port), port]))
      for (const [key, port] of ports) put(key, port, stated)
    })
  return repack([...byPort.values()])
}

/** One subset for all ports that have the same addresses: a pod is ready in all its ports or in none. */
const repack = (
  byPort: ReadonlyArray<{ readonly port: ServicePorts.Resolved | undefined; readonly on: ReadonlyArray<Stated> }>
): ReadonlyArray<Subset> => {
  const bySet = new Map<string, { readonly on: ReadonlyArray<Stated>; readonly ports: Array<ServicePorts.Resolved> }>()
  for (const { on, port } of byPort) {
    const key = on.map(({ rank }) => rank).join()
    const known = bySet.get(key) ?? { on, ports: [] }
    if (port !== undefined) known.ports.push(port)
    bySet.set(key, known)
  }
  return [...bySet.values()]
    .map(({ on, ports }) => ({ on, ports: ports.sort((a, b) => compare(a.name, b.name) || a.port - b.port) }))
    .sort((a, b) => compare(ServicePorts.keyOfAll(a.ports), ServicePorts.keyOfAll(b.ports)))
    .map(({ on, ports }) => {
      const addresses = on.flatMap(({ address, ready }) => (ready ? [address] : []))
      const notReadyAddresses = on.flatMap(({ address, ready }) => (ready ? [] : [address]))
      return subset({ addresses, notReadyAddresses, ports: ports.map(portOf) })
    })
}

const portOf = ({ appProtocol, name, port, protocol }: ServicePorts.Resolved) => ({
  ...(name === "" ? {} : { name }),
  port,
  protocol,
  ...(appProtocol === undefined ? {} : { appProtocol })
})

/** Without the lists that are empty. */
const subset = ({ addresses, notReadyAddresses, ports }: Required<Subset>): Subset => ({
  ...(addresses.length === 0 ? {} : { addresses }),
  ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
  ...(ports.length === 0 ? {} : { ports })
})

const count = (subsets: ReadonlyArray<Subset>, of: "addresses" | "notReadyAddresses"): number =>
  subsets.reduce((sum, one) => sum + (one[of]?.length ?? 0), 0)

/** How many addresses there are. */
export const size = (subsets: ReadonlyArray<Subset>): number =>
  count(subsets, "addresses") + count(subsets, "notReadyAddresses")

/**
 * At most a thousand: ready ones go before others, and of those that do not all fit each subset keeps its share, rounded up as long as there is
 * room. Source: truncateEndpoints.
 */
export const truncate = (
  subsets: ReadonlyArray<Subset>
): { readonly subsets: ReadonlyArray<Subset>; readonly isTruncated: boolean } => {
  if (size(subsets) <= capacity) return { subsets, isTruncated: false }
  const ready = count(subsets, "addresses")
  const list = ready > capacity ? "addresses" : "notReadyAddresses"
  const room = ready > capacity ? capacity : capacity - ready
  const total = count(subsets, list)
  let left = room
  const cut = subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const all = list === "addresses" ? addresses : notReadyAddresses
    const share = Math.min(left, Math.ceil((all.length * room) / total))
    left -= share
    const kept = all.slice(0, share)
    return list === "addresses"
      ? subset({ addresses: kept, notReadyAddresses: [], ports })
      : subset({ addresses, notReadyAddresses: kept, ports })
  })
  return { subsets: cut.filter((one) => size([one]) > 0), isTruncated: true }
}

/** The same text for the same content, however it is ordered and whoever wrote it. */
export const canonical = (subsets: ReadonlyArray<Subset>): string =>
  subsets
    .map(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
      [
        addresses.map(textOf).sort().join(),
        notReadyAddresses.map(textOf).sort().join(),
        ServicePorts.keyOfAll(ports)
      ].join(";")
    )
    .sort()
    .join("\n")

const textOf = ({ hostname, ip, nodeName, targetRef }: Address): string =>
  [ip, hostname, nodeName, targetRef?.kind, targetRef?.namespace, targetRef?.name, targetRef?.uid].join("|")
