/**
 * Defaults of PersistentVolumes, PersistentVolumeClaims, StorageClasses, ResourceQuotas and LimitRanges. Source:
 * pkg/apis/core/v1 and pkg/apis/storage/v1: defaults.
 */
import { persistentVolumeSource } from "../../../kube/podDefaults.ts"
import { clone, ensureObject, get, objectAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { absent, empty, objects, quantities, specOf } from "./fill.ts"

export const claim = (object: JsonObject): void => {
  const spec = specOf(object)
  absent(spec, { volumeMode: "Filesystem" })
  quantities(objectAt(spec, "resources", "requests"))
  quantities(objectAt(spec, "resources", "limits"))
  empty(ensureObject(object, "status"), { phase: "Pending" })
}

export const volume = (object: JsonObject): void => {
  const spec = specOf(object)
  empty(spec, { persistentVolumeReclaimPolicy: "Retain" })
  absent(spec, { volumeMode: "Filesystem" })
  quantities(get(spec, "capacity"))
  persistentVolumeSource(spec)
  empty(ensureObject(object, "status"), { phase: "Pending" })
}

export const storageClass = (object: JsonObject): void => {
  empty(object, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" })
}

export const driver = (object: JsonObject): void => {
  absent(specOf(object), {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    requiresRepublish: false,
    seLinuxMount: false,
    fsGroupPolicy: "ReadWriteOnceWithFSType",
    volumeLifecycleModes: ["Persistent"]
  })
}

export const quota = (object: JsonObject): void => {
  quantities(objectAt(object, "spec", "hard"))
}

const bounds = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]

/** In a LimitRange, the default limit is the maximum, and the default request is the default limit or the minimum. */
export const limitRange = (object: JsonObject): void => {
  for (const item of objects(object, "spec", "limits")) {
    for (const key of bounds) quantities(get(item, key))
    if (get(item, "type") !== "Container") continue
    const copies = (key: string): Record<string, Json> => clone((objectAt(item, key) ?? {}) as Record<string, Json>)
    absent(ensureObject(item, "default"), copies("max"))
    absent(ensureObject(item, "defaultRequest"), copies("default"))
    absent(ensureObject(item, "defaultRequest"), copies("min"))
    for (const key of ["default", "defaultRequest"]) {
      if (Object.keys(objectAt(item, key) ?? {}).length === 0) delete item[key]
    }
  }
}
