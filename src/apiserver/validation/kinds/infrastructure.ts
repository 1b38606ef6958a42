/**
 * The resources of `../../scheme/infrastructureResources.ts`: what is required, and what an update cannot change. Expressions, selectors of devices and
 * certificate requests are not parsed. Source: pkg/apis/{admissionregistration,certificates,flowcontrol,networking,node,resource,storage}/validation.
 */
import { arrayAt, at, equal, get, objectAt, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import * as Ip from "../../../kube/ip.ts"
import * as Cidr from "./cidr.ts"
import { invalid, notSupported, Printed, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"

type Path = ReadonlyArray<string>

/** Reports each of the fields that is empty. */
const need = (errors: Errors, object: JsonObject, ...paths: ReadonlyArray<Path>): void => {
  for (const path of paths) {
    const value = at(object, ...path)
    if (value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)) {
      errors.push(required(path.join(".")))
    }
  }
}

/** An update that changes one of the fields. */
const keep =
  (...paths: ReadonlyArray<Path>) =>
  (errors: Errors, object: JsonObject, before: JsonObject): void => {
    for (const path of paths) {
      const value = at(object, ...path)
      if (equal(value, at(before, ...path))) continue
      const shown =
        value === undefined || typeof value === "object" ? new Printed(JSON.stringify(value ?? null)) : value
      errors.push(invalid(path.join("."), shown, "field is immutable"))
    }
  }

/** Below it a certificate would expire before it is in use. Source: pkg/apis/certificates/validation: ValidateCertificateSigningRequestCreate. */
const shortestCertificate = 600

export const signingRequest = (errors: Errors, object: JsonObject): void => {
  need(errors, object, ["spec", "request"], ["spec", "usages"], ["spec", "signerName"])
  const seconds = at(object, "spec", "expirationSeconds")
  if (typeof seconds === "number" && seconds < shortestCertificate) {
    errors.push(
      invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 600 seconds (10 minutes)")
    )
  }
}

export const runtimeClass = (errors: Errors, object: JsonObject): void => {
  const handler = textAt(object, "handler")
  pushAll(errors, "handler", handler, formats.dnsLabel(handler))
}

export const runtimeClassUpdate = keep(["handler"])

export const ipAddress = (errors: Errors, object: JsonObject): void => {
  const address = textAt(object, "metadata", "name")
  const canonical = Ip.canonical(address)
  if (canonical === undefined) pushAll(errors, "metadata.name", address, formats.ip(address))
  else if (canonical !== address) {
    errors.push(invalid("metadata.name", address, `must be in canonical form ("${canonical}")`))
  }
  if (objectAt(object, "spec", "parentRef") === undefined) errors.push(required("spec.parentRef"))
  else need(errors, object, ["spec", "parentRef", "resource"], ["spec", "parentRef", "name"])
}

export const ipAddressUpdate = keep(["spec", "parentRef"])

/** One for each family of addresses. */
const mostRanges = 2

export const serviceCidr = (errors: Errors, object: JsonObject): void => {
  const ranges = arrayAt(object, "spec", "cidrs")
  if (ranges.length === 0) errors.push(required("spec.cidrs", "at least one CIDR required"))
  if (ranges.length > mostRanges) {
    errors.push(invalid("spec.cidrs", new Printed(JSON.stringify(ranges)), "may only hold up to 2 values"))
  }
  for (const [index, range] of ranges.entries()) {
    if (typeof range !== "string" || Cidr.parse(range) === undefined) {
      errors.push(invalid(`spec.cidrs[${index}]`, range, formats.noCidr))
    }
  }
}

export const storageCapacity = (errors: Errors, object: JsonObject): void => need(errors, object, ["storageClassName"])

export const storageCapacityUpdate = keep(["nodeTopology"], ["storageClassName"])

export const volumeAttributesClass = (errors: Errors, object: JsonObject): void => need(errors, object, ["driverName"])

export const volumeAttributesClassUpdate = keep(["driverName"], ["parameters"])

export const specUpdate = keep(["spec"])

export const resourceSlice = (errors: Errors, object: JsonObject): void =>
  need(errors, object, ["spec", "driver"], ["spec", "pool", "name"])

export const resourceSliceUpdate = keep(["spec", "nodeName"], ["spec", "driver"], ["spec", "pool", "name"])

const highestPrecedence = 10_000

export const flowSchema = (errors: Errors, object: JsonObject): void => {
  const precedence = at(object, "spec", "matchingPrecedence")
  if (typeof precedence === "number" && (precedence < 1 || precedence > highestPrecedence)) {
    const detail = precedence < 1 ? "must be a positive value" : `must not be greater than ${highestPrecedence}`
    errors.push(invalid("spec.matchingPrecedence", precedence, detail))
  }
  need(errors, object, ["spec", "priorityLevelConfiguration", "name"])
}

const levelTypes = ["Exempt", "Limited"]

export const priorityLevel = (errors: Errors, object: JsonObject): void => {
  const type = textAt(object, "spec", "type")
  if (!levelTypes.includes(type)) errors.push(notSupported("spec.type", type, levelTypes))
  else if (type === "Limited") need(errors, object, ["spec", "limited"])
}

export const mutatingPolicy = (errors: Errors, object: JsonObject): void => {
  need(errors, object, ["spec", "matchConstraints"], ["spec", "mutations"], ["spec", "reinvocationPolicy"])
  for (const [index, one] of arrayAt(object, "spec", "mutations").entries()) {
    if (get(objectAt(one) ?? {}, "patchType") === undefined) errors.push(required(`spec.mutations[${index}].patchType`))
  }
}

export const mutatingPolicyBinding = (errors: Errors, object: JsonObject): void =>
  need(errors, object, ["spec", "policyName"])
