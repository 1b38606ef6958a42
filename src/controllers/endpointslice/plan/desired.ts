/**
 * The desired endpoints of a Service: one for each pod and address family, grouped by ports. An endpoint is ready if
 * the pod is ready and not terminating, or if the Service publishes addresses that are not ready. Pure. Source:
 * endpointslice: reconcileByAddressType, podToEndpoint.
 */
import * as PodState from "../../../kube/pod.ts"
import type { EndpointSlice, Node, Pod, Service } from "../../../kube/resources.ts"
import * as Pods from "../../shared/services/pods.ts"
import * as ServicePorts from "../../shared/services/servicePorts.ts"

export type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number]

/** Pods with the same ports, in one address family. */
export interface Group {
  readonly family: Pods.Family
  readonly ports: ServicePorts.PortSet
  /** By identity; never empty. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
}

export interface Desired {
  readonly families: ReadonlyArray<Pods.Family>
  readonly groups: ReadonlyArray<Group>
  /** Pods that are left out because their node is not in the cache; the sync has to be retried for them. */
  readonly lost: ReadonlyArray<Pod>
}

const both: ReadonlyArray<Pods.Family> = ["IPv4", "IPv6"]

/** The address families of the Service. Source: endpointslice: getAddressTypesForService. */
export const familiesOf = ({ spec }: Service): ReadonlyArray<Pods.Family> => {
  const families = both.filter((family) => spec?.ipFamilies?.includes(family) === true)
  if (families.length > 0) return families
  const ip = spec?.clusterIP ?? ""
  return ip === "" || ip === "None" ? both : [Pods.familyOf(ip)]
}

export const hasClusterIP = ({ spec }: Service): boolean => {
  const ip = spec?.clusterIP ?? ""
  return ip !== "" && ip !== "None"
}

/** `pods`: those that the Service selects. */
export const of = (service: Service, pods: ReadonlyArray<Pod>, nodeOf: (name: string) => Node | undefined): Desired => {
  const families = familiesOf(service)
  const portsOf = ServicePorts.resolver(service)
  const groups = new Map<string, Group & { readonly endpoints: Map<string, Endpoint> }>()
  const lost: Array<Pod> = []
  for (const pod of pods) {
    if (!Pods.contributes(pod, { includeTerminating: true })) continue
    const node = nodeOf(pod.spec?.nodeName ?? "")
    if (node === undefined && service.spec?.publishNotReadyAddresses !== true) {
      lost.push(pod)
      continue
    }
    const ports = portsOf(pod)
    for (const family of families) {
      const endpoint = endpointOf(service, pod, { node, family })
      if (endpoint === undefined) continue
      const key = `${family} ${ports.key}`
      const group = groups.get(key) ?? { family, ports, endpoints: new Map() }
      group.endpoints.set(identity(endpoint), endpoint)
      groups.set(key, group)
    }
  }
  return { families, groups: [...groups.values()], lost }
}

interface Place {
  readonly node: Node | undefined
  readonly family: Pods.Family
}

const endpointOf = (service: Service, pod: Pod, { family, node }: Place): Endpoint | undefined => {
  const addresses = Pods.addressesOf(pod, family)
  if (addresses.length === 0) return undefined
  const serving = PodState.isReady(pod)
  const terminating = pod.metadata.deletionTimestamp !== undefined
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating)
  const hostname = Pods.hostname(pod, service)
  const nodeName = pod.spec?.nodeName
  const zone = node?.metadata.labels?.["topology.kubernetes.io/zone"]
  const hints = ready ? hintsOf(service, zone, nodeName) : undefined
  return {
    addresses: [...addresses],
    conditions: { ready, serving, terminating },
    ...(hints === undefined ? {} : { hints }),
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined || nodeName === "" ? {} : { nodeName }),
    targetRef: Pods.reference(pod),
    ...(zone === undefined || zone === "" ? {} : { zone })
  }
}

/** The old annotation, which takes precedence, and the new one. */
const topologyModes = ["service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"] as const

/**
 * Hints for the Service's traffic distribution. Proportional hints are not set here: they need all endpoints. Source:
 * endpointslice/trafficdist: ReconcileHints.
 */
const hintsOf = (
  service: Service,
  zone: string | undefined,
  node: string | undefined
): Endpoint["hints"] | undefined => {
  const preference = preferenceOf(service)
  if (preference === undefined) return undefined
  const hints = {
    ...(preference === "PreferSameNode" && node !== undefined && node !== "" ? { forNodes: [{ name: node }] } : {}),
    ...(zone === undefined || zone === "" ? {} : { forZones: [{ name: zone }] })
  }
  return Object.keys(hints).length === 0 ? undefined : hints
}

const preferences: ReadonlySet<string> = new Set(["PreferClose", "PreferSameZone", "PreferSameNode"])

/**
 * The Service's traffic distribution, if it is valid and not overridden. Source: endpointslice:
 * validTrafficDistribution.
 */
export const preferenceOf = ({ metadata, spec }: Service): string | undefined => {
  const preference = spec?.trafficDistribution
  return preference !== undefined && preferences.has(preference) && !isProportional(metadata) ? preference : undefined
}

/** Whether an annotation of the Service requests topology-aware hints. Source: endpointslice: hintsEnabled. */
export const isProportional = ({ annotations }: Service["metadata"]): boolean => {
  const [old, present] = topologyModes.map((name) => annotations?.[name])
  const mode = old ?? present
  return mode === "Auto" || mode === "auto"
}

/** Identifies an endpoint across changes of its state. Source: endpointslice: hashEndpoint. */
export const identity = ({ addresses, hostname, nodeName, targetRef }: Endpoint): string =>
  `${addresses.join()}|${hostname ?? ""}|${nodeName ?? ""}|${targetRef?.namespace ?? ""}/${targetRef?.name ?? ""}`

/** Whether two endpoints of one identity are equal, hints included. */
export const equal = (a: Endpoint, b: Endpoint): boolean =>
  a === b ||
  (equalButHints(a, b) &&
    namesOf(a.hints?.forZones) === namesOf(b.hints?.forZones) &&
    namesOf(a.hints?.forNodes) === namesOf(b.hints?.forNodes))

/** Equal apart from hints. */
export const equalButHints = (a: Endpoint, b: Endpoint): boolean =>
  a.conditions?.ready === b.conditions?.ready &&
  a.conditions?.serving === b.conditions?.serving &&
  a.conditions?.terminating === b.conditions?.terminating &&
  a.zone === b.zone &&
  a.targetRef?.kind === b.targetRef?.kind &&
  a.targetRef?.uid === b.targetRef?.uid

const namesOf = (list: ReadonlyArray<{ readonly name: string }> | undefined): string =>
  list === undefined ? "" : list.map(({ name }) => name).join()
