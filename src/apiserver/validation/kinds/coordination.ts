/** Lease and Event. Source: pkg/apis/coordination/validation, pkg/apis/core/validation: ValidateEventCreate. */
import { get, numberAt, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import { invalid, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as names from "../names.ts"
import { specOf } from "./spec.ts"

export const lease = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  const duration = get(spec, "leaseDurationSeconds")
  if (typeof duration === "number" && duration <= 0) {
    errors.push(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
  }
  const changes = get(spec, "leaseTransitions")
  if (typeof changes === "number" && changes < 0) {
    errors.push(invalid("spec.leaseTransitions", changes, "must to greater or equal than 0"))
  }
}

const clusterScoped = new Set(["Node", "Namespace", "PersistentVolume", "ClusterRole", "ClusterRoleBinding"])

const maxTextLength = 128
const maxNoteLength = 1024

/** The namespaces that can hold Events about objects without a namespace. */
const clusterScopedEventNamespaces = new Set(["default", "kube-system"])

/**
 * An Event is in the namespace of its involved object. Clients of events.k8s.io set eventTime, which clients of core/v1 do not;
 * with it, more fields are required. The field path `repotingIntance` is misspelt in kube-apiserver, too.
 */
export const event = (errors: Errors, object: JsonObject): void => {
  const namespace = textAt(object, "metadata", "namespace")
  const subject = textAt(object, "involvedObject", "namespace")
  const kind = textAt(object, "involvedObject", "kind")
  const isNewStyle = textAt(object, "eventTime") !== ""
  const namespaceMatches =
    subject === ""
      ? clusterScopedEventNamespaces.has(namespace) &&
        (isNewStyle || clusterScoped.has(kind) || namespace === "default")
      : subject === namespace
  if (!namespaceMatches) errors.push(invalid("involvedObject.namespace", subject, "does not match event.namespace"))
  if (!isNewStyle) return
  const controller = textAt(object, "reportingComponent")
  if (controller === "") errors.push(required("reportingController"))
  else pushAll(errors, "reportingController", controller, names.qualified(controller))
  requiredShortText(errors, object, "reportingInstance", "repotingIntance")
  requiredShortText(errors, object, "action", "action")
  requiredShortText(errors, object, "reason", "reason")
  if (textAt(object, "message").length > maxNoteLength) {
    errors.push(invalid("message", "", `can have at most ${maxNoteLength} characters`))
  }
}

const requiredShortText = (errors: Errors, object: JsonObject, key: string, reportedField: string): void => {
  const text = textAt(object, key)
  if (text === "") errors.push(required(key))
  else if (text.length > maxTextLength)
    errors.push(invalid(reportedField, "", `can have at most ${maxTextLength} characters`))
}

/** New Events of events.k8s.io/v1, in stored form: eventTime is required, and the deprecated fields of core/v1 must be unset. */
export const newEvent = (errors: Errors, object: JsonObject): void => {
  if (textAt(object, "eventTime") === "") errors.push(required("eventTime"))
  const type = textAt(object, "type")
  if (type !== "Normal" && type !== "Warning") errors.push(invalid("type", "", `has invalid value: ${type}`))
  for (const key of ["firstTimestamp", "lastTimestamp"]) {
    if (textAt(object, key) !== "") errors.push(invalid(key, "", "needs to be unset"))
  }
  if (numberAt(object, "count") !== 0) errors.push(invalid("count", "", "needs to be unset"))
}
