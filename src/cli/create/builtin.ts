/** Kubernetes' own kinds for which `create controller` writes a controller, each with a short valid object for its test. */
import * as Resource from "../../kube/Resource.ts"
import * as Resources from "../../kube/resources.ts"

const pod = "{ containers: [{ name: main, image: example.test/main:1 }] }"
const template = `{ metadata: { labels: { app: first } }, spec: ${pod} }`
const selector = "{ matchLabels: { app: first } }"
const job = `{ spec: { restartPolicy: Never, containers: [{ name: main, image: example.test/main:1 }] } }`

/** The fields beside the names, in YAML; empty where the kind has no field that is required. */
const fields: Readonly<Record<string, ReadonlyArray<string>>> = {
  Pod: [`spec: ${pod}`],
  Node: [],
  Namespace: [],
  ConfigMap: ["data: { key: value }"],
  Secret: ["stringData: { key: value }"],
  Service: ["spec: { selector: { app: first }, ports: [{ port: 80 }] }"],
  ServiceAccount: [],
  Deployment: [`spec:`, `  selector: ${selector}`, `  template: ${template}`],
  ReplicaSet: [`spec:`, `  selector: ${selector}`, `  template: ${template}`],
  DaemonSet: [`spec:`, `  selector: ${selector}`, `  template: ${template}`],
  StatefulSet: [`spec:`, `  serviceName: first`, `  selector: ${selector}`, `  template: ${template}`],
  ReplicationController: [`spec:`, `  selector: { app: first }`, `  template: ${template}`],
  Job: [`spec:`, `  template: ${job}`],
  CronJob: [`spec:`, `  schedule: "0 * * * *"`, `  jobTemplate: { spec: { template: ${job} } }`],
  Lease: ["spec: { holderIdentity: first }"],
  PersistentVolume: ["spec: { capacity: { storage: 1Gi }, accessModes: [ReadWriteOnce], hostPath: { path: /data } }"],
  PersistentVolumeClaim: ["spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }"],
  StorageClass: ["provisioner: example.test/disk"],
  ResourceQuota: [`spec: { hard: { pods: "10" } }`],
  PodDisruptionBudget: [`spec: { minAvailable: 1, selector: ${selector} }`],
  HorizontalPodAutoscaler: [
    "spec:",
    "  maxReplicas: 3",
    "  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: first }"
  ],
  ClusterRole: [`rules: [{ apiGroups: [""], resources: [pods], verbs: [get] }]`]
}

const all: Readonly<Record<string, unknown>> = Resources

/** By the name that the library exports it by. */
export const kinds: ReadonlyMap<string, Resource.Any> = new Map(
  Object.keys(fields).flatMap((name) => (Object.hasOwn(all, name) ? [[name, all[name] as Resource.Any] as const] : []))
)

/** An object of the kind, called `first`, as YAML. */
export const sampleOf = (kind: Resource.Any): string =>
  [
    `apiVersion: ${Resource.apiVersion(kind)}`,
    `kind: ${kind.kind}`,
    `metadata: { ${kind.scope === "Namespaced" ? "namespace: default, " : ""}name: first }`,
    ...(fields[kind.kind] ?? [])
  ].join("\n")
