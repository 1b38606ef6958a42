/**
 * Allocates cluster IPs and node ports of Services in ascending order, which makes runs repeatable. What is allocated is read
 * from the stored Services; no other state is kept. Source: pkg/registry/core/service/storage, with its default ranges.
 */
import { arrayAt, at, ensureObject, get, isObject, numberAt, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as Version from "../storage/Version.ts"
import * as StatusError from "../StatusError.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import type { RequestContext } from "../RequestContext.ts"
import { select } from "../storage/Collection.ts"
import { isReachedFromOutside } from "../scheme/defaults/services.ts"
import { invalid } from "./kinds/field.ts"

/** 10.96.0.0/12; the first address is that of the API server. */
const firstAddress = 0x0a_60_00_01
const lastAddress = 0x0a_6f_ff_fe

const firstPort = 30_000
const lastPort = 32_767

const everything = { namespace: "", labels: [], fields: [] } as const

const addressText = (address: number): string => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".")

/** The answer of `allocate` for objects without addresses. */
export const none = (): boolean => true

/**
 * Allocates for a Service, in place; `before` is the stored state. Refuses what another Service has. Nothing is reserved: the result answers, when the Service is stored, whether
 * its addresses and ports are still free.
 */
export const allocate = (
  context: RequestContext,
  resource: ResourceDefinition,
  object: JsonObject,
  before?: JsonObject
): (() => boolean) | StatusError.StatusError => {
  if (resource.kind !== "Service" || resource.group !== "") return none
  const collection = context.state.collection(resource.storage)
  const { latest } = collection
  const refusal = assign(context, resource, object, before)
  return refusal ?? (() => collection.latest === latest || areFree(context, resource, object))
}

const areFree = (context: RequestContext, resource: ResourceDefinition, object: JsonObject): boolean => {
  const own = Version.keyOf(textAt(object, "metadata", "namespace"), textAt(object, "metadata", "name"))
  const ip = textAt(object, "spec", "clusterIP")
  const ports = new Set(portsOf(object).filter((port) => port !== 0))
  return stored(context, resource).every(
    (other) =>
      other.key === own ||
      ((ip === "" || ip === "None" || other.fields?.["spec.clusterIP"] !== ip) &&
        (ports.size === 0 || portsOf(Version.parse(other)).every((port) => !ports.has(port))))
  )
}

const assign = (
  context: RequestContext,
  resource: ResourceDefinition,
  object: JsonObject,
  before: JsonObject | undefined
): StatusError.StatusError | undefined => {
  const spec = ensureObject(object, "spec")
  if (before !== undefined) keep(spec, objectAt(before, "spec") ?? {})
  const type = textAt(spec, "type")
  if (type === "ExternalName") return undefined
  const ip = textAt(spec, "clusterIP")
  const own = textAt(before, "spec", "clusterIP")
  const refusal = ip !== "None" && (ip === "" || ip !== own) ? address(context, resource, object, spec, ip) : undefined
  if (refusal !== undefined) return refusal
  const list = arrayAt(spec, "clusterIPs")
  if (list.length === 0) spec["clusterIPs"] = [textAt(spec, "clusterIP")]
  spec["ipFamilies"] ??= ["IPv4"]
  spec["ipFamilyPolicy"] ??= "SingleStack"
  if (type !== "NodePort" && type !== "LoadBalancer") return undefined
  const metadata = objectAt(before ?? object, "metadata")
  return nodePorts(context, resource, spec, Version.keyOf(textAt(metadata, "namespace"), textAt(metadata, "name")))
}

/** An update that omits an allocated value keeps it. */
const keep = (spec: JsonObject, old: JsonObject): void => {
  const type = textAt(spec, "type")
  const needed = textAt(old, "type") !== "ExternalName" && type !== "ExternalName"
  if (needed && textAt(spec, "clusterIP") === "" && arrayAt(spec, "clusterIPs").length === 0) {
    for (const key of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
      const value = get(old, key)
      if (value !== undefined) spec[key] ??= value
    }
  }
  dropUnneeded(spec, old)
  if (type !== "NodePort" && type !== "LoadBalancer") return
  for (const port of arrayAt(spec, "ports")) {
    if (!isObject(port) || numberAt(port, "nodePort") !== 0) continue
    const same = arrayAt(old, "ports").find(
      (one) => numberAt(one, "port") === numberAt(port, "port") && textAt(one, "protocol") === textAt(port, "protocol")
    )
    const number = numberAt(same, "nodePort")
    if (number !== 0) port["nodePort"] = number
  }
}

const onNodes = (spec: JsonObject): boolean => ["NodePort", "LoadBalancer"].includes(textAt(spec, "type"))
const isBalanced = (spec: JsonObject): boolean => textAt(spec, "type") === "LoadBalancer"
const isChecked = (spec: JsonObject): boolean => isBalanced(spec) && textAt(spec, "externalTrafficPolicy") === "Local"

/** Fields that depend on the type of the Service, and whether a spec needs them. */
const dependent: ReadonlyArray<readonly [field: string, needs: (spec: JsonObject) => boolean]> = [
  ["healthCheckNodePort", isChecked],
  ["externalTrafficPolicy", isReachedFromOutside],
  ["allocateLoadBalancerNodePorts", isBalanced],
  ["loadBalancerClass", isBalanced]
]

/** A Service that changes its type releases what it no longer needs, unless the client sets it in the same update. */
const dropUnneeded = (spec: JsonObject, old: JsonObject): void => {
  for (const [field, needs] of dependent) {
    if (needs(old) && !needs(spec) && get(spec, field) === get(old, field)) delete spec[field]
  }
  if (!onNodes(old) || onNodes(spec)) return
  const taken = new Set(arrayAt(old, "ports").map((port) => numberAt(port, "nodePort")))
  for (const port of arrayAt(spec, "ports")) {
    if (isObject(port) && taken.has(numberAt(port, "nodePort"))) delete port["nodePort"]
  }
}

/** The address of the Service `kubernetes`. */
export const serverAddress = addressText(firstAddress)

const stored = (context: RequestContext, resource: ResourceDefinition): ReadonlyArray<Version.Version> =>
  select(context.state.collection(resource.storage), everything, context.state.log.revision())

const address = (
  context: RequestContext,
  resource: ResourceDefinition,
  object: JsonObject,
  spec: JsonObject,
  asked: string
): StatusError.StatusError | undefined => {
  const taken = new Set(stored(context, resource).map((one) => one.fields?.["spec.clusterIP"] ?? ""))
  if (asked !== "") {
    if (!taken.has(asked)) return undefined
    return StatusError.invalid(resource, textAt(object, "metadata", "name"), [
      invalid("spec.clusterIPs", [asked], `failed to allocate IP ${asked}: provided IP is already allocated`)
    ])
  }
  // The first address is that of the Service `kubernetes`.
  for (let next = firstAddress + 1; next <= lastAddress; next++) {
    const text = addressText(next)
    if (taken.has(text)) continue
    spec["clusterIP"] = text
    return undefined
  }
  return StatusError.internal("failed to allocate a serviceIP: range is full")
}

const portsOf = (service: Json | undefined): ReadonlyArray<number> =>
  arrayAt(service, "spec", "ports").map((port) => numberAt(port, "nodePort"))

const nodePorts = (
  context: RequestContext,
  resource: ResourceDefinition,
  spec: JsonObject,
  own: string
): StatusError.StatusError | undefined => {
  const ports = arrayAt(spec, "ports").filter(isObject)
  const holders = stored(context, resource).filter((one) => one.key !== own && one.text.includes('"nodePort"'))
  const taken = new Set(holders.flatMap((one) => portsOf(Version.parse(one))))
  for (const [index, port] of ports.entries()) {
    const asked = numberAt(port, "nodePort")
    if (asked !== 0 && (taken.has(asked) || asked < firstPort || asked > lastPort)) {
      const detail = taken.has(asked)
        ? "provided port is already allocated"
        : `provided port is not in the valid range. The range of valid ports is ${firstPort}-${lastPort}`
      return StatusError.invalid(resource, own.split("/").at(-1) ?? "", [
        invalid(`spec.ports[${index}].nodePort`, asked, detail)
      ])
    }
  }
  for (const port of ports) taken.add(numberAt(port, "nodePort"))
  for (const port of ports) {
    if (numberAt(port, "nodePort") !== 0) continue
    let next = firstPort
    while (taken.has(next)) next++
    if (next > lastPort || at(spec, "allocateLoadBalancerNodePorts") === false) return undefined
    port["nodePort"] = next
    taken.add(next)
  }
  return undefined
}
