/**
 * PrepareForCreate and PrepareForUpdate of the built-in resources: mostly the initial status. Defaults of specs are in
 * `defaults/`. Source: the strategies of pkg/registry.
 */
import * as Base64 from "effect/encoding/Base64"
import { arrayAt, at, ensureObject, get, isObject, objectAt, put, set, textAt } from "../json.ts"
import type { User } from "../Api.ts"
import type { JsonObject } from "../json.ts"
import { jobSelector } from "./defaults/workloads.ts"

/** A pod starts Pending, whatever status was sent. */
export const pod = (object: JsonObject): void => {
  object["status"] = { phase: "Pending", qosClass: qosClass(ensureObject(object, "spec")) }
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
  object["status"] = { loadBalancer: {} }
}

export const withoutStatus = (object: JsonObject): void => {
  object["status"] = {}
}

export const deployment = (object: JsonObject): void => {
  object["status"] = {}
}

export const replicaSet = (object: JsonObject): void => {
  object["status"] = { replicas: 0 }
}

/** Merges `stringData`, which is write-only, into `data`. */
export const foldStringData = (object: JsonObject): void => {
  const plain = object["stringData"]
  delete object["stringData"]
  if (!isObject(plain)) return
  const data = ensureObject(object, "data")
  for (const [key, value] of Object.entries(plain)) if (typeof value === "string") set(data, key, Base64.encode(value))
}

/** The requestor is the user, whatever was sent. Source: pkg/registry/certificates: csrStrategy. */
export const signingRequest = (object: JsonObject, { extra = {}, groups, name, uid }: User): void => {
  const spec = ensureObject(object, "spec")
  for (const member of ["extra", "groups", "uid", "username"]) delete spec[member]
  spec["username"] = name
  if (uid !== undefined) spec["uid"] = uid
  if (groups.length > 0) spec["groups"] = [...groups]
  for (const [key, texts] of Object.entries(extra)) set(ensureObject(spec, "extra"), key, [...texts])
  object["status"] = {}
}

/** The spec never changes; new conditions get their times, and decisions stay. Source: populateConditionTimestamps. */
export const signingRequestUpdate = (object: JsonObject, existing: JsonObject, now: string): void => {
  put(object, "spec", get(existing, "spec"))
  for (const condition of arrayAt(object, "status", "conditions")) {
    if (!isObject(condition)) continue
    const before = arrayAt(existing, "status", "conditions").find(
      (one) =>
        textAt(one, "type") === textAt(condition, "type") && textAt(one, "status") === textAt(condition, "status")
    )
    if (textAt(condition, "lastUpdateTime") === "") condition["lastUpdateTime"] = now
    if (textAt(condition, "lastTransitionTime") === "") {
      condition["lastTransitionTime"] = textAt(before, "lastTransitionTime") || now
    }
  }
}

const job = (object: JsonObject): void => {
  object["status"] = {}
  jobSelector(object)
}

const daemonSet = (object: JsonObject): void => {
  object["status"] = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }
}

const statefulSet = (object: JsonObject): void => {
  object["status"] = { replicas: 0, availableReplicas: 0 }
}

const autoscaler = (object: JsonObject): void => {
  object["status"] = { desiredReplicas: 0, currentMetrics: null }
}

const disruptionBudget = (object: JsonObject): void => {
  object["status"] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
}

const claim = (object: JsonObject): void => {
  object["status"] = { phase: "Pending" }
}

/** Sets status.lastPhaseTransitionTime of a new volume. Source: pkg/registry/core/persistentvolume: strategy, since 1.31. */
const volume = (object: JsonObject): void => {
  const since = textAt(object, "metadata", "creationTimestamp")
  object["status"] = { phase: "Pending", lastPhaseTransitionTime: since }
}

/** A change of the phase sets lastPhaseTransitionTime, unless the client set it in the same update. */
export const volumePhase = (object: JsonObject, existing: JsonObject, now: string): void => {
  const status = objectAt(object, "status")
  if (status === undefined || textAt(status, "phase") === textAt(existing, "status", "phase")) return
  const since = get(status, "lastPhaseTransitionTime")
  if (since === undefined || since === at(existing, "status", "lastPhaseTransitionTime")) {
    status["lastPhaseTransitionTime"] = now
  }
}

const attachment = (object: JsonObject): void => {
  object["status"] = { attached: false }
}

const empty = (object: JsonObject): void => {
  object["status"] = {}
}

const table: ReadonlyMap<string, (object: JsonObject) => void> = new Map(
  Object.entries({
    ReplicationController: replicaSet,
    PersistentVolume: volume,
    PersistentVolumeClaim: claim,
    ResourceQuota: empty,
    "apps/StatefulSet": statefulSet,
    "apps/DaemonSet": daemonSet,
    "batch/Job": job,
    "batch/CronJob": empty,
    "autoscaling/HorizontalPodAutoscaler": autoscaler,
    "flowcontrol.apiserver.k8s.io/FlowSchema": empty,
    "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": empty,
    "networking.k8s.io/Ingress": service,
    "networking.k8s.io/ServiceCIDR": empty,
    "policy/PodDisruptionBudget": disruptionBudget,
    "resource.k8s.io/ResourceClaim": empty,
    "storage.k8s.io/VolumeAttachment": attachment
  })
)

/** PrepareForCreate of the kinds of `storedResources.ts`. */
export const onCreateOf = (kind: { readonly group: string; readonly kind: string }) =>
  table.get(kind.group === "" ? kind.kind : `${kind.group}/${kind.kind}`)
