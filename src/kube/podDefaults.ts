/**
 * The defaults that an API server sets in a pod spec, by path: `restartPolicy` of the spec has one, that of a container has none. Defaults
 * that pods have and templates have not, such as requests equal to limits, are not here. In place; a value of the wrong type stays as it is.
 * Source: pkg/apis/core/v1 SetObjectDefaults_PodTemplate.
 */
import * as Quantity from "./quantity.ts"

type Members = Record<string, unknown>

/** The defaults at one path, and below it. */
interface Shape {
  /** Defaults of fields that are no pointers: the empty string and zero count as absent. */
  readonly values?: Readonly<Record<string, string | number>>
  /** Defaults of fields that are pointers: only absent and null count as absent. */
  readonly pointers?: Readonly<Record<string, unknown>>
  /** Defaults that depend on other fields. */
  readonly derive?: (object: Members) => void
  /** The shapes of fields: of an object, or of each object of a list. Fields that are not named here have no defaults below. */
  readonly within?: Readonly<Record<string, Shape>>
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isAbsent = (value: unknown): boolean => value === undefined || value === null

const apply = (shape: Shape, object: Members): void => {
  const { derive, pointers = {}, values = {}, within = {} } = shape
  for (const key of Object.keys(values)) {
    const found = object[key]
    if (isAbsent(found) || found === "" || found === 0) object[key] = values[key]
  }
  for (const key of Object.keys(pointers)) {
    const value = pointers[key]
    if (isAbsent(object[key])) object[key] = isObject(value) ? { ...value } : value
  }
  derive?.(object)
  for (const key of Object.keys(within)) {
    const found = object[key]
    for (const one of Array.isArray(found) ? found : [found]) if (isObject(one)) apply(within[key] as Shape, one)
  }
}

/** Quantities in their canonical form, rounded up to thousandths. Source: SetDefaults_ResourceList. */
const amounts: Shape = {
  derive: (list) => {
    for (const key of Object.keys(list)) {
      const parsed = Quantity.parse(list[key])
      const milli = Quantity.milli(list[key])
      if (parsed === undefined || milli === undefined) continue
      list[key] = Quantity.canonical({ nanos: milli * 1_000_000n, form: parsed.form })
    }
  }
}

const resources: Shape = { within: { limits: amounts, requests: amounts } }

const fieldRef: Shape = { values: { apiVersion: "v1" } }

const httpGet: Shape = { values: { path: "/", scheme: "HTTP" } }

const probe: Shape = {
  values: { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  within: { httpGet, grpc: { pointers: { service: "" } } }
}

/** A reference to an image, with its tag and digest. Source: distribution/reference. */
const reference =
  /^(?:[\w.:[\]-]+\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::(?<tag>\w[\w.-]{0,127}))?(?<digest>@[\w.+-]+:[0-9a-fA-F]{32,})?$/

/** `Always` for the tag `latest`, which may move to another image. A malformed reference has no tag. Source: ParseImageName. */
const pullPolicy = (image: unknown): string => {
  const groups = typeof image === "string" ? reference.exec(image)?.groups : undefined
  const isLatest =
    groups !== undefined && (groups["tag"] ?? (groups["digest"] === undefined ? "latest" : "")) === "latest"
  return isLatest ? "Always" : "IfNotPresent"
}

const container: Shape = {
  values: { terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" },
  derive: (one) => apply({ values: { imagePullPolicy: pullPolicy(one["image"]) } }, one),
  within: {
    ports: { values: { protocol: "TCP" } },
    env: { within: { valueFrom: { within: { fieldRef, fileKeyRef: { pointers: { optional: false } } } } } },
    resources,
    livenessProbe: probe,
    readinessProbe: probe,
    startupProbe: probe,
    lifecycle: { within: { postStart: { within: { httpGet } }, preStop: { within: { httpGet } } } }
  }
}

/** Volume sources that persistent volumes have too. */
const drivers: Readonly<Record<string, Shape>> = {
  azureDisk: { pointers: { cachingMode: "ReadWrite", fsType: "ext4", kind: "Shared", readOnly: false } },
  hostPath: { pointers: { type: "" } },
  iscsi: { values: { iscsiInterface: "default" } },
  rbd: { values: { keyring: "/etc/ceph/keyring", pool: "rbd", user: "admin" } },
  scaleIO: { values: { fsType: "xfs", storageMode: "ThinProvisioned" } }
}

const withMode: Shape = { pointers: { defaultMode: 420 } }

const fieldFiles: Shape = { within: { items: { within: { fieldRef } } } }

const volume: Shape = {
  derive: (one) => {
    if (Object.keys(one).every((key) => key === "name" || isAbsent(one[key]))) one["emptyDir"] = {}
  },
  within: {
    ...drivers,
    secret: withMode,
    configMap: withMode,
    downwardAPI: { ...withMode, ...fieldFiles },
    projected: {
      ...withMode,
      within: {
        sources: { within: { downwardAPI: fieldFiles, serviceAccountToken: { pointers: { expirationSeconds: 3600 } } } }
      }
    },
    ephemeral: {
      within: {
        volumeClaimTemplate: { within: { spec: { pointers: { volumeMode: "Filesystem" }, within: { resources } } } }
      }
    },
    image: { derive: (one) => apply({ values: { pullPolicy: pullPolicy(one["reference"]) } }, one) }
  }
}

const pod: Shape = {
  values: { dnsPolicy: "ClusterFirst", restartPolicy: "Always", schedulerName: "default-scheduler" },
  pointers: { securityContext: {}, terminationGracePeriodSeconds: 30 },
  within: {
    volumes: volume,
    initContainers: container,
    containers: container,
    ephemeralContainers: container,
    overhead: amounts,
    resources
  }
}

/** A pod's spec, or that of a template. */
export const podSpec = (spec: Members): void => apply(pod, spec)

/** The source of a persistent volume. */
export const persistentVolumeSource = (spec: Members): void => apply({ within: drivers }, spec)

/** A template with its defaults, as a copy. */
export const template = (given: object): object => {
  const copy = structuredClone(given) as Members
  if (!isObject(copy["spec"])) copy["spec"] = {}
  podSpec(copy["spec"] as Members)
  return copy
}
