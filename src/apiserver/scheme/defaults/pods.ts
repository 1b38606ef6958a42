/**
 * Defaults of pod specs, in a Pod and in the template of a workload. Source: pkg/apis/core/v1: defaults. Templates do not get
 * the defaults that are set when the Pod is created.
 */
import * as PodDefaults from "../../../kube/podDefaults.ts"
import { ensureObject, get, isObject, numberAt, objectAt, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import { absent, objects, quantity, specOf } from "./fill.ts"

export const podSpec = (spec: JsonObject): void => {
  PodDefaults.podSpec(spec)
  account(spec)
  for (const volume of objects(spec, "volumes")) {
    const directory = get(volume, "emptyDir")
    if (isObject(directory)) quantity(directory, "sizeLimit")
  }
  const host = get(spec, "hostNetwork") === true
  for (const one of [...objects(spec, "initContainers"), ...objects(spec, "containers")]) container(one, host)
  for (const one of objects(spec, "ephemeralContainers")) container(one, false)
}

/** The deprecated field serviceAccount has the value of serviceAccountName. */
const account = (spec: JsonObject): void => {
  const name = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount")
  if (name === "") return
  spec["serviceAccountName"] = name
  spec["serviceAccount"] = name
}

/** Defaults of a container; `resources` has no omitempty. */
const container = (one: JsonObject, hostNetwork: boolean): void => {
  ensureObject(one, "resources")
  if (!hostNetwork) return
  for (const port of objects(one, "ports")) {
    if (numberAt(port, "hostPort") === 0) port["hostPort"] = numberAt(port, "containerPort")
  }
}

/** A request that is not set has the value of the limit. */
const requestsFromLimits = (one: JsonObject): void => {
  const limits = objectAt(one, "resources", "limits")
  if (limits !== undefined) absent(ensureObject(ensureObject(one, "resources"), "requests"), limits)
}

export const pod = (object: JsonObject): void => {
  const spec = specOf(object)
  podSpec(spec)
  for (const one of objects(spec, "initContainers")) requestsFromLimits(one)
  for (const one of objects(spec, "containers")) requestsFromLimits(one)
  absent(spec, { enableServiceLinks: true })
}

/** Defaults of the template of a workload; a missing template is treated as empty. */
export const template = (spec: JsonObject): void => podSpec(specOf(ensureObject(spec, "template")))
