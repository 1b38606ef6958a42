/** PersistentVolume and PersistentVolumeClaim, ResourceQuota and LimitRange, Node and Namespace. Source: core validation. */
import { arrayAt, at, clone, equal, get, objectAt, put, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import * as names from "../names.ts"
import { duplicate, forbidden, invalid, notSupported, Printed, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import * as Quantity from "../../../../kube/quantity.ts"
import * as resources from "./resources.ts"
import { specOf } from "./template.ts"

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]
const oldModes = accessModes.slice(0, 3)

const access = (errors: Errors, field: string, spec: JsonObject, detail: string): void => {
  const modes = arrayAt(spec, "accessModes")
  if (modes.length === 0) errors.push(required(field, detail))
  for (const mode of modes) {
    if (typeof mode !== "string" || !accessModes.includes(mode)) errors.push(notSupported(field, mode, oldModes))
  }
}

export const claim = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  access(errors, "spec.accessModes", spec, "at least 1 access mode is required")
  formats.labelSelector(errors, "spec.selector", get(spec, "selector"))
  const storage = at(spec, "resources", "requests", "storage")
  if (storage === undefined) errors.push(required("spec.resources[storage]"))
  else if ((Quantity.parse(storage)?.nanos ?? 0n) <= 0n) {
    errors.push(invalid("spec.resources[storage]", storage, "must be greater than zero"))
  }
  const className = textAt(spec, "storageClassName")
  if (className !== "") pushAll(errors, "spec.storageClassName", className, formats.dnsSubdomain(className))
  const mode = textAt(spec, "volumeMode")
  if (mode !== "Block" && mode !== "Filesystem") {
    errors.push(notSupported("spec.volumeMode", mode, ["Block", "Filesystem"]))
  }
}

/** A claim may grow once it is bound, and be bound once; nothing else. */
export const claimUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const spec = clone(specOf(object))
  const old = clone(specOf(before))
  if (textAt(old, "volumeName") === "") put(old, "volumeName", get(spec, "volumeName"))
  const next = at(spec, "resources", "requests", "storage")
  const last = at(old, "resources", "requests", "storage")
  if (textAt(before, "status", "phase") === "Bound") {
    if (Quantity.compare(next, last) === -1) {
      errors.push(forbidden("spec.resources.requests.storage", "field can not be less than previous value"))
    }
    put(old, "resources", get(spec, "resources"))
  }
  if (!equal(spec, old)) {
    errors.push(forbidden("spec", "spec is immutable after creation except resources.requests for bound claims"))
  }
}

const shared = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode"
])

const reclaims = ["Delete", "Recycle", "Retain"]

export const volume = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  access(errors, "spec.accessModes", spec, "")
  const capacity = objectAt(spec, "capacity") ?? {}
  if (Object.keys(capacity).length === 0) errors.push(required("spec.capacity"))
  if (get(capacity, "storage") === undefined || Object.keys(capacity).length > 1) {
    const names = Object.keys(capacity).map((key) => JSON.stringify(key))
    const printed = new Printed(
      names.length === 0 ? "core.ResourceList(nil)" : `core.ResourceList{${names.join(", ")}}`
    )
    errors.push(notSupported("spec.capacity", printed, ["storage"]))
  }
  resources.amounts(errors, "spec.capacity", capacity)
  const policy = textAt(spec, "persistentVolumeReclaimPolicy")
  if (!reclaims.includes(policy)) errors.push(notSupported("spec.persistentVolumeReclaimPolicy", policy, reclaims))
  const sources = Object.keys(spec).filter((key) => !shared.has(key))
  if (sources.length === 0) errors.push(required("spec", "must specify a volume type"))
  for (const key of sources.slice(1)) errors.push(forbidden(`spec.${key}`, "may not specify more than 1 volume type"))
}

export const volumeUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const source = (spec: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(spec).filter(([key]) => !shared.has(key)))
  if (!equal(source(specOf(object)), source(specOf(before)))) {
    errors.push(forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"))
  }
  if (!equal(at(object, "spec", "volumeMode"), at(before, "spec", "volumeMode"))) {
    errors.push(invalid("spec.volumeMode", textAt(object, "spec", "volumeMode"), "field is immutable"))
  }
}

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
    orders(errors, path, objectAt(item) ?? {})
  }
}

/** Each of these is at most the next. */
const ladder = [
  ["min", "max"],
  ["min", "defaultRequest"],
  ["defaultRequest", "max"],
  ["defaultRequest", "default"],
  ["min", "default"],
  ["default", "max"]
] as const

const words = {
  min: "min value",
  max: "max value",
  default: "default value",
  defaultRequest: "default request value"
} as const

const orders = (errors: Errors, path: string, item: JsonObject): void => {
  const keys = new Set(
    ["min", "max", "default", "defaultRequest"].flatMap((part) => Object.keys(objectAt(item, part) ?? {}))
  )
  for (const key of keys) {
    for (const [low, high] of ladder) {
      const least = at(item, low, key)
      const greatest = at(item, high, key)
      if (Quantity.compare(least, greatest) !== 1) continue
      // The complaint is about the lower bound, except that a default is what is wrong with a minimum above it.
      const blamed = low === "min" && high !== "max" ? high : low
      const detail = `${words[low]} ${textAt(least)} is greater than ${words[high]} ${textAt(greatest)}`
      errors.push(invalid(`${path}.${blamed}[${key}]`, textAt(item, blamed, key), detail))
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

/** Its identity on the cloud and its addresses are not for changing; neither is anything that no field is known for. */
export const nodeUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  for (const key of ["providerID", "podCIDR"]) {
    const old = textAt(before, "spec", key)
    if (old !== "" && textAt(object, "spec", key) !== old) {
      errors.push(forbidden(`spec.${key}`, "node updates may not change " + key + ' except from "" to valid'))
    }
  }
}

export const priorityClass = (errors: Errors, object: JsonObject): void => {
  const name = textAt(object, "metadata", "name")
  const value = get(object, "value")
  if (typeof value === "number" && value > 1_000_000_000 && !name.startsWith("system-")) {
    const detail = "maximum allowed value of a user defined priority is 1000000000"
    errors.push(forbidden("value", detail))
  }
}

export const priorityClassUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  if (!equal(get(object, "value") ?? 0, get(before, "value") ?? 0)) {
    errors.push(forbidden("Value", "may not be changed in an update."))
  }
}
