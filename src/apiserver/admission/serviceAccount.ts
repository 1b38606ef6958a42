/**
 * Sets the service account of a pod, which must exist, and mounts its token in the containers. Source:
 * plugin/pkg/admission/serviceaccount, including its messages; without the deprecated annotation
 * `kubernetes.io/enforce-mountable-secrets`.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { arrayAt, at, ensureObject, get, isObject, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import { suffix } from "../RequestContext.ts"
import type { Plugin, Write } from "./Admission.ts"
import { isPod } from "./pods.ts"
import * as stored from "./stored.ts"

/** The account that a controller creates in every namespace; pods that name none use it. */
const standard = "default"

export const serviceAccount: Plugin = {
  name: "ServiceAccount",
  admit: (write) => {
    if (!isNewPod(write)) return undefined
    const { object } = write
    const spec = ensureObject(object, "spec")
    if (isMirror(object)) {
      const why = refusalOfMirror(spec)
      return why === undefined ? undefined : forbidden(write, why)
    }
    const name = textAt(spec, "serviceAccountName") || standard
    spec["serviceAccountName"] = name
    spec["serviceAccount"] = name
    const account = accountOf(write, name)
    if (account !== undefined) return setAccount(write, spec, account)
    const { namespace } = write.target
    const why = `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`
    const refusal = forbidden(write, why)
    return name === standard ? awaitAccount(write, spec, refusal) : refusal
  }
}

const accountOf = ({ context, target }: Write, name: string): JsonObject | undefined =>
  stored.object(context, "serviceaccounts", target.namespace, name)

const setAccount = ({ context }: Write, spec: JsonObject, account: JsonObject): undefined => {
  if (isMounted(spec, account)) mountToken(spec, `${volumePrefix}${suffix(context.random)}`)
  const secrets = arrayAt(account, "imagePullSecrets")
  if (arrayAt(spec, "imagePullSecrets").length === 0 && secrets.length > 0) {
    spec["imagePullSecrets"] = secrets.map((one) => ({ name: textAt(one, "name") }))
  }
}

const tries = 10

/** Milliseconds between two tries, drawn once per request, so that requests that came together do not look together. */
const [least, most] = [100, 199] as const

/** A new namespace gets its account from a controller in a moment: looks ten times before it refuses the pod. */
const awaitAccount = (
  write: Write,
  spec: JsonObject,
  refusal: StatusError.StatusError
): Effect.Effect<void, StatusError.StatusError> =>
  Effect.gen(function* () {
    const interval = yield* Random.nextIntBetween(least, most)
    for (let looked = 1; looked < tries; looked++) {
      yield* Effect.sleep(interval)
      const account = accountOf(write, standard)
      if (account !== undefined) return setAccount(write, spec, account)
    }
    return yield* refusal
  })

const isNewPod = (write: Write): boolean => write.before === undefined && isPod(write)

const forbidden = ({ object, target }: Write, why: string): StatusError.StatusError =>
  StatusError.forbidden(target.resource, textAt(object, "metadata", "name"), why)

/** A mirror pod represents a static pod of a kubelet. */
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

/** Where volumes, projections and variables reference a secret; volumes of storage systems are not checked. */
const secretsOf: ReadonlyArray<ReadonlyArray<string>> = [["secret"], ["secretRef"], ["valueFrom", "secretKeyRef"]]

const containersOf = (spec: JsonObject): ReadonlyArray<JsonObject> =>
  [...arrayAt(spec, "initContainers"), ...arrayAt(spec, "containers")].filter(isObject)

const environmentOf = (container: JsonObject): ReadonlyArray<Json> => [
  ...arrayAt(container, "env"),
  ...arrayAt(container, "envFrom")
]

/** The setting of the pod takes precedence over that of the account. */
const isMounted = (spec: JsonObject, account: JsonObject): boolean =>
  (get(spec, "automountServiceAccountToken") ?? get(account, "automountServiceAccountToken")) !== false

const volumePrefix = "kube-api-access-"

const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

/** Leaves a container with a mount at that path as it is, and reuses a volume with the name of a token volume. */
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

/** A new object each time, because the pod owns it. */
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
