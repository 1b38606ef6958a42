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

const most = 128
const longestNote = 1024

/** Namespaces that tell of what has none. */
const everywhere = new Set(["default", "kube-system"])

/**
 * The event is where its subject is. Writers of the newer group say more, and are recognised by the time they give, which
 * the older ones do not have. The names of fields are misspelt where the reference server misspells them.
 */
export const event = (errors: Errors, object: JsonObject): void => {
  const own = textAt(object, "metadata", "namespace")
  const subject = textAt(object, "involvedObject", "namespace")
  const kind = textAt(object, "involvedObject", "kind")
  const modern = textAt(object, "eventTime") !== ""
  const belongs =
    subject === "" ? everywhere.has(own) && (modern || clusterScoped.has(kind) || own === "default") : subject === own
  if (!belongs) errors.push(invalid("involvedObject.namespace", subject, "does not match event.namespace"))
  if (!modern) return
  const controller = textAt(object, "reportingComponent")
  if (controller === "") errors.push(required("reportingController"))
  else pushAll(errors, "reportingController", controller, names.qualified(controller))
  short(errors, object, "reportingInstance", "repotingIntance")
  short(errors, object, "action", "action")
  short(errors, object, "reason", "reason")
  if (textAt(object, "message").length > longestNote) {
    errors.push(invalid("message", "", `can have at most ${longestNote} characters`))
  }
}

const short = (errors: Errors, object: JsonObject, key: string, told: string): void => {
  const text = textAt(object, key)
  if (text === "") errors.push(required(key))
  else if (text.length > most) errors.push(invalid(told, "", `can have at most ${most} characters`))
}

/** New events of events.k8s.io/v1, in stored form: they say when, and leave the older group's fields alone. */
export const newEvent = (errors: Errors, object: JsonObject): void => {
  if (textAt(object, "eventTime") === "") errors.push(required("eventTime"))
  const type = textAt(object, "type")
  if (type !== "Normal" && type !== "Warning") errors.push(invalid("type", "", `has invalid value: ${type}`))
  for (const key of ["firstTimestamp", "lastTimestamp"]) {
    if (textAt(object, key) !== "") errors.push(invalid(key, "", "needs to be unset"))
  }
  if (numberAt(object, "count") !== 0) errors.push(invalid("count", "", "needs to be unset"))
}
