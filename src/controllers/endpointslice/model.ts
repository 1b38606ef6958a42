/**
 * What the slices of a Service should say together: an endpoint for each pod and family, those with the same ports in a group. Pure and
 * total. Being ready is what the readiness probe says and not being deleted; what a Service publishes before it is ready counts as ready.
 * Source: spec F.1, F.3.
 */
import * as PodState from "../../kube/pod.ts"
import type { EndpointSlice, Node, Pod, Service } from "../../kube/resources.ts"
import * as Pods from "../shared/services/pods.ts"
import * as ServicePorts from "../shared/services/servicePorts.ts"

export type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number]

/** Pods with the same ports, in one family. */
export interface Group {
  readonly family: Pods.Family
  readonly ports: ServicePorts.PortSet
  /** By identity; never empty. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
}

export interface Model {
  readonly families: ReadonlyArray<Pods.Family>
  readonly groups: ReadonlyArray<Group>
  /** Pods that are left out because nobody knows their node; the sync has to come back for them. */
  readonly lost: ReadonlyArray<Pod>
}

const both: ReadonlyArray<Pods.Family> = ["IPv4", "IPv6"]

/** The families that the Service is served in. Source: endpointslice getAddressTypesForService. */
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

/** The pods are those that the Service selects. */
export const of = (service: Service, pods: ReadonlyArray<Pod>, nodeOf: (name: string) => Node | undefined): Model => {
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

/** By the old name, which counts first, or by the new one. */
const topologyModes = ["service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"] as const

/**
 * Where the endpoint's traffic should come from. A Service that asks for proportional hints gets none here: they are divided when all of its
 * endpoints are known. Source: spec F.3, endpointslice/trafficdist.
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

/** What the Service says of where its traffic should go, where that is heeded. Source: endpointslice validTrafficDistribution. */
export const preferenceOf = ({ metadata, spec }: Service): string | undefined => {
  const preference = spec?.trafficDistribution
  return preference !== undefined && preferences.has(preference) && !isProportional(metadata) ? preference : undefined
}

/** Whether the Service asks for hints by the processors of each zone. */
export const isProportional = ({ annotations }: Service["metadata"]): boolean => {
  const [old, present] = topologyModes.map((name) => annotations?.[name])
  const mode = old ?? present
  return mode === "Auto" || mode === "auto"
}

/** What an endpoint is known by while its state changes. Source: endpointslice hashEndpoint. */
export const identity = ({ addresses, hostname, nodeName, targetRef }: Endpoint): string =>
  `${addresses.join()}|${hostname ?? ""}|${nodeName ?? ""}|${targetRef?.namespace ?? ""}/${targetRef?.name ?? ""}`

/** Whether two endpoints of one identity are in the same state, their hints included. */
export const equal = (a: Endpoint, b: Endpoint): boolean =>
  a === b ||
  (equalButHints(a, b) &&
    namesOf(a.hints?.forZones) === namesOf(b.hints?.forZones) &&
    namesOf(a.hints?.forNodes) === namesOf(b.hints?.forNodes))

/** The same, whatever their hints are. */
export const equalButHints = (a: Endpoint, b: Endpoint): boolean =>
  a.conditions?.ready === b.conditions?.ready &&
  a.conditions?.serving === b.conditions?.serving &&
  a.conditions?.terminating === b.conditions?.terminating &&
  a.zone === b.zone &&
  a.targetRef?.kind === b.targetRef?.kind &&
  a.targetRef?.uid === b.targetRef?.uid

const namesOf = (list: ReadonlyArray<{ readonly name: string }> | undefined): string =>
  list === undefined ? "" : list.map(({ name }) => name).join()
