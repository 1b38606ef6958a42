/**
 * What a ResourceClaim takes of quotas: its devices by class, and the same devices as extended resources, by the name that every class has
 * and by the one that a class may declare. A claim that the scheduler makes for the extended resources of a pod takes only what the pod does
 * not take itself. Source: pkg/quota/v1/evaluator/core: claimEvaluator; KEP-5004.
 */
import type { KubeObject } from "../Meta.ts"
import * as Owner from "../Owner.ts"
import * as Quantity from "../quantity.ts"
import type { Pod } from "../resources.ts"
import * as Time from "../time.ts"
import * as Names from "./names.ts"

/** What the usage of a claim depends on besides the claim, in the claim's namespace. */
export interface Lookups {
  /** The extended resource of a class of devices, if it has one of its own. */
  readonly extendedResource: (className: string) => string | undefined
  /** The pod of that name, and what it takes. */
  readonly pod: (name: string) => PodUsage | undefined
  /** The claims that `podOf` says are for this pod's extended resources, by its uid. */
  readonly claimsOf: (uid: string) => Iterable<KubeObject>
}

export interface PodUsage {
  readonly pod: Pod
  readonly usage: ReadonlyMap<string, Quantity.Quantity>
}

/** The fields that quotas need, in every version that has been served. Source: resource.k8s.io ResourceClaim. */
interface ResourceClaim extends KubeObject {
  readonly spec?: { readonly devices?: { readonly requests?: ReadonlyArray<DeviceRequest> } }
}

interface Devices {
  readonly deviceClassName?: string
  readonly allocationMode?: string
  readonly count?: number
}

interface DeviceRequest extends Devices {
  readonly exactly?: Devices
  readonly firstAvailable?: ReadonlyArray<Devices>
}

/** The most devices that a claim can get, and what one counts that requests all. Source: AllocationResultsMaxSize. */
const mostDevices = 32

const countOf = ({ allocationMode = "ExactCount", count = 1 }: Devices): number => {
  if (allocationMode === "ExactCount") return Number.isSafeInteger(count) ? count : 0
  return allocationMode === "All" ? mostDevices : 0
}

/** In place. */
export const add = (claim: KubeObject, usage: Map<string, Quantity.Quantity>, lookups: Lookups): void => {
  const byClass = devices(claim)
  const extended = new Map<string, number>()
  for (const [className, count] of byClass) {
    usage.set(`${className}${Names.devicesSuffix}`, Quantity.whole(count))
    if (className === "") continue
    const own = lookups.extendedResource(className)
    for (const name of [`${Names.classPrefix}${className}`, ...(own === undefined ? [] : [own])])
      extended.set(`${Names.requests}${name}`, (extended.get(`${Names.requests}${name}`) ?? 0) + count)
  }
  const counted = countedByPod(claim, lookups)
  for (const [name, count] of extended) {
    const { form, nanos } = Quantity.whole(count)
    const left = nanos - (counted?.get(name)?.nanos ?? 0n)
    if (left > 0n) usage.set(name, { form, nanos: left })
  }
}

/** Devices by class; of alternatives, the largest count of each class. */
const devices = ({ spec }: ResourceClaim): ReadonlyMap<string, number> => {
  const total = new Map<string, number>()
  for (const request of spec?.devices?.requests ?? []) {
    const worst = new Map<string, number>()
    for (const one of request.firstAvailable ?? [request.exactly ?? request]) {
      const name = one.deviceClassName ?? ""
      worst.set(name, Math.max(worst.get(name) ?? 0, countOf(one)))
    }
    for (const [name, count] of worst) total.set(name, (total.get(name) ?? 0) + count)
  }
  return total
}

const annotation = "resource.kubernetes.io/extended-resource-claim"

/** The pod for whose extended resources the claim was made, if it was. Source: extendedResourceClaimPodUIDOwnerIndex. */
export const podOf = (claim: KubeObject): { readonly name: string; readonly uid: string } | undefined => {
  if (claim.metadata.annotations?.[annotation] !== "true") return undefined
  const owner = Owner.controllerOf(claim)
  return owner?.kind === "Pod" && owner.apiVersion === "v1" ? owner : undefined
}

/** What the pod of the claim takes, if this is the claim that was made for it. Source: getVerifiedPodUsage. */
const countedByPod = (claim: KubeObject, { claimsOf, pod }: Lookups): PodUsage["usage"] | undefined => {
  const owner = podOf(claim)
  const found = owner === undefined ? undefined : pod(owner.name)
  if (owner === undefined || found?.pod.metadata.uid !== owner.uid) return undefined
  const named = found.pod.status?.extendedResourceClaimStatus
  const isFirst =
    named === undefined
      ? !Array.from(claimsOf(owner.uid)).some((other) => isBefore(other, claim))
      : named.resourceClaimName === claim.metadata.name
  return isFirst ? found.usage : undefined
}

const isBefore = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean => {
  const [x, y] = [Time.parse(a.creationTimestamp) ?? 0, Time.parse(b.creationTimestamp) ?? 0]
  return x < y || (x === y && a.name < b.name)
}
