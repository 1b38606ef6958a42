/** Minimal objects of each kind, and more where defaults depend on other fields. */
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
    {
      name: "many",
      projected: {
        sources: [
          { configMap: { name: "c" } },
          { downwardAPI: { items: [{ path: "x", fieldRef: { fieldPath: "metadata.name" } }] } },
          { serviceAccountToken: { path: "token" } }
        ]
      }
    },
    { name: "blocks", iscsi: { targetPortal: "p", iqn: "iqn.2001-04.com.example:s", lun: 0 } },
    { name: "ceph", rbd: { monitors: ["m"], image: "i" } },
    { name: "azure", azureDisk: { diskName: "d", diskURI: "https://d" } }
  ]
}

const reference = { apiVersion: "apps/v1", kind: "Deployment", name: "d" }
const autoscaler = { maxReplicas: 3, scaleTargetRef: reference }
const autoscalers = {
  path: "apis/autoscaling/v2/horizontalpodautoscalers",
  old: "apis/autoscaling/v2beta2/horizontalpodautoscalers"
}
const backend = { service: { name: "s", port: { number: 80 } } }
const webhook = { name: "a.b.c", sideEffects: "None", admissionReviewVersions: ["v1"] }
const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["nothing"] }
/** A status that a create must ignore. */
const claimed = { replicas: 5, phase: "Bound", attached: true, conditions: [{ type: "X", status: "True" }] }

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
  {
    name: "daemonset with a number of its own and a status",
    path: "apis/apps/v1/daemonsets",
    body: named(
      { spec: workload, status: claimed },
      { name: "numbered", annotations: { "deprecated.daemonset.template.generation": "5" } }
    )
  },
  { name: "replicationcontroller", path: "api/v1/replicationcontrollers", body: named({ spec: { template } }) },
  { name: "job", path: "apis/batch/v1/jobs", body: named({ spec: once }) },
  {
    name: "job in parallel",
    path: "apis/batch/v1/jobs",
    body: named({ spec: { ...once, parallelism: 3 } }, { name: "parallel" })
  },
  {
    name: "job of labelled pods",
    path: "apis/batch/v1/jobs",
    body: named({ spec: { template: { ...once.template, metadata: { labels } } } }, { name: "labelled" })
  },
  {
    name: "labelled job of labelled pods",
    path: "apis/batch/v1/jobs",
    body: named({ spec: { template: { ...once.template, metadata: { labels } } } }, { name: "own", labels })
  },
  {
    name: "disruption budget",
    path: "apis/policy/v1/poddisruptionbudgets",
    old: "apis/policy/v1beta1/poddisruptionbudgets",
    body: named({ spec: { minAvailable: 1 }, status: claimed })
  },
  { name: "autoscaler", ...autoscalers, body: named({ spec: autoscaler, status: claimed }) },
  {
    name: "autoscaler with behaviour",
    ...autoscalers,
    body: named(
      { spec: { ...autoscaler, behavior: { scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 5 }] } } } },
      { name: "behaving" }
    )
  },
  {
    name: "autoscaler of the first version",
    path: "apis/autoscaling/v1/horizontalpodautoscalers",
    body: named({ spec: autoscaler }, { name: "first" })
  },
  {
    name: "ingress",
    path: "apis/networking.k8s.io/v1/ingresses",
    body: named({ spec: { defaultBackend: backend }, status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } })
  },
  {
    name: "ingress class",
    path: "apis/networking.k8s.io/v1/ingressclasses",
    clusterScoped: true,
    body: named({ spec: { controller: "a.b/c", parameters: { apiGroup: "a.b", kind: "K", name: "n" } } })
  },
  {
    name: "network policy",
    path: "apis/networking.k8s.io/v1/networkpolicies",
    body: named({ spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } })
  },
  {
    name: "network policy of what goes out",
    path: "apis/networking.k8s.io/v1/networkpolicies",
    body: named({ spec: { podSelector: {}, egress: [{}] } }, { name: "out" })
  },
  {
    name: "mutating webhooks",
    path: "apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    clusterScoped: true,
    body: named({
      webhooks: [{ ...webhook, rules: [rule], clientConfig: { service: { name: "s", namespace: "n" } } }]
    })
  },
  {
    name: "validating webhooks",
    path: "apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    clusterScoped: true,
    body: named({ webhooks: [{ ...webhook, rules: [rule], clientConfig: { url: "https://a.b/c" } }] })
  },
  {
    name: "driver of storage",
    path: "apis/storage.k8s.io/v1/csidrivers",
    clusterScoped: true,
    body: named({ spec: {} })
  },
  {
    name: "attachment",
    path: "apis/storage.k8s.io/v1/volumeattachments",
    clusterScoped: true,
    body: named({
      spec: { attacher: "a.b", nodeName: "n", source: { persistentVolumeName: "v" } },
      status: claimed
    })
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
    body: named({
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "0.5Gi" } } },
      status: claimed
    })
  },
  {
    name: "volume",
    path: "api/v1/persistentvolumes",
    clusterScoped: true,
    body: named({
      spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1000M" }, hostPath: { path: "/x" } },
      status: claimed
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
  },
  {
    name: "node with a taint",
    path: "api/v1/nodes",
    clusterScoped: true,
    body: named(
      { spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoExecute" }] } },
      { name: "tainted" }
    )
  }
]
