/** Printer columns of the resources in `../scheme/infrastructureResources.ts`. Source: pkg/printers/internalversion: AddHandlers of 1.36. */
import * as HumanDuration from "../../kube/humanDuration.ts"
import { arrayAt, at, get, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { PrinterColumn } from "../scheme/ResourceDefinition.ts"
import { age, type Cell, integer, labelSelector, name, number, orNone, path, text } from "./columns.ts"

const texts = (list: ReadonlyArray<Json>): ReadonlyArray<string> =>
  list.map((one) => (typeof one === "string" ? one : ""))

const health =
  (part: string, none: string): Cell =>
  (object) => {
    const found = arrayAt(object, "conditions").find((one) => textAt(one, "type") === "Healthy")
    return textAt(found, part) || none
  }

export const componentStatus: ReadonlyArray<PrinterColumn> = [
  name,
  text("Status", (object) => (health("status", "")(object, 0) === "True" ? "Healthy" : "Unhealthy")),
  text("Message", health("message", "")),
  text("Error", health("error", ""))
]

/** Approved or Denied, otherwise Pending; then Failed, and Issued where there is a certificate. */
const requestCondition: Cell = (object) => {
  const types = arrayAt(object, "status", "conditions").map((one) => textAt(one, "type"))
  const decision = types.includes("Denied") ? "Denied" : types.includes("Approved") ? "Approved" : "Pending"
  const isIssued = textAt(object, "status", "certificate") !== ""
  return `${decision}${types.includes("Failed") ? ",Failed" : ""}${isIssued ? ",Issued" : ""}`
}

export const signingRequest: ReadonlyArray<PrinterColumn> = [
  name,
  age,
  text("SignerName", (object) => orNone(textAt(object, "spec", "signerName"))),
  text("Requestor", path("spec", "username")),
  text("RequestedDuration", (object) => {
    const seconds = at(object, "spec", "expirationSeconds")
    return typeof seconds === "number" ? HumanDuration.humanDuration(seconds * 1000) : "<none>"
  }),
  text("Condition", requestCondition)
]

export const runtimeClass: ReadonlyArray<PrinterColumn> = [name, text("Handler", path("handler")), age]

export const ipAddress: ReadonlyArray<PrinterColumn> = [
  name,
  text("ParentRef", (object) => {
    const parent = objectAt(object, "spec", "parentRef")
    if (parent === undefined) return "<none>"
    const [group, namespace] = [textAt(parent, "group"), textAt(parent, "namespace")]
    const kind = `${textAt(parent, "resource")}${group === "" ? "" : `.${group}`}`.toLowerCase()
    return `${kind}${namespace === "" ? "" : `/${namespace}`}/${textAt(parent, "name")}`
  }),
  age
]

export const serviceCidr: ReadonlyArray<PrinterColumn> = [
  name,
  text("CIDRs", (object) => texts(arrayAt(object, "spec", "cidrs")).join(",")),
  age
]

export const storageCapacity: ReadonlyArray<PrinterColumn> = [
  name,
  text("StorageClassName", path("storageClassName")),
  text("Capacity", (object) => textAt(object, "capacity") || "<unset>")
]

export const volumeAttributesClass: ReadonlyArray<PrinterColumn> = [name, text("DriverName", path("driverName")), age]

const claimState: Cell = (object) => {
  const isDeleted = at(object, "metadata", "deletionTimestamp") !== undefined
  const isAllocated = at(object, "status", "allocation") !== undefined
  const states = [
    isDeleted ? "deleted" : [],
    isAllocated ? "allocated" : isDeleted ? [] : "pending",
    isAllocated && arrayAt(object, "status", "reservedFor").length > 0 ? "reserved" : []
  ]
  return states.flat().join(",")
}

export const resourceClaim: ReadonlyArray<PrinterColumn> = [name, text("State", claimState), age]

export const resourceSlice: ReadonlyArray<PrinterColumn> = [
  name,
  text("Node", path("spec", "nodeName")),
  text("Driver", path("spec", "driver")),
  text("Pool", path("spec", "pool", "name")),
  age
]

export const flowSchema: ReadonlyArray<PrinterColumn> = [
  name,
  text("PriorityLevel", path("spec", "priorityLevelConfiguration", "name")),
  text("MatchingPrecedence", (object) => number(at(object, "spec", "matchingPrecedence"))),
  text("DistinguisherMethod", (object) => orNone(textAt(object, "spec", "distinguisherMethod", "type"))),
  age,
  text("MissingPL", (object) => {
    const dangling = arrayAt(object, "status", "conditions").find((one) => textAt(one, "type") === "Dangling")
    return dangling === undefined ? "?" : textAt(dangling, "status")
  })
]

const limited = (object: JsonObject, ...keys: ReadonlyArray<string>): string | number => {
  const value = at(object, "spec", "limited", ...keys)
  return typeof value === "number" ? value : "<none>"
}

export const priorityLevel: ReadonlyArray<PrinterColumn> = [
  name,
  text("Type", path("spec", "type")),
  text("NominalConcurrencyShares", (object) => limited(object, "nominalConcurrencyShares")),
  text("Queues", (object) => limited(object, "limitResponse", "queuing", "queues")),
  text("HandSize", (object) => limited(object, "limitResponse", "queuing", "handSize")),
  text("QueueLengthLimit", (object) => limited(object, "limitResponse", "queuing", "queueLengthLimit")),
  age
]

export const mutatingPolicy: ReadonlyArray<PrinterColumn> = [
  name,
  integer("Mutations", (object) => arrayAt(object, "spec", "mutations").length),
  text("ParamKind", (object) => {
    const kind = objectAt(object, "spec", "paramKind")
    return kind === undefined ? "<unset>" : `${textAt(kind, "apiVersion")}/${textAt(kind, "kind")}`
  }),
  age
]

export const mutatingPolicyBinding: ReadonlyArray<PrinterColumn> = [
  name,
  text("PolicyName", path("spec", "policyName")),
  text("ParamRef", (object) => {
    const reference = objectAt(object, "spec", "paramRef")
    if (reference === undefined) return "<unset>"
    const named = textAt(reference, "name")
    if (named !== "") return `${textAt(reference, "namespace") || "*"}/${named}`
    const selector = get(reference, "selector")
    return selector === undefined ? "<unset>" : labelSelector(selector)
  }),
  age
]
