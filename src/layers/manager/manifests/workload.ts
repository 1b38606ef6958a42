/**
 * The program as a workload: replicas that a node's failure does not take all at once, that run as nobody, write nowhere, and say when
 * they are well; what may reach them and what collects their metrics. Pure.
 */
import { names } from "../webhooks/names.ts"
import type { Manifest } from "./objects.ts"
import type { Webhooks } from "./webhooks.ts"

export interface Options {
  /** Of the account, the roles and the workload. */
  readonly name: string
  /** Where it is installed. */
  readonly namespace: string
  readonly image: string
  /** Of the program, as its pods are to run it. */
  readonly args: ReadonlyArray<string>
  /** What a pod has to stop in order. */
  readonly graceSeconds: number
  /** Metrics are for those alone who may read them, over HTTPS. */
  readonly secureMetrics: boolean
  /** A kind of the Prometheus operator is included. */
  readonly serviceMonitor: boolean
  /** Of the oldest server that they are for: 21 is Kubernetes 1.21. */
  readonly minorVersion: number
  /** Undefined where they are not served. */
  readonly ports: { readonly probes: number | undefined; readonly metrics: number | undefined }
  /** Undefined where none are served. */
  readonly webhooks?: Webhooks | undefined
}

const replicas = 2

export const selector = ({ name }: Pick<Options, "name">) => ({ "app.kubernetes.io/name": name })

export const labels = (options: Pick<Options, "name">) => ({
  ...selector(options),
  "app.kubernetes.io/component": "controller-manager"
})

const metadata = (options: Options) => ({
  name: options.name,
  namespace: options.namespace,
  labels: labels(options)
})

export const all = (options: Options): ReadonlyArray<Manifest> => [
  deployment(options),
  disruptionBudget(options),
  networkPolicy(options),
  ...(options.ports.metrics === undefined ? [] : [metricsService(options)]),
  ...(options.ports.metrics === undefined || !options.serviceMonitor ? [] : [serviceMonitor(options)])
]

const deployment = (options: Options): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: metadata(options),
  spec: {
    replicas,
    selector: { matchLabels: selector(options) },
    template: { metadata: { labels: labels(options) }, spec: pod(options) }
  }
})

const pod = (options: Options) => ({
  serviceAccountName: options.name,
  terminationGracePeriodSeconds: options.graceSeconds,
  securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: "kubernetes.io/hostname",
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: selector(options) }
    }
  ],
  containers: [
    {
      name: "manager",
      image: options.image,
      args: options.args,
      env: [{ name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } }],
      ports: ports(options),
      ...probes(options),
      resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } },
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] }
      },
      ...mounts(options)
    }
  ],
  ...volumes(options)
})

const volume = "webhook-certificate"

const mounts = ({ webhooks }: Options) =>
  webhooks?.mountPath === undefined
    ? {}
    : { volumeMounts: [{ name: volume, mountPath: webhooks.mountPath, readOnly: true }] }

const volumes = ({ name, webhooks }: Options) =>
  webhooks?.mountPath === undefined ? {} : { volumes: [{ name: volume, secret: { secretName: names(name).secret } }] }

const ports = ({ ports: { metrics, probes }, webhooks }: Options) => [
  ...(probes === undefined ? [] : [{ name: "probes", containerPort: probes }]),
  ...(metrics === undefined ? [] : [{ name: "metrics", containerPort: metrics }]),
  ...(webhooks === undefined ? [] : [{ name: "webhooks", containerPort: webhooks.port }])
]

const probes = ({ ports }: Options) =>
  ports.probes === undefined
    ? {}
    : {
        livenessProbe: { httpGet: { path: "/healthz", port: "probes" }, initialDelaySeconds: 15, periodSeconds: 20 },
        readinessProbe: { httpGet: { path: "/readyz", port: "probes" }, periodSeconds: 10 }
      }

const disruptionBudget = (options: Options): Manifest => ({
  apiVersion: options.minorVersion < 21 ? "policy/v1beta1" : "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: metadata(options),
  spec: { minAvailable: replicas - 1, selector: { matchLabels: selector(options) } }
})

/** Nobody talks to it but for metrics and reviews; kubelets, which probe it, are not subject to policies. Where it goes is the API server's address. */
const networkPolicy = (options: Options): Manifest => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: metadata(options),
  spec: {
    podSelector: { matchLabels: selector(options) },
    policyTypes: ["Ingress"],
    ingress: [
      ...(options.ports.metrics === undefined ? [] : [{ ports: [{ port: "metrics", protocol: "TCP" }] }]),
      ...(options.webhooks === undefined ? [] : [{ ports: [{ port: "webhooks", protocol: "TCP" }] }])
    ]
  }
})

const metricsService = (options: Options): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { ...metadata(options), name: `${options.name}-metrics` },
  spec: {
    clusterIP: "None",
    selector: selector(options),
    ports: [{ name: "metrics", port: options.ports.metrics, targetPort: "metrics" }]
  }
})

/** What collects secure metrics shows the token of its own account, which has to be bound to the reader's role. */
const serviceMonitor = (options: Options): Manifest => ({
  apiVersion: "monitoring.coreos.com/v1",
  kind: "ServiceMonitor",
  metadata: metadata(options),
  spec: {
    selector: { matchLabels: selector(options) },
    endpoints: [{ port: "metrics", path: "/metrics", ...(options.secureMetrics ? secured : {}) }]
  }
})

const secured = {
  scheme: "https",
  bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
  // The program makes its own certificate, unless it is given one.
  tlsConfig: { insecureSkipVerify: true }
}
