/**
 * Objects that a server must reject, or store unchanged, as data. Each is sent as it is; `patch` is a merge patch of the created object.
 * `validationAnswers.json` has the responses of kube-apiserver 1.20.
 */
export interface Case {
  readonly name: string
  /** The path below the namespace; `old` is the path on a server of 1.20, if it differs. */
  readonly path: string
  readonly old?: string
  readonly clusterScoped?: boolean
  readonly body: object
  readonly patch?: object
  /** Why the embedded server differs, if it does. */
  readonly differs?: string
}

/** kube-apiserver 1.36, which the embedded server follows, has more errors or other messages than 1.20. */
export const newer = "the words of newer servers"
/** Since 1.27, the generated labels of Jobs have a prefix. */
export const labelled = "the labels of newer servers"
/** kube-apiserver prints the fields of Go structs. */
export const printed = "values are printed without Go's internals"

export type Part = Readonly<Record<string, unknown>>

export const container = (more: Part = {}) => ({ name: "main", image: "web:1", ...more })
export const podSpec = (more: Part = {}) => ({ containers: [container()], ...more })
export const labels = { app: "a" }
export const template = (spec: Part = {}, metadata: Part = { labels }) => ({ metadata, spec: podSpec(spec) })

let count = 0
export const named = (part: Part, metadata: Part = {}) => ({ metadata: { name: `c${count++}`, ...metadata }, ...part })

export const pods = "api/v1/pods"
export const pod = (name: string, spec: Part, then?: object, differs?: string): Case => ({
  name: `pod: ${name}`,
  path: pods,
  body: named({ spec: podSpec(spec) }),
  ...(then === undefined ? {} : { patch: then }),
  ...(differs === undefined ? {} : { differs })
})
export const inContainer = (name: string, more: Part, differs?: string): Case =>
  pod(name, { containers: [container(more)] }, undefined, differs)

export const kind =
  (title: string, path: string, base: Part, old?: string) =>
  (name: string, spec: Part, then?: object, differs?: string): Case => ({
    name: `${title}: ${name}`,
    path,
    ...(old === undefined ? {} : { old }),
    body: named({ spec: { ...base, ...spec } }),
    ...(then === undefined ? {} : { patch: then }),
    ...(differs === undefined ? {} : { differs })
  })

export const workload = { selector: { matchLabels: labels }, template: template() }
export const deployment = kind("deployment", "apis/apps/v1/deployments", workload)
export const replicaSet = kind("replicaset", "apis/apps/v1/replicasets", workload)
export const statefulSet = kind("statefulset", "apis/apps/v1/statefulsets", { ...workload, serviceName: "s" })
export const daemonSet = kind("daemonset", "apis/apps/v1/daemonsets", workload)
export const controller = kind("replicationcontroller", "api/v1/replicationcontrollers", { template: template() })
export const once = { template: template({ restartPolicy: "Never" }) }
export const job = kind("job", "apis/batch/v1/jobs", once)
export const cronJob = kind(
  "cronjob",
  "apis/batch/v1/cronjobs",
  { schedule: "*/5 * * * *", jobTemplate: { spec: once } },
  "apis/batch/v1beta1/cronjobs"
)
export const service = kind("service", "api/v1/services", { ports: [{ port: 80 }] })
export const claim = kind("claim", "api/v1/persistentvolumeclaims", {
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: "1Gi" } }
})
export const budget = kind(
  "budget",
  "apis/policy/v1/poddisruptionbudgets",
  { selector: { matchLabels: labels } },
  "apis/policy/v1beta1/poddisruptionbudgets"
)

export const plain = (name: string, path: string, part: Part, then?: object, more: Partial<Case> = {}): Case => ({
  name,
  path,
  body: named(part),
  ...(then === undefined ? {} : { patch: then }),
  ...more
})
