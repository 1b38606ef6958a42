/**
 * The subsets of a Service's Endpoints: for each pod one address of the Service's first IP family, with the ports
 * resolved for that pod, repacked into canonical form so that equal content is equal text. Pure. Source:
 * pkg/controller/endpoint: syncService; pkg/api/v1/endpoints: RepackSubsets.
 */
import * as PodState from "../../kube/pod.ts"
import type { Pod, Service } from "../../kube/resources.ts"
import * as Pods from "../shared/services/pods.ts"
import * as Repack from "../shared/services/repack.ts"
import * as ServicePorts from "../shared/services/servicePorts.ts"

export type { Address, Subset } from "../shared/services/repack.ts"

/** Maximum number of addresses in one object. */
export const capacity = 1000

interface Stated {
  readonly address: Repack.Address
  readonly ready: boolean
}

/**
 * The pod's address of the Service's first IP family. Source: pkg/controller/endpoint: podToEndpointAddressForService.
 */
const addressOf = (service: Service, pod: Pod): string | undefined => {
  const { clusterIP = "", ipFamilies = [] } = service.spec ?? {}
  const known = clusterIP === "" || clusterIP === "None" ? (pod.status?.podIP ?? "") : clusterIP
  const family = ipFamilies[0] === "IPv6" || ipFamilies[0] === "IPv4" ? ipFamilies[0] : Pods.familyOf(known)
  return Pods.addressesOf(pod, family)[0]
}

const describe = (service: Service, pod: Pod): Stated | undefined => {
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

/** `pods`: those that the Service selects. */
export const of = (service: Service, pods: ReadonlyArray<Pod>): ReadonlyArray<Repack.Subset> => {
  const withoutPorts = (service.spec?.ports ?? []).length === 0
  if (withoutPorts && service.spec?.clusterIP !== "None") return []
  const portsOf = ServicePorts.resolver(service)
  const written = new Map<ServicePorts.PortSet, Required<Repack.Subset>["ports"]>()
  const subsets = pods.flatMap((pod) => {
    const stated = describe(service, pod)
    const set = portsOf(pod)
    const ports = written.get(set) ?? set.ports.map(portOf)
    written.set(set, ports)
    if (stated === undefined || (ports.length === 0 && !withoutPorts)) return []
    const { address, ready } = stated
    return [{ [ready ? "addresses" : "notReadyAddresses"]: [address], ports }]
  })
  return Repack.repack(subsets)
}

const portOf = ({ appProtocol, name, port, protocol }: ServicePorts.Resolved) => ({
  ...(name === "" ? {} : { name }),
  port,
  protocol,
  ...(appProtocol === undefined ? {} : { appProtocol })
})

const count = (subsets: ReadonlyArray<Repack.Subset>, of: "addresses" | "notReadyAddresses"): number =>
  subsets.reduce((sum, one) => sum + (one[of]?.length ?? 0), 0)

/** The number of addresses. */
export const size = (subsets: ReadonlyArray<Repack.Subset>): number =>
  count(subsets, "addresses") + count(subsets, "notReadyAddresses")

/**
 * Keeps at most 1,000 addresses, ready ones first; of those that do not all fit each subset keeps its share, rounded up
 * as long as there is room. Source: pkg/controller/endpoint: truncateEndpoints.
 */
export const truncate = (
  subsets: ReadonlyArray<Repack.Subset>
): { readonly subsets: ReadonlyArray<Repack.Subset>; readonly isTruncated: boolean } => {
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
      ? Repack.subset({ addresses: kept, notReadyAddresses: [], ports })
      : Repack.subset({ addresses, notReadyAddresses: kept, ports })
  })
  return { subsets: cut.filter((one) => size([one]) > 0), isTruncated: true }
}

/** Whether the content is equal, in any order. */
export const isSame = (a: ReadonlyArray<Repack.Subset>, b: ReadonlyArray<Repack.Subset>): boolean =>
  // Most changes are of a pod that becomes ready or not ready, and the numbers alone show them.
  count(a, "addresses") === count(b, "addresses") &&
  count(a, "notReadyAddresses") === count(b, "notReadyAddresses") &&
  canonical(a) === canonical(b)

/** The same text for equal content in any order. */
const canonical = (subsets: ReadonlyArray<Repack.Subset>): string =>
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

const textOf = ({ hostname, ip, nodeName, targetRef }: Repack.Address): string =>
  [ip, hostname, nodeName, targetRef?.kind, targetRef?.namespace, targetRef?.name, targetRef?.uid].join("|")
