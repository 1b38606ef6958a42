/**
 * A pod runs as an account that exists, and its containers find a token of that account at the usual place. Source: the
 * ServiceAccount plugin of the reference server, and its words; that of the annotation `kubernetes.io/enforce-mountable-secrets`,
 * which is deprecated, is not here.
 */
import { arrayAt, at, ensureObject, get, isObject, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import { suffix } from "../RequestContext.ts"
import type { Plugin, Write } from "./Admission.ts"
import { isPod } from "./pods.ts"
import * as stored from "./stored.ts"

/** Every namespace gets an account of that name from a controller, and pods that name none run as it. */
const standard = "default"

export const serviceAccount: Plugin = {
  name: "ServiceAccount",
  admit: (write) => {
    if (!isNewPod(write)) return
    const { object, target, context } = write
    const spec = ensureObject(object, "spec")
    if (isMirror(object)) {
      const why = refusalOfMirror(spec)
      if (why !== undefined) throw forbidden(write, why)
      return
    }
    const name = textAt(spec, "serviceAccountName") || standard
    spec["serviceAccountName"] = name
    spec["serviceAccount"] = name
    const account = stored.object(context, "serviceaccounts", target.namespace, name)
    if (account === undefined) {
      const why = `error looking up service account ${target.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`
      const refusal = forbidden(write, why)
      // A pod may come right after its namespace: its account is on the way.
      throw name === standard ? refusal.temporary() : refusal
    }
    if (isMounted(spec, account)) mountToken(spec, `${volumePrefix}${suffix(context.random)}`)
    const secrets = arrayAt(account, "imagePullSecrets")
    if (arrayAt(spec, "imagePullSecrets").length === 0 && secrets.length > 0) {
      spec["imagePullSecrets"] = secrets.map((one) => ({ name: textAt(one, "name") }))
    }
  }
}

const isNewPod = (write: Write): boolean => write.before === undefined && isPod(write)

const forbidden = ({ object, target }: Write, why: string): StatusError.StatusError =>
  StatusError.forbidden(target.kind, textAt(object, "metadata", "name"), why)

/** Shows what a kubelet runs by itself, and is none of the server's business. */
const isMirror = (object: JsonObject): boolean =>
  at(object, "metadata", "annotations", "kubernetes.io/config.mirror") !== undefined

const refusalOfMirror = (spec: JsonObject): string | undefined => {
  if (textAt(spec, "serviceAccountName") !== "") return "a mirror pod may not reference service accounts"
  const volumes = arrayAt(spec, "volumes")
  const projections = volumes.flatMap((volume) => arrayAt(volume, "projected", "sources"))
  const references = [...volumes, ...projections, ...containersOf(spec).flatMap(environmentOf)]
  const namesSecrets = references.some((one) => secretsOf.some((path) => at(one, ...path) !== undefined))
  if (namesSecrets || arrayAt(spec, "imagePullSecrets").length > 0) return "a mirror pod may not reference secrets"
  return projections.some((one) => at(one, "serviceAccountToken") !== undefined)
    ? "a mirror pod may not use ServiceAccountToken volume projections"
    : undefined
}

/** Where volumes, projections and variables name a secret; the volumes of storage systems are not looked at. */
const secretsOf: ReadonlyArray<ReadonlyArray<string>> = [["secret"], ["secretRef"], ["valueFrom", "secretKeyRef"]]

const containersOf = (spec: JsonObject): ReadonlyArray<JsonObject> =>
  [...arrayAt(spec, "initContainers"), ...arrayAt(spec, "containers")].filter(isObject)

const environmentOf = (container: JsonObject): ReadonlyArray<Json> => [
  ...arrayAt(container, "env"),
  ...arrayAt(container, "envFrom")
]

/** The pod's wish goes before the account's. */
const isMounted = (spec: JsonObject, account: JsonObject): boolean =>
  (get(spec, "automountServiceAccountToken") ?? get(account, "automountServiceAccountToken")) !== false

const volumePrefix = "kube-api-access-"

const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

/** A container that has something there already keeps it; a volume that is ours by its name is used again. */
const mountToken = (spec: JsonObject, fresh: string): void => {
  const volumes = arrayAt(spec, "volumes")
  const own = volumes.map((volume) => textAt(volume, "name")).find((name) => name.startsWith(volumePrefix))
  const name = own ?? fresh
  let isNeeded = false
  for (const container of containersOf(spec)) {
    const mounts = arrayAt(container, "volumeMounts")
    if (mounts.some((mount) => textAt(mount, "mountPath") === mountPath)) continue
    container["volumeMounts"] = [...mounts, { name, readOnly: true, mountPath }]
    isNeeded = true
  }
  if (isNeeded && own === undefined) put(spec, "volumes", [...volumes, { name, projected: tokenSources() }])
}

/** Made anew each time: what is stored belongs to the pod. */
const tokenSources = (): JsonObject => ({
  sources: [
    { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: {
        items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }]
      }
    }
  ],
  defaultMode: 420
})
