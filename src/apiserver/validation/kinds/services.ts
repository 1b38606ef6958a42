/**
 * Service, Endpoints, EndpointSlice. Source: pkg/apis/core/validation, pkg/apis/discovery/validation. Cluster IPs and node
 * ports are allocated before validation.
 */
import * as Ip from "../../../kube/ip.ts"
import { arrayAt, at, equal, get, numberAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { duplicate, forbidden, invalid, notSupported, Printed, pushAll, required, stringList } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import * as Cidr from "./cidr.ts"
import { isReachedFromOutside } from "../../scheme/defaults/services.ts"
import { qualified } from "../names.ts"
import { specOf } from "./spec.ts"

const affinities = ["ClientIP", "None"]
const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
const protocols = ["SCTP", "TCP", "UDP"]

export const service = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  const type = textAt(spec, "type")
  const ip = textAt(spec, "clusterIP")
  const headless = ip === "None"
  const list = arrayAt(spec, "ports")
  if (list.length === 0 && !headless && type !== "ExternalName") errors.push(required("spec.ports"))
  if (type === "ExternalName") externalName(errors, spec)
  const names = new Set<string>()
  for (const [index, one] of list.entries()) port(errors, `spec.ports[${index}]`, one, names, list.length > 1)
  formats.labels(errors, "spec.selector", get(spec, "selector"))
  choice(errors, "spec.sessionAffinity", textAt(spec, "sessionAffinity"), affinities)
  affinityTime(errors, spec)
  if (ip !== "" && !headless && !Ip.isIP(ip) && type !== "ExternalName") {
    errors.push(invalid("spec.clusterIPs[0]", ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"))
  }
  if (headless && (type === "NodePort" || type === "LoadBalancer")) {
    errors.push(invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`))
  }
  for (const [index, one] of arrayAt(spec, "externalIPs").entries()) {
    const text = typeof one === "string" ? one : ""
    const field = `spec.externalIPs[${index}]`
    const detail = Ip.isIP(text) ? reservedRange(text) : ""
    pushAll(errors, field, text, detail === "" ? formats.ip(text) : [detail])
  }
  choice(errors, "spec.type", type, types)
  sourceRanges(errors, spec)
  trafficPolicies(errors, spec)
  nodePorts(errors, list, type)
  duplicates(errors, list)
}

/** Source: pkg/api/service: GetWarningsForService, without its warnings about the form of addresses. */
export const serviceWarnings = (object: JsonObject): ReadonlyArray<string> => {
  const spec = specOf(object)
  const type = textAt(spec, "type")
  const isExternalName = type === "ExternalName"
  const isHeadless = type === "ClusterIP" && textAt(spec, "clusterIP") === "None"
  const has = (field: string) => textAt(spec, field) !== ""
  const hasExternalIPs = arrayAt(spec, "externalIPs").length > 0
  const rules: ReadonlyArray<readonly [applies: boolean, warning: string]> = [
    [
      at(object, "metadata", "annotations", "service.kubernetes.io/topology-aware-hints") !== undefined,
      "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead"
    ],
    [isHeadless && has("loadBalancerIP"), "spec.loadBalancerIP is ignored for headless services"],
    [isHeadless && hasExternalIPs, "spec.externalIPs is ignored for headless services"],
    [isHeadless && textAt(spec, "sessionAffinity") !== "None", "spec.SessionAffinity is ignored for headless services"],
    [
      hasExternalIPs && !isHeadless && !isExternalName,
      "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    ],
    [hasExternalIPs && isExternalName, 'spec.externalIPs is ignored when spec.type is "ExternalName"'],
    [!isExternalName && has("externalName"), 'spec.externalName is ignored when spec.type is not "ExternalName"'],
    [
      textAt(spec, "trafficDistribution") === "PreferClose",
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'
    ]
  ]
  return rules.flatMap(([applies, warning]) => (applies ? [warning] : []))
}

const choice = (errors: Errors, field: string, value: string, supported: ReadonlyArray<string>): void => {
  if (value === "") errors.push(required(field))
  else if (!supported.includes(value)) errors.push(notSupported(field, value, supported))
}

const externalName = (errors: Errors, spec: JsonObject): void => {
  const name = textAt(spec, "externalName")
  const trimmed = name.replace(/\.$/, "")
  if (name !== "") pushAll(errors, "spec.externalName", name, formats.dnsSubdomain(trimmed))
  else errors.push(required("spec.externalName"))
  const ip = textAt(spec, "clusterIP")
  if (ip !== "" && ip !== "None") {
    errors.push(forbidden("spec.clusterIPs", "may not be set when `type` is 'ExternalName'"))
  }
}

const sourceRanges = (errors: Errors, spec: JsonObject): void => {
  const list = arrayAt(spec, "loadBalancerSourceRanges")
  // kube-apiserver writes this field path with a capital L.
  const field = "spec.LoadBalancerSourceRanges"
  if (list.length > 0 && textAt(spec, "type") !== "LoadBalancer") {
    errors.push(forbidden(field, "may only be used when `type` is 'LoadBalancer'"))
  }
  for (const [index, one] of list.entries()) {
    const text = typeof one === "string" ? one.trim() : ""
    if (Cidr.parse(text) === undefined) errors.push(invalid(`${field}[${index}]`, text, formats.noCidr))
  }
}

const policies = ["Cluster", "Local"]

/** External and internal traffic policy, and the health check node port that depends on the former. */
const trafficPolicies = (errors: Errors, spec: JsonObject): void => {
  const external = textAt(spec, "externalTrafficPolicy")
  const field = "spec.externalTrafficPolicy"
  if (isReachedFromOutside(spec)) choice(errors, field, external, policies)
  else if (external !== "") {
    errors.push(invalid(field, external, "may only be set for externally-accessible services"))
  }
  const checked = textAt(spec, "type") === "LoadBalancer" && external === "Local"
  const port = numberAt(spec, "healthCheckNodePort")
  if (!checked && port !== 0) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    errors.push(invalid("spec.healthCheckNodePort", port, detail))
  }
  const internal = textAt(spec, "internalTrafficPolicy")
  if (internal !== "" && !policies.includes(internal)) {
    errors.push(notSupported("spec.internalTrafficPolicy", internal, policies))
  }
}

/** Maximum session affinity timeout: one day, in seconds. */
const maxAffinitySeconds = 86_400

const affinityTime = (errors: Errors, spec: JsonObject): void => {
  const config = get(spec, "sessionAffinityConfig")
  const field = "spec.sessionAffinityConfig"
  const sticky = textAt(spec, "sessionAffinity") === "ClientIP"
  if (!sticky && config !== undefined) {
    errors.push(forbidden(field, "must not be set when session affinity is None"))
  }
  const seconds = at(config, "clientIP", "timeoutSeconds")
  if (sticky && typeof seconds === "number" && (seconds <= 0 || seconds > maxAffinitySeconds)) {
    const detail = `must be greater than 0 and less than ${maxAffinitySeconds}`
    errors.push(invalid(`${field}.clientIP.timeoutSeconds`, seconds, detail))
  }
}

const port = (errors: Errors, path: string, one: Json, names: Set<string>, named: boolean): void => {
  const name = textAt(one, "name")
  if (named && name === "") errors.push(required(`${path}.name`))
  else if (name !== "") {
    pushAll(errors, `${path}.name`, name, formats.dnsLabel(name))
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name))
    names.add(name)
  }
  pushAll(errors, `${path}.port`, numberAt(one, "port"), formats.portNumber(numberAt(one, "port")))
  choice(errors, `${path}.protocol`, textAt(one, "protocol"), protocols)
  const target = at(one, "targetPort")
  formats.port(errors, `${path}.targetPort`, target)
  const application = at(one, "appProtocol")
  if (typeof application === "string") {
    pushAll(errors, `${path}.appProtocol`, application, qualified(application))
  }
}

const nodePorts = (errors: Errors, list: ReadonlyArray<Json>, type: string): void => {
  const taken = new Set<string>()
  for (const [index, one] of list.entries()) {
    const number = numberAt(one, "nodePort")
    if (number === 0) continue
    const field = `spec.ports[${index}].nodePort`
    if (type === "ClusterIP" || type === "ExternalName") {
      errors.push(forbidden(field, "may not be used when `type` is 'ClusterIP'"))
    }
    const key = `${textAt(one, "protocol")}/${number}`
    if (taken.has(key)) errors.push(duplicate(field, number))
    taken.add(key)
  }
}

const printedPort = (one: Json): Printed =>
  new Printed(
    `core.ServicePort{Name:"", Protocol:${JSON.stringify(textAt(one, "protocol"))}, AppProtocol:(*string)(nil), Port:${numberAt(one, "port")}, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}`
  )

const duplicates = (errors: Errors, list: ReadonlyArray<Json>): void => {
  const taken = new Set<string>()
  for (const [index, one] of list.entries()) {
    const key = `${textAt(one, "protocol")}/${numberAt(one, "port")}`
    if (taken.has(key)) errors.push(duplicate(`spec.ports[${index}]`, printedPort(one)))
    taken.add(key)
  }
}

/** clusterIP is immutable, unless the type changes from or to ExternalName. */
export const serviceUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const type = textAt(object, "spec", "type")
  const ip = textAt(object, "spec", "clusterIP")
  const old = textAt(before, "spec", "clusterIP")
  if (old === "" || textAt(before, "spec", "type") === "ExternalName" || type === "ExternalName" || ip === old) return
  const list = get(specOf(object), "clusterIPs")
  if (ip === "")
    errors.push(invalid("spec.clusterIPs[0]", stringList(list ?? []), "primary clusterIP can not be unset"))
  else errors.push(invalid("spec.clusterIPs[0]", stringList(list), "may not change once set"))
}

const address = (errors: Errors, field: string, text: string): void => {
  pushAll(errors, field, text, formats.ip(text))
  // kube-apiserver reports an invalid address twice: as a field value, and as an endpoint address.
  const detail = Ip.isIP(text) ? reservedRange(text) : "must be a valid IP address"
  if (detail !== "") errors.push(invalid(field, text, detail))
}

/** Why an endpoint cannot have this address; empty when it can. */
const reservedRange = (text: string): string => {
  if (text === "0.0.0.0" || text === "::") return "may not be unspecified (0.0.0.0 or ::)"
  if (text.startsWith("127.") || text === "::1") return "may not be in the loopback range (127.0.0.0/8, ::1/128)"
  if (text.startsWith("169.254.")) return "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
  return text.startsWith("224.0.0.") ? "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)" : ""
}

export const endpoints = (errors: Errors, object: JsonObject): void => {
  for (const [index, subset] of arrayAt(object, "subsets").entries()) {
    const path = `subsets[${index}]`
    const ready = arrayAt(subset, "addresses")
    const waiting = arrayAt(subset, "notReadyAddresses")
    if (ready.length === 0 && waiting.length === 0) {
      errors.push(required(path, "must specify `addresses` or `notReadyAddresses`"))
    }
    for (const [list, all] of [
      ["addresses", ready],
      ["notReadyAddresses", waiting]
    ] as const) {
      for (const [position, one] of all.entries()) {
        address(errors, `${path}.${list}[${position}].ip`, textAt(one, "ip"))
        const host = textAt(one, "hostname")
        if (host !== "") pushAll(errors, `${path}.${list}[${position}].hostname`, host, formats.dnsLabel(host))
      }
    }
    endpointPorts(errors, `${path}.ports`, arrayAt(subset, "ports"))
  }
}

const endpointPorts = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  for (const [index, one] of list.entries()) {
    const path = `${field}[${index}]`
    const name = textAt(one, "name")
    if (list.length > 1 && name === "") errors.push(required(`${path}.name`))
    else if (name !== "") pushAll(errors, `${path}.name`, name, formats.dnsLabel(name))
    pushAll(errors, `${path}.port`, numberAt(one, "port"), formats.portNumber(numberAt(one, "port")))
    choice(errors, `${path}.protocol`, textAt(one, "protocol"), protocols)
  }
}

const addressTypes = ["FQDN", "IPv4", "IPv6"]
const mostAddresses = 100
const mostEndpoints = 1000

export const endpointSlice = (errors: Errors, object: JsonObject): void => {
  const type = textAt(object, "addressType")
  choice(errors, "addressType", type, addressTypes)
  const all = arrayAt(object, "endpoints")
  if (all.length > mostEndpoints) {
    errors.push({
      field: "endpoints",
      reason: "FieldValueTooMany",
      message: `Too many: ${all.length}: must have at most ${mostEndpoints} items`
    })
  }
  for (const [index, one] of all.entries()) {
    const path = `endpoints[${index}]`
    const list = arrayAt(one, "addresses")
    if (list.length === 0) errors.push(required(`${path}.addresses`, "must contain at least 1 address"))
    if (list.length > mostAddresses) {
      errors.push({
        field: `${path}.addresses`,
        reason: "FieldValueTooMany",
        message: `Too many: ${list.length}: must have at most ${mostAddresses} items`
      })
    }
    for (const [position, text] of list.entries()) sliceAddress(errors, `${path}.addresses[${position}]`, text, type)
    const host = textAt(one, "hostname")
    if (host !== "") pushAll(errors, `${path}.hostname`, host, formats.dnsLabel(host))
  }
  const names = new Set<string>()
  for (const [index, one] of arrayAt(object, "ports").entries()) {
    const path = `ports[${index}]`
    const name = textAt(one, "name")
    if (name !== "") pushAll(errors, `${path}.name`, name, formats.dnsLabel(name))
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name))
    names.add(name)
    choice(errors, `${path}.protocol`, textAt(one, "protocol"), protocols)
  }
}

const sliceAddress = (errors: Errors, field: string, value: Json, type: string): void => {
  const text = typeof value === "string" ? value : ""
  if (type === "IPv4") {
    if (!Ip.isIPv4(text)) errors.push(invalid(field, text, "must be a valid IPv4 address"))
    else address(errors, field, text)
  } else if (type === "IPv6") {
    if (!Ip.isIP(text) || Ip.isIPv4(text)) errors.push(invalid(field, text, "must be a valid IPv6 address"))
    else address(errors, field, text)
  } else if (type === "FQDN") pushAll(errors, field, text, formats.dnsSubdomain(text))
}

export const endpointSliceUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const type = get(object, "addressType")
  if (!equal(type, get(before, "addressType"))) errors.push(invalid("addressType", type, "field is immutable"))
}
