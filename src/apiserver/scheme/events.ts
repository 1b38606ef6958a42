/**
 * Conversion of Events between core/v1, which is stored, and events.k8s.io/v1: field names differ, nothing is lost. Source:
 * pkg/apis/events/v1: conversion.
 */
import { get, isObject, put, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { Conversion } from "./ResourceDefinition.ts"

/** The names in core/v1 and in events.k8s.io/v1; other fields have the same name in both. */
const renamed: ReadonlyArray<readonly [string, string]> = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"]
]

const rename = (object: JsonObject, from: string, to: string): void => {
  const value = get(object, from)
  if (value === undefined) return
  delete object[from]
  put(object, to, value)
}

export const conversion: Conversion = {
  toStored: (object) => {
    for (const [stored, served] of renamed) rename(object, served, stored)
    return object
  },
  fromStored: (object) => {
    for (const [stored, served] of renamed) rename(object, stored, served)
    // Clients of core/v1 may set only source.component; events.k8s.io/v1 requires reportingController.
    const source = get(object, "deprecatedSource")
    if (textAt(object, "reportingController") === "" && isObject(source)) {
      put(object, "reportingController", get(source, "component"))
    }
    return object
  }
}
