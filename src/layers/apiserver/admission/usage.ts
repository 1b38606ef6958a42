/**
 * What an object takes of the resources that quotas count, by the names that quotas give them. Amounts are exact; a name with 0
 * is one the object is counted under and takes nothing of at the moment. Source: the quota evaluators of the reference server.
 */
import { arrayAt, at, get, isObject, numberAt, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as Quantity from "../../../kube/quantity.ts"
import type { Kind } from "../schema/Kind.ts"

export type Usage = ReadonlyMap<string, Quantity.Quantity>

type List = "requests" | "limits"
type Counted = Pick<Kind, "group" | "plural" | "storage">

const times = (count: number): Quantity.Quantity => ({ nanos: BigInt(count) * 1_000_000_000n, form: "decimal" })

/** Kinds that are counted under their plain name too. */
const named = new Set([
  "configmaps",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "services"
])

const countName = ({ group, plural }: Counted): string => `count/${plural}${group === "" ? "" : `.${group}`}`

/** Resources of the core that a quota may name without saying which list. */
const plain = new Set(["cpu", "memory", "ephemeral-storage"])

const isSidecar = (container: Json): boolean => textAt(container, "restartPolicy") === "Always"

/** All containers that a pod is made of. */
export const containersOf = (pod: JsonObject): ReadonlyArray<Json> => [
  ...arrayAt(pod, "spec", "containers"),
  ...arrayAt(pod, "spec", "initContainers")
]

/**
 * The most that a pod takes of a resource at any time: init containers run one after the other before the others, and those
 * that restart always stay beside whatever comes after them.
 */
const most = (pod: JsonObject, list: List, name: string): Quantity.Quantity | undefined => {
  const asked = (container: Json) => Quantity.parse(at(container, "resources", list, name))
  const nanos = (container: Json): bigint => asked(container)?.nanos ?? 0n
  let staying = 0n
  let highest = 0n
  for (const container of arrayAt(pod, "spec", "initContainers")) {
    const now = staying + nanos(container)
    if (now > highest) highest = now
    if (isSidecar(container)) staying = now
  }
  const running = arrayAt(pod, "spec", "containers").reduce<bigint>((sum, one) => sum + nanos(one), staying)
  const overhead = Quantity.parse(at(pod, "spec", "overhead", name))?.nanos ?? 0n
  const form = containersOf(pod)
    .map(asked)
    .find((one) => one !== undefined)?.form
  return form === undefined ? undefined : { nanos: (running > highest ? running : highest) + overhead, form }
}

const ofPod = (pod: JsonObject, usage: Map<string, Quantity.Quantity>): void => {
  for (const list of ["requests", "limits"] as const) {
    const names = containersOf(pod).flatMap((one) => Object.keys(objectAt(one, "resources", list) ?? {}))
    for (const name of new Set(names)) {
      const amount = most(pod, list, name)
      if (amount === undefined) continue
      usage.set(`${list}.${name}`, amount)
      if (list === "requests" && plain.has(name)) usage.set(name, amount)
    }
  }
}

const ofClaim = (claim: JsonObject, usage: Map<string, Quantity.Quantity>): void => {
  const storage = Quantity.parse(at(claim, "spec", "resources", "requests", "storage")) ?? times(0)
  usage.set("requests.storage", storage)
  const className = textAt(claim, "spec", "storageClassName")
  if (className === "") return
  const prefix = `${className}.storageclass.storage.k8s.io`
  usage.set(`${prefix}/requests.storage`, storage)
  usage.set(`${prefix}/persistentvolumeclaims`, times(1))
}

const ofService = (service: JsonObject, usage: Map<string, Quantity.Quantity>): void => {
  const type = textAt(service, "spec", "type")
  const balanced = type === "LoadBalancer"
  const ports = arrayAt(service, "spec", "ports")
  const onNodes =
    balanced && at(service, "spec", "allocateLoadBalancerNodePorts") === false
      ? ports.filter((port) => numberAt(port, "nodePort") !== 0)
      : ports
  usage.set("services.loadbalancers", times(balanced ? 1 : 0))
  usage.set("services.nodeports", times(balanced || type === "NodePort" ? onNodes.length : 0))
}

export const of = (kind: Counted, object: JsonObject): Usage => {
  const usage = new Map([[countName(kind), times(1)]])
  if (kind.group === "" && named.has(kind.plural)) usage.set(kind.plural, times(1))
  if (kind.storage === "pods") ofPod(object, usage)
  else if (kind.storage === "persistentvolumeclaims") ofClaim(object, usage)
  else if (kind.storage === "services") ofService(object, usage)
  return usage
}

/** What `next` takes more than `before` did, and nothing of what it takes less or no more. */
export const more = (next: Usage, before: Usage): Usage => {
  const grown = [...next].flatMap(([name, { form, nanos }]) => {
    const added = nanos - (before.get(name)?.nanos ?? 0n)
    return added > 0n ? [[name, { form, nanos: added }] as const] : []
  })
  return new Map(grown)
}

/** Amounts of a quota's status. */
export const recorded = (amounts: JsonObject | undefined, name: string): Quantity.Quantity | undefined =>
  isObject(amounts) ? Quantity.parse(get(amounts, name)) : undefined
