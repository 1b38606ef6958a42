/** ResourceQuota, LimitRange, Node and PriorityClass. Source: pkg/apis/core/validation, pkg/apis/scheduling/validation. */
import { arrayAt, at, equal, get, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as names from "../names.ts"
import { duplicate, forbidden, invalid, notSupported, Printed, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as Quantity from "../../../kube/quantity.ts"
import * as resources from "./resources.ts"

const countable = new Set([
  "configmaps",
  "cpu",
  "ephemeral-storage",
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "memory",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
  "requests.storage",
  "resourcequotas",
  "secrets",
  "services",
  "services.loadbalancers",
  "services.nodeports"
])

const known = (name: string): boolean =>
  countable.has(name) || name.includes("/") || name.startsWith("hugepages-") || name.startsWith("requests.hugepages-")

export const quota = (errors: Errors, object: JsonObject): void => {
  const hard = objectAt(object, "spec", "hard") ?? {}
  for (const name of Object.keys(hard)) {
    const path = `spec.hard[${name}]`
    pushAll(errors, path, name, names.qualified(name))
    if (!known(name)) {
      errors.push(
        invalid(path, name, resources.unqualified),
        invalid(path, name, "must be a standard resource for quota")
      )
    }
    resources.nonNegative(errors, path, hard[name])
  }
}

export const quotaUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  if (!equal(at(object, "spec", "scopes"), at(before, "spec", "scopes"))) {
    errors.push(invalid("spec.scopes", new Printed("[]core.ResourceQuotaScope"), "field is immutable"))
  }
}

const parts = ["min", "max", "default", "defaultRequest", "maxLimitRequestRatio"] as const

export const limitRange = (errors: Errors, object: JsonObject): void => {
  const types = new Set<string>()
  for (const [index, item] of arrayAt(object, "spec", "limits").entries()) {
    const path = `spec.limits[${index}]`
    const type = textAt(item, "type")
    if (type === "") errors.push(required(`${path}.type`))
    if (types.has(type)) errors.push(duplicate(`${path}.type`, type))
    types.add(type)
    for (const part of parts) resources.amounts(errors, `${path}.${part}`, at(item, part))
    if (type === "Pod") {
      for (const part of ["default", "defaultRequest"]) {
        if (Object.keys(objectAt(item, part) ?? {}).length > 0) {
          errors.push(forbidden(`${path}.${part}`, "may not be specified when `type` is 'Pod'"))
        }
      }
    }
    valuesInOrder(errors, path, objectAt(item) ?? {})
  }
}

/** In each pair of a LimitRange item, the first value is at most the second. */
const orderedPairs = [
  ["min", "max"],
  ["min", "defaultRequest"],
  ["defaultRequest", "max"],
  ["defaultRequest", "default"],
  ["min", "default"],
  ["default", "max"]
] as const

const valueNames = {
  min: "min value",
  max: "max value",
  default: "default value",
  defaultRequest: "default request value"
} as const

const valuesInOrder = (errors: Errors, path: string, item: JsonObject): void => {
  const keys = new Set(
    ["min", "max", "default", "defaultRequest"].flatMap((part) => Object.keys(objectAt(item, part) ?? {}))
  )
  for (const key of keys) {
    for (const [low, high] of orderedPairs) {
      const least = at(item, low, key)
      const greatest = at(item, high, key)
      if (Quantity.compare(least, greatest) !== 1) continue
      // The error is at the lower value, except for a default below the minimum.
      const reportedAt = low === "min" && high !== "max" ? high : low
      const detail = `${valueNames[low]} ${textAt(least)} is greater than ${valueNames[high]} ${textAt(greatest)}`
      errors.push(invalid(`${path}.${reportedAt}[${key}]`, textAt(item, reportedAt, key), detail))
    }
  }
}

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"]

export const node = (errors: Errors, object: JsonObject): void => {
  const seen = new Set<string>()
  for (const [index, taint] of arrayAt(object, "spec", "taints").entries()) {
    const path = `metadata.taints[${index}]`
    const key = textAt(taint, "key")
    pushAll(errors, `${path}.key`, key, names.qualified(key))
    const wrong = names.label(textAt(taint, "value"))
    if (wrong.length > 0) errors.push(invalid(`${path}.value`, textAt(taint, "value"), wrong.join(";")))
    const effect = textAt(taint, "effect")
    if (effect === "") errors.push(required(`${path}.effect`))
    else if (!effects.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, effects))
    if (seen.has(`${key}/${effect}`)) {
      const value = JSON.stringify(textAt(taint, "value"))
      const printed = `core.Taint{Key:${JSON.stringify(key)}, Value:${value}, Effect:${JSON.stringify(effect)}, TimeAdded:<nil>}`
      errors.push({
        ...duplicate(path, new Printed(printed)),
        message: `Duplicate value: ${printed}: taints must be unique by key and effect pair`
      })
    }
    seen.add(`${key}/${effect}`)
  }
}

/** providerID and podCIDR can be set, but not changed. */
export const nodeUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  for (const key of ["providerID", "podCIDR"]) {
    const old = textAt(before, "spec", key)
    if (old !== "" && textAt(object, "spec", key) !== old) {
      errors.push(forbidden(`spec.${key}`, "node updates may not change " + key + ' except from "" to valid'))
    }
  }
}

/** The PriorityClasses of Kubernetes itself, with their values. */
const systemClasses: Readonly<Record<string, number>> = {
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000
}

const preemptions = ["PreemptLowerPriority", "Never"]

/** Why a PriorityClass with the prefix `system-` is not one of Kubernetes itself; empty when it is. */
const notSystem = (name: string, value: Json): string => {
  const own = Object.hasOwn(systemClasses, name) ? systemClasses[name] : undefined
  if (own === undefined) return `${name} is not a known system priority class`
  return own === value ? "" : `value of ${name} PriorityClass must be ${own}`
}

export const priorityClass = (errors: Errors, object: JsonObject): void => {
  const name = textAt(object, "metadata", "name")
  const value = get(object, "value") ?? 0
  if (name.startsWith("system-")) {
    const why = notSystem(name, value)
    const reserved = "priority class names with 'system-' prefix are reserved for system use only. error: "
    if (why !== "") errors.push(forbidden("metadata.name", `${reserved}${why}`))
  } else if (typeof value === "number" && value > 1_000_000_000) {
    const detail = "maximum allowed value of a user defined priority is 1000000000"
    errors.push(forbidden("value", detail))
  }
  const preemption = textAt(object, "preemptionPolicy")
  if (preemption !== "" && !preemptions.includes(preemption)) {
    errors.push(notSupported("preemptionPolicy", preemption, preemptions))
  }
}

export const priorityClassUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  if (!equal(get(object, "value") ?? 0, get(before, "value") ?? 0)) {
    errors.push(forbidden("Value", "may not be changed in an update."))
  }
  const preemption = get(object, "preemptionPolicy")
  if (!equal(preemption, get(before, "preemptionPolicy"))) {
    errors.push(invalid("preemptionPolicy", preemption, "field is immutable"))
  }
}
