/**
 * Defaults of pod specs, whether in a pod or in the template of a workload. Source: core/v1 defaults of the reference server.
 * Templates are not given everything: what depends on the pod as it runs is filled in when the pod is made.
 */
import { ensureObject, get, isObject, numberAt, objectAt, set, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { absent, empty, objects, quantities, quantity, specOf } from "./fill.ts"

const specTexts = {
  restartPolicy: "Always",
  dnsPolicy: "ClusterFirst",
  schedulerName: "default-scheduler"
} as const

const specValues = { terminationGracePeriodSeconds: 30, securityContext: {} } as const

export const podSpec = (spec: JsonObject): void => {
  empty(spec, specTexts)
  absent(spec, specValues)
  account(spec)
  for (const volume of objects(spec, "volumes")) defaultVolume(volume)
  const host = get(spec, "hostNetwork") === true
  for (const one of objects(spec, "initContainers")) container(one, host)
  for (const one of objects(spec, "containers")) container(one, host)
  for (const one of objects(spec, "ephemeralContainers")) container(one, false)
}

/** The older name of the account follows the newer one. */
const account = (spec: JsonObject): void => {
  const name = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount")
  if (name === "") return
  spec["serviceAccountName"] = name
  spec["serviceAccount"] = name
}

const withMode = ["secret", "configMap", "projected", "downwardAPI"] as const

/** What is filled in of the volumes of particular drivers. */
const drivers: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  azureDisk: { cachingMode: "ReadWrite", fsType: "ext4", kind: "Shared", readOnly: false },
  hostPath: { type: "" },
  iscsi: { iscsiInterface: "default" },
  rbd: { keyring: "/etc/ceph/keyring", pool: "rbd", user: "admin" },
  scaleIO: { fsType: "xfs", storageMode: "ThinProvisioned" }
}

/** The same in a pod's volume and in the spec of a persistent one. */
export const driven = (volume: JsonObject): void => {
  for (const [kind, values] of Object.entries(drivers)) {
    const source = get(volume, kind)
    if (isObject(source)) absent(source, values)
  }
}

/** Where the values of fields and the tokens of accounts are files. */
const files = (source: Json | undefined): void => {
  for (const item of objects(source, "items")) {
    const field = objectAt(item, "fieldRef")
    if (field !== undefined) empty(field, { apiVersion: "v1" })
  }
}

const defaultVolume = (volume: JsonObject): void => {
  if (Object.keys(volume).every((key) => key === "name")) set(volume, "emptyDir", {})
  driven(volume)
  for (const kind of withMode) {
    const source = get(volume, kind)
    if (isObject(source)) absent(source, { defaultMode: 420 })
  }
  files(get(volume, "downwardAPI"))
  for (const source of objects(volume, "projected", "sources")) {
    files(get(source, "downwardAPI"))
    const token = objectAt(source, "serviceAccountToken")
    if (token !== undefined) absent(token, { expirationSeconds: 3600 })
  }
  const directory = get(volume, "emptyDir")
  if (isObject(directory)) quantity(directory, "sizeLimit")
  const claim = objectAt(volume, "ephemeral", "volumeClaimTemplate")
  if (claim !== undefined) absent(specOf(claim), { volumeMode: "Filesystem" })
}

const containerTexts = { terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" } as const

const container = (one: JsonObject, hostNetwork: boolean): void => {
  empty(one, containerTexts)
  if (textAt(one, "imagePullPolicy") === "") one["imagePullPolicy"] = pullPolicy(textAt(one, "image"))
  const resources = ensureObject(one, "resources")
  quantities(get(resources, "limits"))
  quantities(get(resources, "requests"))
  for (const port of objects(one, "ports")) {
    empty(port, { protocol: "TCP" })
    if (hostNetwork && numberAt(port, "hostPort") === 0) port["hostPort"] = numberAt(port, "containerPort")
  }
  for (const variable of objects(one, "env")) {
    const field = objectAt(variable, "valueFrom", "fieldRef")
    if (field !== undefined) empty(field, { apiVersion: "v1" })
  }
  for (const key of ["livenessProbe", "readinessProbe", "startupProbe"]) probe(get(one, key))
  const lifecycle = get(one, "lifecycle")
  for (const key of ["postStart", "preStop"]) httpGet(objectAt(lifecycle, key, "httpGet"))
}

/** Images that are named by a tag which may move are pulled anew each time. */
const pullPolicy = (image: string): string => {
  if (image.includes("@")) return "IfNotPresent"
  const last = image.slice(image.lastIndexOf("/") + 1)
  const colon = last.lastIndexOf(":")
  return colon < 0 || last.slice(colon + 1) === "latest" ? "Always" : "IfNotPresent"
}

const counters = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } as const

const probe = (value: Json | undefined): void => {
  if (!isObject(value)) return
  for (const [key, count] of Object.entries(counters)) if (numberAt(value, key) === 0) value[key] = count
  httpGet(objectAt(value, "httpGet"))
  const grpc = get(value, "grpc")
  if (isObject(grpc)) absent(grpc, { service: "" })
}

const httpGet = (value: JsonObject | undefined): void => {
  if (value !== undefined) empty(value, { path: "/", scheme: "HTTP" })
}

/** What is asked for is what may be used, unless it was said. */
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

/** The template of a workload; one that is missing is an empty one. */
export const template = (spec: JsonObject): void => podSpec(specOf(ensureObject(spec, "template")))
