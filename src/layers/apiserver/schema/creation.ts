/**
 * What the server itself fills in or takes away when an object of a kind is created. First cut: only the parts that
 * clients notice at once; defaulting and validation of workloads belong here too when they come.
 */
import * as Base64 from "effect/encoding/Base64"
import { arrayAt, at, ensureObject, get, isObject, objectAt, put, set, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"

/** A pod starts Pending, whatever status was sent. */
export const pod = (object: JsonObject): void => {
  const spec = ensureObject(object, "spec")
  spec["restartPolicy"] ??= "Always"
  spec["terminationGracePeriodSeconds"] ??= 30
  spec["dnsPolicy"] ??= "ClusterFirst"
  spec["schedulerName"] ??= "default-scheduler"
  object["status"] = { phase: "Pending", qosClass: qosClass(spec) }
}

/** Guaranteed, Burstable or BestEffort. Source: core/v1 helper qos; init containers count like the others. */
const qosClass = (spec: JsonObject): string => {
  const containers = [...arrayAt(spec, "containers"), ...arrayAt(spec, "initContainers")]
  const resources = containers.map((container) => objectAt(container, "resources") ?? {})
  const requested = (one: JsonObject, list: string): JsonObject => {
    const amounts = objectAt(one, list) ?? {}
    return Object.fromEntries(Object.entries(amounts).filter(([name]) => name === "cpu" || name === "memory"))
  }
  if (
    resources.every((one) => ["requests", "limits"].every((list) => Object.keys(requested(one, list)).length === 0))
  ) {
    return "BestEffort"
  }
  const guaranteed = resources.every((one) =>
    ["cpu", "memory"].every((name) => {
      const limit = at(one, "limits", name)
      return limit !== undefined && (at(one, "requests", name) ?? limit) === limit
    })
  )
  return guaranteed ? "Guaranteed" : "Burstable"
}

export const namespace = (object: JsonObject): void => {
  const metadata = ensureObject(object, "metadata")
  ensureObject(metadata, "labels")["kubernetes.io/metadata.name"] = textAt(metadata, "name")
  object["spec"] = { finalizers: ["kubernetes"] }
  object["status"] = { phase: "Active" }
}

/** Finalizers of a namespace's spec change through `finalize` only. */
export const keepSpec = (object: JsonObject, existing: JsonObject): void => {
  put(object, "spec", get(existing, "spec"))
}

export const service = (object: JsonObject): void => {
  const spec = ensureObject(object, "spec")
  spec["type"] ??= "ClusterIP"
  spec["sessionAffinity"] ??= "None"
  object["status"] = { loadBalancer: {} }
}

export const deployment = (object: JsonObject): void => {
  const spec = ensureObject(object, "spec")
  spec["replicas"] ??= 1
  spec["revisionHistoryLimit"] ??= 10
  spec["progressDeadlineSeconds"] ??= 600
  const strategy = ensureObject(spec, "strategy")
  strategy["type"] ??= "RollingUpdate"
  if (strategy["type"] === "RollingUpdate") {
    const rolling = ensureObject(strategy, "rollingUpdate")
    rolling["maxSurge"] ??= "25%"
    rolling["maxUnavailable"] ??= "25%"
  }
  object["status"] = {}
}

export const replicaSet = (object: JsonObject): void => {
  ensureObject(object, "spec")["replicas"] ??= 1
  object["status"] = { replicas: 0 }
}

/** `stringData` is a convenience of writing: it is folded into `data`. */
export const secret = (object: JsonObject): void => {
  object["type"] ??= "Opaque"
  foldStringData(object)
}

export const foldStringData = (object: JsonObject): void => {
  const plain = object["stringData"]
  delete object["stringData"]
  if (!isObject(plain)) return
  const data = ensureObject(object, "data")
  for (const [key, value] of Object.entries(plain)) if (typeof value === "string") set(data, key, Base64.encode(value))
}
