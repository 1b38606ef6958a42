/**
 * Defaults of Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController, Job, CronJob and HorizontalPodAutoscaler.
 * Source: the defaults of apps/v1, batch/v1, core/v1 and autoscaling/v2.
 */
import { arrayAt, at, clone, ensureObject, equal, get, isObject, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { absent, empty, objects, specOf } from "./fill.ts"
import { template } from "./pods.ts"
import { claim } from "./storage.ts"

export const deployment = (object: JsonObject): void => {
  const spec = specOf(object)
  absent(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
  const strategy = ensureObject(spec, "strategy")
  empty(strategy, { type: "RollingUpdate" })
  if (strategy["type"] === "RollingUpdate") {
    absent(ensureObject(strategy, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" })
  }
  template(spec)
}

export const replicaSet = (object: JsonObject): void => {
  const spec = specOf(object)
  absent(spec, { replicas: 1 })
  template(spec)
}

export const statefulSet = (object: JsonObject): void => {
  const spec = specOf(object)
  empty(spec, { podManagementPolicy: "OrderedReady" })
  absent(spec, { replicas: 1, revisionHistoryLimit: 10 })
  const strategy = ensureObject(spec, "updateStrategy")
  empty(strategy, { type: "RollingUpdate" })
  if (strategy["type"] === "RollingUpdate") absent(ensureObject(strategy, "rollingUpdate"), { partition: 0 })
  empty(ensureObject(spec, "persistentVolumeClaimRetentionPolicy"), { whenDeleted: "Retain", whenScaled: "Retain" })
  for (const one of objects(spec, "volumeClaimTemplates")) {
    claim(one)
    // Unlike other embedded objects, a claim template has apiVersion and kind.
    Object.assign(one, { apiVersion: "v1", kind: "PersistentVolumeClaim" })
  }
  template(spec)
}

export const daemonSet = (object: JsonObject): void => {
  const spec = specOf(object)
  absent(spec, { revisionHistoryLimit: 10 })
  const strategy = ensureObject(spec, "updateStrategy")
  empty(strategy, { type: "RollingUpdate" })
  if (strategy["type"] === "RollingUpdate") {
    absent(ensureObject(strategy, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 0 })
  }
  template(spec)
  const annotations = ensureObject(ensureObject(object, "metadata"), "annotations")
  if (!(Number(get(annotations, templateGeneration)) >= 1)) annotations[templateGeneration] = "1"
}

/** The annotation that replaced spec.templateGeneration of DaemonSets in apps/v1. */
const templateGeneration = "deprecated.daemonset.template.generation"

/** A client can set templateGeneration when it creates a DaemonSet, and cannot change it. */
export const daemonSetUpdate = (object: JsonObject, existing: JsonObject): void => {
  daemonSet(object)
  const count = Number(at(existing, "metadata", "annotations", templateGeneration) ?? 1)
  const same = equal(at(object, "spec", "template"), at(existing, "spec", "template"))
  const annotations = ensureObject(ensureObject(object, "metadata"), "annotations")
  annotations[templateGeneration] = String(same ? count : count + 1)
}

const labelsOf = (template: JsonObject | undefined): JsonObject | undefined => objectAt(template, "metadata", "labels")

/**
 * A Job or ReplicationController without labels gets those of its pod template. It is the same map, so that labels that are added
 * to the template of a Job later are on the Job, too, as in kube-apiserver.
 */
const inheritLabels = (object: JsonObject, spec: JsonObject): void => {
  const labels = labelsOf(objectAt(spec, "template"))
  const metadata = ensureObject(object, "metadata")
  const own = get(metadata, "labels")
  if (labels !== undefined && Object.keys(isObject(own) ? own : {}).length === 0) metadata["labels"] = labels
}

export const replicationController = (object: JsonObject): void => {
  const spec = specOf(object)
  const labels = labelsOf(objectAt(spec, "template"))
  const selector = objectAt(spec, "selector")
  if (labels !== undefined && Object.keys(selector ?? {}).length === 0) spec["selector"] = clone(labels)
  inheritLabels(object, spec)
  absent(spec, { replicas: 1 })
  if (get(spec, "template") !== undefined) template(spec)
}

export const job = (object: JsonObject): void => {
  const spec = specOf(object)
  if (get(spec, "completions") === undefined && get(spec, "parallelism") === undefined) spec["completions"] = 1
  absent(spec, {
    parallelism: 1,
    backoffLimit: get(spec, "backoffLimitPerIndex") === undefined ? 6 : 2_147_483_647,
    suspend: false,
    completionMode: "NonIndexed",
    manualSelector: false,
    podReplacementPolicy: get(spec, "podFailurePolicy") === undefined ? "TerminatingOrFailed" : "Failed"
  })
  inheritLabels(object, spec)
  template(spec)
}

export const cronJob = (object: JsonObject): void => {
  const spec = specOf(object)
  empty(spec, { concurrencyPolicy: "Allow" })
  absent(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 })
  const made = objectAt(spec, "jobTemplate", "spec")
  if (made !== undefined) template(made)
}

const uidLabels = ["controller-uid", "batch.kubernetes.io/controller-uid"] as const
const nameLabels = ["job-name", "batch.kubernetes.io/job-name"] as const

/** A Job selects its pods by its uid unless manualSelector is set. Source: pkg/registry/batch/job: generateSelector. */
export const jobSelector = (object: JsonObject): void => {
  const spec = specOf(object)
  const pods = get(spec, "template")
  if (get(spec, "manualSelector") === true || !isObject(pods)) return
  const labels = ensureObject(ensureObject(pods, "metadata"), "labels")
  for (const key of nameLabels) absent(labels, { [key]: textAt(object, "metadata", "name") })
  for (const key of uidLabels) absent(labels, { [key]: textAt(object, "metadata", "uid") })
  const selector = ensureObject(ensureObject(spec, "selector"), "matchLabels")
  if (get(selector, uidLabels[0]) === undefined) absent(selector, { [uidLabels[1]]: textAt(object, "metadata", "uid") })
  // Once more, because the template may have had no labels until now.
  inheritLabels(object, spec)
}

/** The default metric: CPU utilization of 80 % of the requests. */
const cpu = { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } }

const percent = { type: "Percent", value: 100, periodSeconds: 15 }
const scaleUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [{ type: "Pods", value: 4, periodSeconds: 15 }, percent]
}
/** Without a stabilization window, whose default is a flag of the controller. */
const scaleDown = { selectPolicy: "Max", policies: [percent] }

export const autoscaler = (object: JsonObject): void => {
  const spec = specOf(object)
  absent(spec, { minReplicas: 1 })
  if (arrayAt(spec, "metrics").length === 0) {
    delete spec["metrics"]
    absent(spec, { metrics: [{ type: "Resource", resource: cpu }] satisfies Json })
  }
  const behavior = get(spec, "behavior")
  if (!isObject(behavior)) return
  absent(ensureObject(behavior, "scaleUp"), scaleUp)
  absent(ensureObject(behavior, "scaleDown"), scaleDown)
}
