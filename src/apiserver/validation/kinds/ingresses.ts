/** Ingress and IngressClass. Source: pkg/apis/networking/validation. */
import * as Ip from "../../../kube/ip.ts"
import { arrayAt, at, get, isObject, numberAt, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as names from "../names.ts"
import { forbidden, invalid, notSupported, Printed, pushAll, required, tooLong } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import { specOf } from "./spec.ts"

export const ingress = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  const rules = arrayAt(spec, "rules")
  const fallback = get(spec, "defaultBackend")
  if (rules.length === 0 && fallback === undefined) {
    const printed = new Printed("[]networking.IngressRule(nil)")
    errors.push(invalid("spec", printed, "either `defaultBackend` or `rules` must be specified"))
  }
  if (fallback !== undefined) backend(errors, "spec.defaultBackend", fallback)
  for (const [index, one] of rules.entries()) rule(errors, `spec.rules[${index}]`, one)
  for (const [index, one] of arrayAt(spec, "tls").entries()) tls(errors, `spec.tls[${index}]`, one)
  const className = get(spec, "ingressClassName")
  if (typeof className === "string") {
    pushAll(errors, "spec.ingressClassName", className, formats.dnsSubdomain(className))
  }
}

const annotation = "kubernetes.io/ingress.class"

/** A new Ingress can have either the class annotation or spec.ingressClassName, not both. */
export const newIngress = (errors: Errors, object: JsonObject): void => {
  const old = at(object, "metadata", "annotations", annotation)
  const name = at(object, "spec", "ingressClassName")
  if (old !== undefined && name !== undefined && old !== name) {
    const detail = "must match `ingressClassName` when both are specified"
    errors.push(invalid(`annotations.${annotation}`, old, detail))
  }
}

const hostName = (errors: Errors, field: string, host: string): void =>
  pushAll(errors, field, host, host.includes("*") ? formats.wildcardDomain(host) : formats.dnsSubdomain(host))

const tls = (errors: Errors, path: string, one: Json): void => {
  for (const [index, host] of arrayAt(one, "hosts").entries()) {
    if (typeof host === "string") hostName(errors, `${path}.hosts[${index}]`, host)
  }
  const secret = textAt(one, "secretName")
  if (secret !== "") pushAll(errors, `${path}.secretName`, secret, formats.dnsSubdomain(secret))
}

const rule = (errors: Errors, path: string, one: Json): void => {
  const host = textAt(one, "host")
  if (host !== "") {
    if (Ip.isIP(host)) errors.push(invalid(`${path}.host`, host, "must be a DNS name, not an IP address"))
    hostName(errors, `${path}.host`, host)
  }
  const http = at(one, "http")
  if (!isObject(http)) return
  const paths = arrayAt(http, "paths")
  if (paths.length === 0) errors.push(required(`${path}.http.paths`))
  for (const [index, each] of paths.entries()) httpPath(errors, `${path}.http.paths[${index}]`, each)
}

const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"]
const badSequences = ["//", "/./", "/../", "%2f", "%2F"]
const badEndings = ["/..", "/."]

const httpPath = (errors: Errors, path: string, one: Json): void => {
  const type = at(one, "pathType")
  if (type === undefined) {
    errors.push(required(`${path}.pathType`, "pathType must be specified"))
    return
  }
  const text = textAt(one, "path")
  const own = `${path}.path`
  const wrong = (detail: string): void => void errors.push(invalid(own, text, detail))
  if (type === "ImplementationSpecific") {
    if (text !== "" && !text.startsWith("/")) wrong("must be an absolute path")
  } else if (type === "Exact" || type === "Prefix") {
    if (!text.startsWith("/")) wrong("must be an absolute path")
    for (const bad of badSequences) if (text.includes(bad)) wrong(`must not contain '${bad}'`)
    for (const bad of badEndings) if (text.endsWith(bad)) wrong(`cannot end with '${bad}'`)
  } else errors.push(notSupported(`${path}.pathType`, type, pathTypes))
  backend(errors, `${path}.backend`, at(one, "backend"))
}

const backend = (errors: Errors, path: string, value: Json | undefined): void => {
  const resource = objectAt(value, "resource")
  const service = objectAt(value, "service")
  const wrong = (detail: string): void => void errors.push(invalid(path, "", detail))
  if (resource !== undefined && service !== undefined) wrong("cannot set both resource and service backends")
  else if (resource !== undefined) reference(errors, `${path}.resource`, resource)
  else if (service === undefined) wrong("resource or service backend is required")
  else {
    const name = textAt(service, "name")
    if (name === "") errors.push(required(`${path}.service.name`))
    else pushAll(errors, `${path}.service.name`, name, names.objectName({ nameRule: "service" }, name))
    const port = textAt(service, "port", "name")
    const number = numberAt(service, "port", "number")
    if (port !== "" && number !== 0) wrong("cannot set both port name & port number")
    else if (port !== "") pushAll(errors, `${path}.service.port.name`, port, formats.portName(port))
    else if (number !== 0) pushAll(errors, `${path}.service.port.number`, number, formats.portNumber(number))
    else errors.push(required(path, "port name or number is required"))
  }
}

/** A reference to an object in the same namespace (TypedLocalObjectReference). */
const reference = (errors: Errors, field: string, value: JsonObject): void => {
  const group = get(value, "apiGroup")
  if (typeof group === "string") pushAll(errors, `${field}.apiGroup`, group, formats.dnsSubdomain(group))
  for (const key of ["kind", "name"]) {
    const text = textAt(value, key)
    if (text === "") errors.push(required(`${field}.${key}`))
    else pushAll(errors, `${field}.${key}`, text, names.objectName({ nameRule: "path" }, text))
  }
}

const longestController = 250
const scopes = ["Cluster", "Namespace"]

export const ingressClass = (errors: Errors, object: JsonObject): void => {
  const controller = textAt(object, "spec", "controller")
  if (controller === "") errors.push(required("spec.controller"))
  else {
    if (controller.length > longestController) errors.push(tooLong("spec.controller", longestController))
    const [domain = "", ...rest] = controller.split("/")
    const wrong = rest.join("/") === "" || formats.dnsSubdomain(domain).length > 0
    const detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
    if (wrong) errors.push(invalid("spec.controller", controller, detail))
  }
  const parameters = objectAt(object, "spec", "parameters")
  if (parameters === undefined) return
  const field = "spec.parameters"
  reference(errors, field, parameters)
  const scope = textAt(parameters, "scope")
  const namespace = get(parameters, "namespace")
  if (!scopes.includes(scope)) errors.push(notSupported(`${field}.scope`, scope, scopes))
  else if (scope === "Cluster" && namespace !== undefined) {
    errors.push(forbidden(`${field}.namespace`, "`parameters.scope` is set to 'Cluster'"))
  } else if (scope === "Namespace" && namespace === undefined) {
    errors.push(required(`${field}.namespace`, "`parameters.scope` is set to 'Namespace'"))
  }
}

export const ingressClassUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const controller = at(object, "spec", "controller")
  if (controller !== at(before, "spec", "controller")) {
    errors.push(invalid("spec.controller", controller, "field is immutable"))
  }
}
