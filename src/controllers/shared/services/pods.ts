/**
 * What a pod contributes to the Services that select it: addresses by family, readiness, the numbers of named ports, a host name; and which of its
 * changes matter to them. Pure. Source: staging/src/k8s.io/endpointslice/util: podEndpointsChanged.
 */
import * as PodState from "../../../kube/pod.ts"
import type { Pod, Service } from "../../../kube/resources.ts"

export type Family = "IPv4" | "IPv6"

export const familyOf = (ip: string): Family => (ip.includes(":") ? "IPv6" : "IPv4")

const none: ReadonlyArray<string> = []

/** All addresses, in the order in which the pod has them. */
export const addresses = (pod: Pod): ReadonlyArray<string> => {
  const { podIP = "", podIPs = [] } = pod.status ?? {}
  if (podIPs.length > 0) return podIPs.map(({ ip }) => ip).filter((ip) => ip !== "")
  return podIP === "" ? none : [podIP]
}

export const addressesOf = (pod: Pod, family: Family): ReadonlyArray<string> =>
  addresses(pod).filter((ip) => familyOf(ip) === family)

const hasAddress = (pod: Pod): boolean =>
  (pod.status?.podIP ?? "") !== "" || pod.status?.podIPs?.some(({ ip }) => ip !== "") === true

/** Whether the pod is among the endpoints of its Services, ready or not. */
export const contributes = (pod: Pod, options: { readonly includeTerminating: boolean }): boolean =>
  !PodState.isTerminal(pod) &&
  hasAddress(pod) &&
  (options.includeTerminating || pod.metadata.deletionTimestamp === undefined)

/** The pod's host name in the Service's DNS domain; undefined if its subdomain is another one. */
export const hostname = (pod: Pod, service: Service): string | undefined => {
  const { hostname: name = "", subdomain } = pod.spec ?? {}
  const { metadata } = service
  const isHere = subdomain === metadata.name && pod.metadata.namespace === metadata.namespace
  return name !== "" && isHere ? name : undefined
}

/** The `targetRef` of an endpoint. */
export const reference = ({ metadata: { name, namespace, uid } }: Pod) => ({
  kind: "Pod",
  ...(namespace === undefined ? {} : { namespace }),
  name,
  ...(uid === undefined ? {} : { uid })
})

/** The fields of a pod that its endpoints depend on, without its labels. */
const visibleFields = (pod: Pod): ReadonlyArray<string | boolean | undefined> => [
  PodState.isTerminal(pod),
  pod.metadata.deletionTimestamp !== undefined,
  PodState.isReady(pod),
  pod.spec?.hostname,
  pod.spec?.subdomain,
  pod.spec?.nodeName,
  pod.metadata.uid,
  ...addresses(pod)
]

const isSame = <A>(a: ReadonlyArray<A>, b: ReadonlyArray<A>): boolean =>
  a.length === b.length && a.every((one, i) => one === b[i])

/** Whether the pod's endpoints may have changed, even if the same Services select it. */
export const hasChanged = (before: Pod, after: Pod): boolean => !isSame(visibleFields(before), visibleFields(after))
