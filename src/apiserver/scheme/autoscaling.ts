/**
 * One stored autoscaler, two versions: autoscaling/v2 is what is stored; v1 knows the target for CPU only, and what else there
 * is travels in annotations, so that a client of v1 loses nothing that it writes back. The annotations have the reference
 * server's names, their JSON is that of v2. Source: conversions of autoscaling/v1 in the reference server.
 */
import { arrayAt, at, ensureObject, get, isObject, objectAt, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { Conversion } from "./ResourceDefinition.ts"

const prefix = "autoscaling.alpha.kubernetes.io/"

/** Annotation, and the path of what it holds. */
const carried: ReadonlyArray<readonly [annotation: string, part: "spec" | "status", field: string]> = [
  ["metrics", "spec", "metrics"],
  ["behavior", "spec", "behavior"],
  ["current-metrics", "status", "currentMetrics"],
  ["conditions", "status", "conditions"]
]

/** Field of v1, and where v2 has the same number. */
const cpu = {
  spec: { field: "targetCPUUtilizationPercentage", list: "metrics", holder: "target" },
  status: { field: "currentCPUUtilizationPercentage", list: "currentMetrics", holder: "current" }
} as const

const isCpu = (metric: Json, holder: string): boolean =>
  textAt(metric, "type") === "Resource" &&
  textAt(metric, "resource", "name") === "cpu" &&
  typeof at(metric, "resource", holder, "averageUtilization") === "number"

const parse = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined // somebody's note, not ours
  }
}

const toStored = (object: JsonObject): JsonObject => {
  const annotations = objectAt(object, "metadata", "annotations")
  for (const [name, part, field] of carried) {
    const value = annotations === undefined ? undefined : parse(textAt(annotations, prefix + name))
    if (value === undefined || annotations === undefined) continue
    put(ensureObject(object, part), field, value)
    delete annotations[prefix + name]
  }
  if (annotations !== undefined && Object.keys(annotations).length === 0)
    put(ensureObject(object, "metadata"), "annotations", undefined)
  for (const part of ["spec", "status"] as const) {
    const { field, holder, list } = cpu[part]
    const held = objectAt(object, part)
    const percentage = held === undefined ? undefined : get(held, field)
    if (held === undefined || percentage === undefined) continue
    delete held[field]
    const amount = { ...(part === "spec" ? { type: "Utilization" } : {}), averageUtilization: percentage }
    put(held, list, [{ type: "Resource", resource: { name: "cpu", [holder]: amount } }, ...arrayAt(held, list)])
  }
  return object
}

const fromStored = (object: JsonObject): JsonObject => {
  for (const part of ["spec", "status"] as const) {
    const { field, holder, list } = cpu[part]
    const held = objectAt(object, part)
    if (held === undefined) continue
    const metrics = arrayAt(held, list)
    const found = metrics.find((metric) => isCpu(metric, holder))
    if (found === undefined) continue
    put(held, field, at(found, "resource", holder, "averageUtilization"))
    const others = metrics.filter((metric) => metric !== found)
    put(held, list, others.length === 0 ? undefined : others)
  }
  for (const [name, part, field] of carried) {
    const held = objectAt(object, part)
    const value = held === undefined ? undefined : get(held, field)
    if (held === undefined || value === undefined || value === null) continue
    delete held[field]
    const metadata = ensureObject(object, "metadata")
    const annotations = get(metadata, "annotations")
    put(metadata, "annotations", {
      ...(isObject(annotations) ? annotations : {}),
      [prefix + name]: JSON.stringify(value)
    })
  }
  return object
}

/** Lossless in both directions. */
export const conversion: Conversion = { toStored, fromStored }
