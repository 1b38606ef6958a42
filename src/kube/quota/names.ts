/**
 * The names in a quota's `hard`: which kinds of objects each is counted from, if it is known. Pure; which kinds a server serves is not known
 * here. Source: pkg/quota/v1/evaluator/core: MatchingResources.
 */

/** A kind as quotas know it: its version does not matter. */
export interface Counted {
  /** Empty for the core group. */
  readonly group: string
  readonly plural: string
}

/** Kinds that are never counted, whatever a quota names. Source: DefaultIgnoredResources. */
export const ignored: ReadonlyArray<string> = ["bindings", "events", "events.events.k8s.io"]

/** One text for each kind, as RBAC and kubectl name it: `pods`, `replicasets.apps`. */
export const idOf = ({ group, plural }: Counted): string => (group === "" ? plural : `${plural}.${group}`)

/** The name under which the objects of any kind are counted. */
export const countOf = (kind: Counted): string => `count/${idOf(kind)}`

const core = (plural: string): Counted => ({ group: "", plural })

export const pods = core("pods")
export const services = core("services")
export const claims = core("persistentvolumeclaims")
export const resourceClaims: Counted = { group: "resource.k8s.io", plural: "resourceclaims" }

/** Not counted; a class declares which extended resource its devices are. */
export const deviceClasses: Counted = { group: "resource.k8s.io", plural: "deviceclasses" }

/** Ends the names of a storage class: `<class>.storageclass.storage.k8s.io/requests.storage`. */
export const classSuffix = ".storageclass.storage.k8s.io/"

/** Ends the names of a device class: `<class>.deviceclass.resource.k8s.io/devices`. */
export const devicesSuffix = ".deviceclass.resource.k8s.io/devices"

/** Begins the name of a device class as an extended resource. Source: ResourceDeviceClassPrefix. */
export const classPrefix = "deviceclass.resource.kubernetes.io/"

/** Resources of pods that a quota names alone, as requests and as limits. */
export const computeResources: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"])

export const hugePages = "hugepages-"
export const requests = "requests."
export const limits = "limits."

/** Kinds that had a name before there was `count/…`. Source: legacyObjectCountAliases, and the evaluators. */
const legacy: ReadonlyMap<string, Counted> = new Map(
  [pods, services, claims, ...["configmaps", "replicationcontrollers", "resourcequotas", "secrets"].map(core)].map(
    (kind) => [kind.plural, kind]
  )
)

/** The name that a kind is counted under besides `count/…`. */
export const aliasOf = ({ group, plural }: Counted): string | undefined =>
  group === "" && legacy.has(plural) ? plural : undefined

/** Whether the name of a resource is Kubernetes' own: without a domain, or in the domain kubernetes.io. */
const isNative = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/")

/** Whether containers may request it as an extended resource. Source: IsDRAExtendedResourceName. */
export const isExtended = (name: string): boolean =>
  name.startsWith(classPrefix) || (!isNative(name) && !name.startsWith(requests))

const isOfPods = (name: string): boolean => {
  if (computeResources.has(name) || name.startsWith(hugePages)) return true
  if (name.startsWith(limits)) return computeResources.has(name.slice(limits.length))
  if (!name.startsWith(requests)) return false
  const asked = name.slice(requests.length)
  return computeResources.has(asked) || asked.startsWith(hugePages)
}

/** Quotas limit requests of extended resources only. Source: isExtendedResourceNameForQuota. */
const isOfDevices = (name: string): boolean => {
  if (!name.startsWith(requests)) return false
  const asked = name.slice(requests.length)
  return asked.startsWith(classPrefix) || !isNative(asked)
}

const isOfClaims = (name: string): boolean =>
  name === "requests.storage" ||
  name.endsWith(`${classSuffix}requests.storage`) ||
  name.endsWith(`${classSuffix}persistentvolumeclaims`)

/** The kinds that a name is counted from; none where it is unknown. */
export const kindsOf = (name: string): ReadonlyArray<Counted> => {
  if (name.startsWith("count/")) {
    const [plural = "", ...group] = name.slice("count/".length).split(".")
    return [{ group: group.join("."), plural }]
  }
  const known = legacy.get(name)
  if (known !== undefined) return [known]
  if (name === "services.loadbalancers" || name === "services.nodeports") return [services]
  if (isOfClaims(name)) return [claims]
  if (name.endsWith(devicesSuffix)) return [resourceClaims]
  // Pods request them; a claim adds what its pod does not request.
  if (isOfDevices(name)) return [pods, resourceClaims]
  return isOfPods(name) ? [pods] : []
}

/** Whether a name is counted from the objects of that kind. */
export const isOf = (name: string, kind: Counted): boolean => kindsOf(name).some((one) => isSame(one, kind))

/** Whether both are the same kind, in whatever version. */
export const isSame = (a: Counted, b: Counted): boolean => a.group === b.group && a.plural === b.plural
