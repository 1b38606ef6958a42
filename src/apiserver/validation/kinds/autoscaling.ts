/** HorizontalPodAutoscaler in autoscaling/v2, the stored version. Source: pkg/apis/autoscaling/validation. */
import { arrayAt, at, get, isObject, numberAt, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as Quantity from "../../../kube/quantity.ts"
import * as names from "../names.ts"
import { forbidden, invalid, notSupported, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import { specOf } from "./spec.ts"

export const autoscaler = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  const least = get(spec, "minReplicas")
  const most = numberAt(spec, "maxReplicas")
  if (typeof least === "number" && least < 1) {
    errors.push(invalid("spec.minReplicas", least, "must be greater than or equal to 1"))
  }
  if (most < 1) errors.push(invalid("spec.maxReplicas", most, "must be greater than 0"))
  if (typeof least === "number" && most < least) {
    errors.push(invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
  }
  reference(errors, "spec.scaleTargetRef", get(spec, "scaleTargetRef"))
  const metrics = arrayAt(spec, "metrics")
  for (const [index, one] of metrics.entries()) metric(errors, `spec.metrics[${index}]`, one)
  if (least === 0 && !metrics.some((one) => ["Object", "External"].includes(textAt(one, "type")))) {
    const detail = "must specify at least one Object or External metric to support scaling to zero replicas"
    errors.push(forbidden("spec.metrics", detail))
  }
  scaling(errors, "spec.behavior.scaleUp", at(spec, "behavior", "scaleUp"))
  scaling(errors, "spec.behavior.scaleDown", at(spec, "behavior", "scaleDown"))
}

/** A required name that can be a segment of a URL path. */
const segment = (errors: Errors, field: string, text: string, detail = ""): void => {
  if (text === "") errors.push(required(field, detail))
  else pushAll(errors, field, text, names.objectName({ nameRule: "path" }, text))
}

const reference = (errors: Errors, field: string, value: Json | undefined): void => {
  for (const key of ["kind", "name"]) segment(errors, `${field}.${key}`, textAt(value, key))
}

/** Validation of the source of each metric type. */
const sources: Readonly<Record<string, (errors: Errors, field: string, value: JsonObject) => void>> = {
  object: (errors, field, value) => {
    reference(errors, `${field}.describedObject`, get(value, "describedObject"))
    identifier(errors, field, value)
    targeted(errors, field, value, "must set either a target value or averageValue")
  },
  external: (errors, field, value) => {
    identifier(errors, field, value)
    targeted(errors, field, value, "must set either a target value for metric or a per-pod target")
    if (hasTarget(value, "value") && hasTarget(value, "averageValue")) {
      const detail = "may not set both a target value for metric and a per-pod target"
      errors.push(forbidden(`${field}.target.value`, detail))
    }
  },
  pods: (errors, field, value) => {
    identifier(errors, field, value)
    target(errors, `${field}.target`, get(value, "target"))
    if (!isPositive(at(value, "target", "averageValue"))) {
      errors.push(required(`${field}.target.averageValue`, "must specify a positive target averageValue"))
    }
  },
  resource: (errors, field, value) => resource(errors, field, value),
  containerResource: (errors, field, value) => {
    if (textAt(value, "container") === "") errors.push(required(`${field}.container`, "must specify a container"))
    resource(errors, field, value)
  }
}

const types = ["ContainerResource", "External", "Object", "Pods", "Resource"]

const metric = (errors: Errors, path: string, one: Json): void => {
  const type = textAt(one, "type")
  if (type === "") errors.push(required(`${path}.type`, "must specify a metric source type"))
  if (!types.includes(type)) errors.push(notSupported(`${path}.type`, type, types))
  const given = Object.keys(sources).filter((key) => isObject(at(one, key)))
  const [first] = given
  if (first !== undefined) sources[first]?.(errors, `${path}.${first}`, objectAt(one, first) ?? {})
  const expected = `${type.slice(0, 1).toLowerCase()}${type.slice(1)}`
  if (types.includes(type) && !given.includes(expected)) {
    errors.push(required(`${path}.${expected}`, "must populate information for the given metric source"))
  }
  if (given.length === 1) return
  for (const key of given.filter((one) => one !== expected)) {
    errors.push(forbidden(`${path}.${key}`, "must populate the given metric source only"))
  }
}

const identifier = (errors: Errors, field: string, value: JsonObject): void =>
  segment(errors, `${field}.metric.name`, textAt(value, "metric", "name"), "must specify a metric name")

const hasTarget = (value: JsonObject, key: string): boolean => at(value, "target", key) !== undefined

const targeted = (errors: Errors, field: string, value: JsonObject, detail: string): void => {
  target(errors, `${field}.target`, get(value, "target"))
  if (!hasTarget(value, "value") && !hasTarget(value, "averageValue")) {
    errors.push(required(`${field}.target.averageValue`, detail))
  }
}

const resource = (errors: Errors, field: string, value: JsonObject): void => {
  if (textAt(value, "name") === "") errors.push(required(`${field}.name`, "must specify a resource name"))
  target(errors, `${field}.target`, get(value, "target"))
  const shared = hasTarget(value, "averageUtilization")
  const plain = hasTarget(value, "averageValue")
  if (!shared && !plain) {
    const detail = "must set either a target raw value or a target utilization"
    errors.push(required(`${field}.target.averageUtilization`, detail))
  }
  if (shared && plain) {
    const detail = "may not set both a target raw value and a target utilization"
    errors.push(forbidden(`${field}.target.averageValue`, detail))
  }
}

const isPositive = (value: Json | undefined): boolean => (Quantity.parse(value)?.nanos ?? 0n) > 0n

const target = (errors: Errors, field: string, value: Json | undefined): void => {
  const type = textAt(value, "type")
  if (type === "") errors.push(required(`${field}.type`, "must specify a metric target type"))
  if (!["Utilization", "Value", "AverageValue"].includes(type)) {
    errors.push(invalid(`${field}.type`, type, "must be either Utilization, Value, or AverageValue"))
  }
  for (const key of ["value", "averageValue"]) {
    const amount = at(value, key)
    if (amount !== undefined && !isPositive(amount)) errors.push(invalid(`${field}.${key}`, amount, "must be positive"))
  }
  const share = at(value, "averageUtilization")
  if (typeof share === "number" && share < 1) {
    errors.push(invalid(`${field}.averageUtilization`, share, "must be greater than 0"))
  }
}

/** Maximum stabilization window and maximum period of a policy, in seconds. */
const maxWindowSeconds = 3600
const maxPeriodSeconds = 1800

const scaling = (errors: Errors, field: string, value: Json | undefined): void => {
  if (!isObject(value)) return
  const window = get(value, "stabilizationWindowSeconds")
  const own = `${field}.stabilizationWindowSeconds`
  if (typeof window === "number" && window < 0) {
    errors.push(invalid(own, window, "must be greater than or equal to zero"))
  }
  if (typeof window === "number" && window > maxWindowSeconds) {
    errors.push(invalid(own, window, `must be less than or equal to ${maxWindowSeconds}`))
  }
  const choice = get(value, "selectPolicy")
  const choices = ["Disabled", "Max", "Min"]
  if (typeof choice === "string" && !choices.includes(choice)) {
    errors.push(notSupported(`${field}.selectPolicy`, choice, choices))
  }
  const policies = arrayAt(value, "policies")
  if (policies.length === 0) errors.push(required(`${field}.policies`, "must specify at least one Policy"))
  for (const [index, one] of policies.entries()) policy(errors, `${field}.policies[${index}]`, one)
}

const policy = (errors: Errors, path: string, one: Json): void => {
  const type = textAt(one, "type")
  if (type !== "Pods" && type !== "Percent") errors.push(notSupported(`${path}.type`, type, ["Percent", "Pods"]))
  for (const key of ["value", "periodSeconds"]) {
    const number = numberAt(one, key)
    if (number <= 0) errors.push(invalid(`${path}.${key}`, number, "must be greater than zero"))
  }
  const period = numberAt(one, "periodSeconds")
  if (period > maxPeriodSeconds) {
    errors.push(invalid(`${path}.periodSeconds`, period, `must be less than or equal to ${maxPeriodSeconds}`))
  }
}
