/**
 * The program as a workload: replicas on several nodes, without root privileges and with a read-only file system, with probes and a NetworkPolicy.
 * Pure.
 */
import { names } from "../webhooks/configurations.ts"
import { labels, type Manifest, metadata, type Options, selector } from "./Installation.ts"

/** Two, of which one leads and one waits; three where all of them work. */
const replicasOf = ({ isDivided }: Options): number => (isDivided ? 3 : 2)

/**
 * Replicas that all work are replaced one after the other, without a further one: each replica that comes or goes moves shards, so with a further one most
 * of them would move twice.
 */
const strategyOf = ({ isDivided }: Options) =>
  isDivided ? { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } } : {}

export const all = (options: Options): ReadonlyArray<Manifest> => [
  deployment(options),
  disruptionBudget(options),
  networkPolicy(options)
]

const deployment = (options: Options): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: metadata(options),
  spec: {
    replicas: replicasOf(options),
    ...strategyOf(options),
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

/** Secrets that the operator of the cluster creates. */
const certificates = ({ metrics: { certificate }, name, webhooks }: Options) => [
  ...(webhooks?.mountPath === undefined
    ? []
    : [{ name: "webhook-certificate", mountPath: webhooks.mountPath, secretName: names(name).secret }]),
  ...(certificate === undefined ? [] : [{ name: "metrics-certificate", ...certificate }])
]

const mounts = (options: Options) => {
  const all = certificates(options)
  return all.length === 0
    ? {}
    : { volumeMounts: all.map(({ mountPath, name }) => ({ name, mountPath, readOnly: true })) }
}

const volumes = (options: Options) => {
  const all = certificates(options)
  return all.length === 0 ? {} : { volumes: all.map(({ name, secretName }) => ({ name, secret: { secretName } })) }
}

const ports = ({ console, metrics, probes, webhooks }: Options) => [
  ...(probes === undefined ? [] : [{ name: "probes", containerPort: probes }]),
  ...(metrics.port === undefined ? [] : [{ name: "metrics", containerPort: metrics.port }]),
  ...(console === undefined ? [] : [{ name: "console", containerPort: console }]),
  ...(webhooks === undefined ? [] : [{ name: "webhooks", containerPort: webhooks.port }])
]

const probes = (options: Options) =>
  options.probes === undefined
    ? {}
    : {
        livenessProbe: { httpGet: { path: "/healthz", port: "probes" }, initialDelaySeconds: 15, periodSeconds: 20 },
        readinessProbe: { httpGet: { path: "/readyz", port: "probes" }, periodSeconds: 10 }
      }

const disruptionBudget = (options: Options): Manifest => ({
  apiVersion: options.minorVersion < 21 ? "policy/v1beta1" : "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: metadata(options),
  spec: { minAvailable: replicasOf(options) - 1, selector: { matchLabels: selector(options) } }
})

/** A label of a namespace allows its pods to collect metrics. Source: kubebuilder's `allow-metrics-traffic`. */
const collectors = { namespaceSelector: { matchLabels: { metrics: "enabled" } } }

/**
 * Allows connections for metrics, the console and webhooks only; probes of the kubelet are not subject to policies. The webhook port is open to all
 * addresses, because the API server's source address depends on the cluster, and so is that of the console, which authorizes its readers. Outgoing connections are not restricted.
 */
const networkPolicy = (options: Options): Manifest => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: metadata(options),
  spec: {
    podSelector: { matchLabels: selector(options) },
    policyTypes: ["Ingress"],
    ingress: [
      ...(options.metrics.port === undefined
        ? []
        : [{ from: [collectors], ports: [{ port: "metrics", protocol: "TCP" }] }]),
      ...(options.console === undefined ? [] : [{ ports: [{ port: "console", protocol: "TCP" }] }]),
      ...(options.webhooks === undefined ? [] : [{ ports: [{ port: "webhooks", protocol: "TCP" }] }])
    ]
  }
})
