/**
 * Fields that field selectors support beyond metadata.name and metadata.namespace, as functions of the stored object. Other
 * fields are rejected with 400. Source: AddFieldLabelConversionFunc and the SelectableFields of the registries.
 */
import { arrayAt, at, numberAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"

type Fields = Readonly<Record<string, (object: JsonObject) => string>>

const field =
  (...path: ReadonlyArray<string>) =>
  (object: JsonObject): string =>
    textAt(object, ...path)

const truth = (value: Json | undefined): string => (value === true ? "true" : "false")

/** The field of a custom resource at a path of members, as `selectableFields` of its definition names it: `spec.color`. */
export const path = (text: string): ((object: JsonObject) => string) => {
  const members = text.split(".")
  return (object) => {
    const value = at(object, ...members) ?? ""
    return typeof value === "object" ? JSON.stringify(value) : String(value)
  }
}

export const pod: Fields = {
  "spec.nodeName": field("spec", "nodeName"),
  "spec.restartPolicy": field("spec", "restartPolicy"),
  "spec.schedulerName": field("spec", "schedulerName"),
  "spec.serviceAccountName": field("spec", "serviceAccountName"),
  "spec.hostNetwork": (object) => truth(at(object, "spec", "hostNetwork")),
  "status.phase": field("status", "phase"),
  "status.podIP": (object) => textAt(object, "status", "podIP") || textAt(arrayAt(object, "status", "podIPs")[0], "ip"),
  "status.nominatedNodeName": field("status", "nominatedNodeName")
}

export const node: Fields = { "spec.unschedulable": (object) => truth(at(object, "spec", "unschedulable")) }

export const namespace: Fields = { "status.phase": field("status", "phase") }

export const secret: Fields = { type: field("type") }

export const service: Fields = {
  "spec.clusterIP": field("spec", "clusterIP"),
  "spec.type": field("spec", "type")
}

export const replicated: Fields = { "status.replicas": (object) => String(numberAt(object, "status", "replicas")) }

export const job: Fields = { "status.successful": (object) => String(numberAt(object, "status", "succeeded")) }

const involved = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const

/** Events as stored, that is in their core/v1 form. */
export const event: Fields = {
  ...Object.fromEntries(involved.map((name) => [`involvedObject.${name}`, field("involvedObject", name)])),
  reason: field("reason"),
  reportingComponent: field("reportingComponent"),
  source: (object) => textAt(object, "source", "component") || textAt(object, "reportingComponent"),
  type: field("type")
}

/** The same under their events.k8s.io names. */
export const eventsEvent: Fields = {
  ...Object.fromEntries(involved.map((name) => [`regarding.${name}`, field("involvedObject", name)])),
  reason: field("reason"),
  reportingController: field("reportingComponent"),
  type: field("type")
}
