/** PersistentVolumeClaim and PersistentVolume. Source: pkg/apis/core/validation. */
import { arrayAt, at, clone, equal, get, objectAt, put, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import * as Quantity from "../../../kube/quantity.ts"
import { forbidden, invalid, notSupported, Printed, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import * as resources from "./resources.ts"
import { csiDriver, kinds, needs } from "./volumeSources.ts"
import type { Check } from "./volumeSources.ts"
import { specOf } from "./spec.ts"

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]
const oldModes = accessModes.slice(0, 3)

const access = (errors: Errors, field: string, spec: JsonObject, detail: string): void => {
  const modes = arrayAt(spec, "accessModes")
  if (modes.length === 0) errors.push(required(field, detail))
  for (const mode of modes) {
    if (typeof mode !== "string" || !accessModes.includes(mode)) errors.push(notSupported(field, mode, oldModes))
  }
}

export const claim = (errors: Errors, object: JsonObject): void => claimSpec(errors, "spec", specOf(object))

/** The spec of a PersistentVolumeClaim, or of the claim template of an ephemeral volume. */
export const claimSpec = (errors: Errors, field: string, spec: JsonObject): void => {
  access(errors, `${field}.accessModes`, spec, "at least 1 access mode is required")
  formats.labelSelector(errors, `${field}.selector`, get(spec, "selector"))
  const storage = at(spec, "resources", "requests", "storage")
  if (storage === undefined) errors.push(required(`${field}.resources[storage]`))
  else if ((Quantity.parse(storage)?.nanos ?? 0n) <= 0n) {
    errors.push(invalid(`${field}.resources[storage]`, storage, "must be greater than zero"))
  }
  storageClassAndMode(errors, field, spec)
}

/** The storage class and the volume mode, which volumes and claims both have. */
const storageClassAndMode = (errors: Errors, field: string, spec: JsonObject): void => {
  const className = textAt(spec, "storageClassName")
  if (className !== "") pushAll(errors, `${field}.storageClassName`, className, formats.dnsSubdomain(className))
  const mode = textAt(spec, "volumeMode")
  if (mode !== "Block" && mode !== "Filesystem") {
    errors.push(notSupported(`${field}.volumeMode`, mode, ["Block", "Filesystem"]))
  }
}

/**
 * An update of a claim may set volumeName once, set a class where there is none (the default class may be newer than the claim), change the VolumeAttributesClass, and raise the request of a bound claim. Source:
 * pkg/apis/core/validation: ValidatePersistentVolumeClaimUpdate.
 */
export const claimUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const spec = clone(specOf(object))
  const old = clone(specOf(before))
  if (textAt(old, "volumeName") === "") put(old, "volumeName", get(spec, "volumeName"))
  if (get(old, "storageClassName") === undefined) put(old, "storageClassName", get(spec, "storageClassName"))
  if (get(old, "volumeAttributesClassName") !== undefined && get(spec, "volumeAttributesClassName") === undefined) {
    errors.push(forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden"))
  }
  put(old, "volumeAttributesClassName", get(spec, "volumeAttributesClassName"))
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

const nonSourceMembers = new Set([
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

const reclaimPolicies = ["Delete", "Recycle", "Retain"]

/** The sources that are validated differently in a PersistentVolume than in a pod. */
const persistentVolumeSources: Readonly<Record<string, Check>> = {
  azureFile: needs("secretName", "shareName"),
  csi: (errors, path, source) => {
    csiDriver(errors, path, source)
    needs("volumeHandle")(errors, path, source)
  },
  local: needs("path")
}

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
  if (!reclaimPolicies.includes(policy))
    errors.push(notSupported("spec.persistentVolumeReclaimPolicy", policy, reclaimPolicies))
  const sources = Object.keys(spec).filter((key) => !nonSourceMembers.has(key))
  if (sources.length === 0) errors.push(required("spec", "must specify a volume type"))
  for (const [index, key] of sources.entries()) {
    const own = `spec.${key}`
    if (index > 0) errors.push(forbidden(own, "may not specify more than 1 volume type"))
    else (persistentVolumeSources[key] ?? kinds.get(key))?.(errors, own, objectAt(spec, key) ?? {})
    if (index === 0 && key === "local" && get(spec, "nodeAffinity") === undefined) {
      errors.push(required("spec.nodeAffinity", "Local volume requires node affinity"))
    }
  }
  if (textAt(spec, "hostPath", "path") === "/" && policy === "Recycle") {
    const detail = "may not be 'recycle' for a hostPath mount of '/'"
    errors.push(forbidden("spec.persistentVolumeReclaimPolicy", detail))
  }
  storageClassAndMode(errors, "spec", spec)
}

export const volumeUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const source = (spec: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(spec).filter(([key]) => !nonSourceMembers.has(key)))
  if (!equal(source(specOf(object)), source(specOf(before)))) {
    errors.push(forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"))
  }
  if (!equal(at(object, "spec", "volumeMode"), at(before, "spec", "volumeMode"))) {
    errors.push(invalid("spec.volumeMode", textAt(object, "spec", "volumeMode"), "field is immutable"))
  }
}
