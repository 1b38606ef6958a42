/** NetworkPolicy. Source: pkg/apis/networking/validation: ValidateNetworkPolicy. */
import { arrayAt, get, isObject, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as Cidr from "./cidr.ts"
import { forbidden, invalid, notSupported, Printed, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import { specOf } from "./spec.ts"

const protocols = ["TCP", "UDP", "SCTP"]
const directions = ["Ingress", "Egress"]

export const networkPolicy = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  formats.labelSelector(errors, "spec.podSelector", get(spec, "podSelector"))
  for (const [list, peers] of [
    ["ingress", "from"],
    ["egress", "to"]
  ] as const) {
    for (const [index, rule] of arrayAt(spec, list).entries()) {
      const path = `spec.${list}[${index}]`
      for (const [position, one] of arrayAt(rule, "ports").entries()) port(errors, `${path}.ports[${position}]`, one)
      for (const [position, one] of arrayAt(rule, peers).entries()) peer(errors, `${path}.${peers}[${position}]`, one)
    }
  }
  const types = arrayAt(spec, "policyTypes")
  if (types.length > directions.length) {
    const list = types.map((type) => JSON.stringify(type)).join(", ")
    const printed = new Printed(`[]networking.PolicyType{${list}}`)
    errors.push(invalid("spec.policyTypes", printed, "may not specify more than two policyTypes"))
    return
  }
  for (const [index, type] of types.entries()) {
    if (typeof type !== "string" || !directions.includes(type)) {
      errors.push(notSupported(`spec.policyTypes[${index}]`, type, directions))
    }
  }
}

const port = (errors: Errors, path: string, one: Json): void => {
  if (!isObject(one)) return
  const protocol = textAt(one, "protocol")
  if (protocol !== "" && !protocols.includes(protocol)) {
    errors.push(notSupported(`${path}.protocol`, protocol, protocols))
  }
  const first = get(one, "port")
  const last = get(one, "endPort")
  const wrongEnd = (detail: string): void => {
    if (last !== undefined) errors.push(invalid(`${path}.endPort`, last, detail))
  }
  if (first === undefined) wrongEnd("may not be specified when `port` is not specified")
  else if (typeof first === "string") wrongEnd("may not be specified when `port` is non-numeric")
  if (first !== undefined) formats.port(errors, `${path}.port`, first)
  if (typeof first !== "number" || typeof last !== "number") return
  if (last < first) wrongEnd("must be greater than or equal to `port`")
  pushAll(errors, `${path}.endPort`, last, formats.portNumber(last))
}

const peer = (errors: Errors, path: string, one: Json): void => {
  const selectors = ["podSelector", "namespaceSelector"].filter((key) => objectAt(one, key) !== undefined)
  for (const key of selectors) formats.labelSelector(errors, `${path}.${key}`, objectAt(one, key))
  const range = objectAt(one, "ipBlock")
  if (range !== undefined) block(errors, `${path}.ipBlock`, range)
  if (selectors.length === 0 && range === undefined) errors.push(required(path, "must specify a peer"))
  else if (selectors.length > 0 && range !== undefined) {
    errors.push(forbidden(path, "may not specify both ipBlock and another peer"))
  }
}

const block = (errors: Errors, path: string, range: JsonObject): void => {
  const text = textAt(range, "cidr")
  if (text === "") {
    errors.push(required(`${path}.cidr`))
    return
  }
  const outer = Cidr.parse(text)
  if (outer === undefined) {
    errors.push(invalid(`${path}.cidr`, text, formats.noCidr))
    return
  }
  for (const [index, one] of arrayAt(range, "except").entries()) {
    const field = `${path}.except[${index}]`
    const inner = typeof one === "string" ? Cidr.parse(one) : undefined
    if (inner === undefined) errors.push(invalid(field, one, formats.noCidr))
    else if (!Cidr.isWithin(inner, outer)) errors.push(invalid(field, one, "must be a strict subset of `cidr`"))
  }
}
