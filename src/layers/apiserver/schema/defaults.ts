/**
 * Defaults of specs: what a reader may rely on although no writer said it. First cut: the fields that clients and controllers
 * notice at once. Applied on every write, so that what an update leaves out is filled in again.
 */
import { ensureObject } from "../json.ts"
import type { JsonObject } from "../json.ts"

export const pod = (object: JsonObject): void => {
  const spec = ensureObject(object, "spec")
  spec["restartPolicy"] ??= "Always"
  spec["terminationGracePeriodSeconds"] ??= 30
  spec["dnsPolicy"] ??= "ClusterFirst"
  spec["schedulerName"] ??= "default-scheduler"
}

export const service = (object: JsonObject): void => {
  const spec = ensureObject(object, "spec")
  spec["type"] ??= "ClusterIP"
  spec["sessionAffinity"] ??= "None"
}

export const deployment = (object: JsonObject): void => {
  const spec = ensureObject(object, "spec")
  spec["replicas"] ??= 1
  spec["revisionHistoryLimit"] ??= 10
  spec["progressDeadlineSeconds"] ??= 600
  const strategy = ensureObject(spec, "strategy")
  strategy["type"] ??= "RollingUpdate"
  if (strategy["type"] !== "RollingUpdate") return
  const rolling = ensureObject(strategy, "rollingUpdate")
  rolling["maxSurge"] ??= "25%"
  rolling["maxUnavailable"] ??= "25%"
}

export const replicaSet = (object: JsonObject): void => {
  ensureObject(object, "spec")["replicas"] ??= 1
}

export const secret = (object: JsonObject): void => {
  object["type"] ??= "Opaque"
}
