/** The least that a server takes of each kind, and a little more where defaults depend on what is there. */
export interface Minimal {
  readonly name: string
  readonly path: string
  readonly old?: string
  readonly clusterScoped?: boolean
  readonly body: object
}

const labels = { app: "a" }
const container = { name: "main", image: "web" }
const template = { metadata: { labels }, spec: { containers: [container] } }
const workload = { selector: { matchLabels: labels }, template }
const once = { template: { spec: { containers: [container], restartPolicy: "Never" } } }

const full = {
  hostNetwork: true,
  serviceAccountName: "runner",
  initContainers: [
    { name: "first", image: "init@sha256:0123456789012345678901234567890123456789012345678901234567890123" }
  ],
  containers: [
    {
      name: "main",
      image: "registry:5000/web:1",
      ports: [{ containerPort: 80 }],
      resources: { limits: { cpu: "1500m", memory: "1024Mi", "a.b/c": "2" }, requests: { cpu: "0.5" } },
      env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { exec: { command: ["true"] }, periodSeconds: 3 },
      lifecycle: { preStop: { httpGet: { port: 80 } } },
      volumeMounts: [{ name: "nothing", mountPath: "/x" }]
    },
    { name: "latest", image: "registry:5000/web:latest" },
    { name: "bare", image: "registry:5000/web", imagePullPolicy: "Never" }
  ],
  volumes: [
    { name: "nothing" },
    { name: "secret", secret: { secretName: "s" } },
    { name: "config", configMap: { name: "c" } },
    { name: "host", hostPath: { path: "/x" } },
    { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "2048Mi" } },
    { name: "fields", downwardAPI: { items: [{ path: "x", fieldRef: { fieldPath: "metadata.name" } }] } },
    { name: "many", projected: { sources: [{ configMap: { name: "c" } }] } }
  ]
}

const named = (body: object, metadata: object = {}) => ({ metadata: { name: "m", ...metadata }, ...body })

export const objects: ReadonlyArray<Minimal> = [
  { name: "pod", path: "api/v1/pods", body: named({ spec: { containers: [container] } }) },
  { name: "pod with everything", path: "api/v1/pods", body: named({ spec: full }, { name: "full" }) },
  { name: "deployment", path: "apis/apps/v1/deployments", body: named({ spec: workload }) },
  {
    name: "deployment that recreates",
    path: "apis/apps/v1/deployments",
    body: named({ spec: { ...workload, strategy: { type: "Recreate" } } }, { name: "recreate" })
  },
  { name: "replicaset", path: "apis/apps/v1/replicasets", body: named({ spec: workload }) },
  {
    name: "statefulset",
    path: "apis/apps/v1/statefulsets",
    body: named({
      spec: {
        ...workload,
        serviceName: "s",
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } }
          }
        ]
      }
    })
  },
  { name: "daemonset", path: "apis/apps/v1/daemonsets", body: named({ spec: workload }) },
  { name: "replicationcontroller", path: "api/v1/replicationcontrollers", body: named({ spec: { template } }) },
  { name: "job", path: "apis/batch/v1/jobs", body: named({ spec: once }) },
  {
    name: "job in parallel",
    path: "apis/batch/v1/jobs",
    body: named({ spec: { ...once, parallelism: 3 } }, { name: "parallel" })
  },
  {
    name: "cronjob",
    path: "apis/batch/v1/cronjobs",
    old: "apis/batch/v1beta1/cronjobs",
    body: named({ spec: { schedule: "@daily", jobTemplate: { spec: once } } })
  },
  { name: "service", path: "api/v1/services", body: named({ spec: { ports: [{ port: 80 }] } }) },
  {
    name: "headless service",
    path: "api/v1/services",
    body: named({ spec: { clusterIP: "None", selector: labels } }, { name: "headless" })
  },
  {
    name: "service of a port of each node",
    path: "api/v1/services",
    body: named(
      { spec: { type: "NodePort", sessionAffinity: "ClientIP", ports: [{ port: 80, targetPort: "web" }] } },
      { name: "nodes" }
    )
  },
  {
    name: "service elsewhere",
    path: "api/v1/services",
    body: named({ spec: { type: "ExternalName", externalName: "example.com" } }, { name: "external" })
  },
  {
    name: "endpoints",
    path: "api/v1/endpoints",
    body: named({ subsets: [{ addresses: [{ ip: "10.1.2.3" }], ports: [{ port: 80 }] }] })
  },
  { name: "secret", path: "api/v1/secrets", body: named({ stringData: { a: "x" } }) },
  { name: "configmap", path: "api/v1/configmaps", body: named({ data: { a: "x" } }) },
  {
    name: "claim",
    path: "api/v1/persistentvolumeclaims",
    body: named({ spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "0.5Gi" } } } })
  },
  {
    name: "volume",
    path: "api/v1/persistentvolumes",
    clusterScoped: true,
    body: named({
      spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1000M" }, hostPath: { path: "/x" } }
    })
  },
  {
    name: "quota",
    path: "api/v1/resourcequotas",
    body: named({ spec: { hard: { "limits.cpu": "2000m", "count/jobs.batch": "5" } } })
  },
  {
    name: "limit range",
    path: "api/v1/limitranges",
    body: named({ spec: { limits: [{ type: "Container", min: { cpu: "100m" }, max: { memory: "1Gi" } }] } })
  },
  {
    name: "role binding",
    path: "apis/rbac.authorization.k8s.io/v1/rolebindings",
    body: named({
      roleRef: { kind: "ClusterRole", name: "view" },
      subjects: [
        { kind: "User", name: "u" },
        { kind: "ServiceAccount", name: "s", namespace: "n" }
      ]
    })
  },
  {
    name: "storage class",
    path: "apis/storage.k8s.io/v1/storageclasses",
    clusterScoped: true,
    body: named({ provisioner: "x/y" })
  },
  {
    name: "priority class",
    path: "apis/scheduling.k8s.io/v1/priorityclasses",
    clusterScoped: true,
    body: named({ value: 5 })
  },
  { name: "lease", path: "apis/coordination.k8s.io/v1/leases", body: named({ spec: {} }) },
  { name: "namespace", path: "api/v1/namespaces", clusterScoped: true, body: named({}, { name: "fresh" }) },
  {
    name: "node",
    path: "api/v1/nodes",
    clusterScoped: true,
    body: named({ status: { capacity: { cpu: "4000m", memory: "8192Mi" } } })
  }
]
