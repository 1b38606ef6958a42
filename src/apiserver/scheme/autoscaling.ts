/**
 * Conversion of HorizontalPodAutoscalers between autoscaling/v2, which is stored, and v1, which has only the CPU target. The
 * rest of v2 travels in annotations, so that a v1 client can write back what it read without loss. Annotation names are those
 * of Kubernetes; their JSON is v2. Source: pkg/apis/autoscaling/v1: conversion.
 */
import { arrayAt, at, ensureObject, get, isObject, objectAt, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { Conversion } from "./ResourceDefinition.ts"

const prefix = "autoscaling.alpha.kubernetes.io/"

/** Annotations, and the field of v2 that each one holds. */
const carried: ReadonlyArray<readonly [annotation: string, part: "spec" | "status", field: string]> = [
  ["metrics", "spec", "metrics"],
  ["behavior", "spec", "behavior"],
  ["current-metrics", "status", "currentMetrics"],
  ["conditions", "status", "conditions"]
]

/** The field of v1, and the metric source of v2 with the same number. */
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
    return undefined // not an annotation of this conversion
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
