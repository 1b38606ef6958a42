/**
 * What an object takes of the resources that quotas count, by their names in quotas. Amounts are exact; a name with 0 is one that the object
 * is counted under and takes nothing of at present. The admission plugin and the quota controller both use it.
 * Source: pkg/quota/v1/evaluator/core.
 */
import type { KubeObject } from "../Meta.ts"
import * as PodResources from "../podResources.ts"
import * as Quantity from "../quantity.ts"
import type { PersistentVolumeClaim, Pod, Service } from "../resources.ts"
import * as Devices from "./devices.ts"
import * as Names from "./names.ts"
import * as PodUsage from "./podUsage.ts"

export type Usage = ReadonlyMap<string, Quantity.Quantity>

type Amounts = Map<string, Quantity.Quantity>

export type { Lookups } from "./devices.ts"

/** No classes, no pods and no other claims. */
export const noLookups: Devices.Lookups = {
  extendedResource: () => undefined,
  pod: () => undefined,
  claimsOf: () => []
}

/** Kinds that take more than their number; of all others only the number counts. */
export const measured: ReadonlyArray<Names.Counted> = [Names.pods, Names.services, Names.claims, Names.resourceClaims]

const measuredIds = new Set(measured.map(Names.idOf))

export const isMeasured = (kind: Names.Counted): boolean => measuredIds.has(Names.idOf(kind))

/**
 * Until when the object takes its resources, in milliseconds since 1970; after that only its number counts. For ever, except for a pod that
 * has ended or should be gone.
 */
export const until = (kind: Names.Counted, object: KubeObject): number =>
  Names.idOf(kind) === "pods" ? PodUsage.until(object) : Infinity

/**
 * All that an object takes while `isCharged`, or only its number. What a ResourceClaim takes depends on other objects too: `lookups`.
 */
export const of = (
  kind: Names.Counted,
  object: KubeObject,
  isCharged: boolean,
  lookups: Devices.Lookups = noLookups
): Usage => {
  const usage: Amounts = new Map([[Names.countOf(kind), Quantity.whole(1)]])
  const id = Names.idOf(kind)
  const alias = Names.aliasOf(kind)
  if (alias !== undefined && (isCharged || id !== "pods")) usage.set(alias, Quantity.whole(1))
  if (id === "pods" && isCharged) ofPod(object, usage)
  else if (id === "persistentvolumeclaims") ofClaim(object, usage)
  else if (id === "services") ofService(object, usage)
  else if (id === Names.idOf(Names.resourceClaims)) Devices.add(object, usage, lookups)
  return usage
}

/** What `next` takes more than `before`; names of which it takes less are left out. */
export const more = (next: Usage, before: Usage): Usage => {
  const grown: Amounts = new Map()
  for (const [name, { form, nanos }] of next) {
    const added = nanos - (before.get(name)?.nanos ?? 0n)
    if (added > 0n) grown.set(name, { form, nanos: added })
  }
  return grown
}

const ofPod = (pod: Pod, usage: Amounts): void => {
  for (const [name, amount] of PodResources.amounts(pod, "requests", "status")) {
    const plain = Names.computeResources.has(name) || name.startsWith(Names.hugePages)
    if (plain) usage.set(name, amount)
    if (plain || Names.isExtended(name)) usage.set(`${Names.requests}${name}`, amount)
  }
  for (const [name, amount] of PodResources.amounts(pod, "limits", "status"))
    if (Names.computeResources.has(name)) usage.set(`${Names.limits}${name}`, amount)
}

const classAnnotation = "volume.beta.kubernetes.io/storage-class"

const ofClaim = ({ metadata, spec, status }: PersistentVolumeClaim, usage: Amounts): void => {
  const className = metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ""
  if (className !== "") usage.set(`${className}${Names.classSuffix}persistentvolumeclaims`, Quantity.whole(1))
  const wanted = Quantity.parse(spec?.resources?.requests?.["storage"])
  if (wanted === undefined) return
  // While a claim grows, or could not grow, what was allocated to it counts.
  const given = Quantity.parse(status?.allocatedResources?.["storage"])
  const storage = Quantity.roundUp(given !== undefined && given.nanos > wanted.nanos ? given : wanted)
  usage.set("requests.storage", storage)
  if (className !== "") usage.set(`${className}${Names.classSuffix}requests.storage`, storage)
}

/** Node ports are counted by what the spec asks for, because they are not allocated yet when a Service is admitted. */
const ofService = ({ spec }: Service, usage: Amounts): void => {
  const ports = spec?.ports ?? []
  const isBalanced = spec?.type === "LoadBalancer"
  const onNodes =
    isBalanced && spec.allocateLoadBalancerNodePorts === false
      ? ports.filter(({ nodePort = 0 }) => nodePort !== 0)
      : ports
  usage.set("services.loadbalancers", Quantity.whole(isBalanced ? 1 : 0))
  usage.set("services.nodeports", Quantity.whole(isBalanced || spec?.type === "NodePort" ? onNodes.length : 0))
}
