/**
 * A running pod of a ReplicaSet as a kube-apiserver of 1.36 lists it after scheduler, kubelet and admission have written to it, in the order in which Go
 * writes its fields: managedFields last in the metadata, and no kind. About 6.5 kB, 2.6 kB of them managedFields.
 */

/** ReplicaSets own so many pods each. */
export const podsOfSet = 100

export const namespaceOf = (set: number): string => `team-${set % 20}`

const uid = (kind: string, i: number): string => `${kind}0c2d1e-6f1a-4a7b-9c3d-${i.toString(16).padStart(12, "0")}`

/** A ReplicaSet, named as a Deployment names it. */
export const setName = (set: number): string => `service-${set}-7d9f8b6c5d`

const owner = (set: number): object => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name: setName(set),
  uid: uid("a1", set),
  controller: true,
  blockOwnerDeletion: true
})

const labelsOf = (set: number) => ({ app: `service-${set}`, "pod-template-hash": "7d9f8b6c5d", tier: "backend" })

const time = (second: number): string =>
  new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString().replace(".000", "")

/** Which fields a manager owns, as `FieldsV1`. */
const fields = (of: string | ReadonlyArray<string>, inner?: object): object =>
  Object.fromEntries([of].flat().map((name) => [name, inner ?? {}]))

const f = (names: ReadonlyArray<string>): object => fields(names.map((name) => `f:${name}`))

const controllerFields = (set: number): object => ({
  "f:metadata": {
    "f:generateName": {},
    "f:labels": { ".": {}, ...f(["app", "pod-template-hash", "tier"]) },
    "f:ownerReferences": { ".": {}, [`k:{"uid":"${uid("a1", set)}"}`]: {} }
  },
  "f:spec": {
    "f:containers": {
      'k:{"name":"app"}': {
        ".": {},
        "f:env": {
          ".": {},
          'k:{"name":"LOG_LEVEL"}': { ".": {}, ...f(["name", "value"]) },
          'k:{"name":"POD_IP"}': {
            ".": {},
            "f:name": {},
            "f:valueFrom": { ".": {}, "f:fieldRef": {} }
          }
        },
        ...f(["image", "imagePullPolicy"]),
        "f:livenessProbe": {
          ".": {},
          "f:failureThreshold": {},
          "f:httpGet": { ".": {}, ...f(["path", "port", "scheme"]) },
          ...f(["periodSeconds", "successThreshold", "timeoutSeconds"])
        },
        "f:name": {},
        "f:ports": {
          ".": {},
          'k:{"containerPort":8080,"protocol":"TCP"}': { ".": {}, ...f(["containerPort", "name", "protocol"]) }
        },
        "f:readinessProbe": {
          ".": {},
          "f:failureThreshold": {},
          "f:httpGet": { ".": {}, ...f(["path", "port", "scheme"]) },
          ...f(["periodSeconds", "successThreshold", "timeoutSeconds"])
        },
        "f:resources": {
          ".": {},
          "f:limits": { ".": {}, "f:memory": {} },
          "f:requests": { ".": {}, ...f(["cpu", "memory"]) }
        },
        "f:securityContext": { ".": {}, ...f(["allowPrivilegeEscalation", "readOnlyRootFilesystem"]) },
        ...f(["terminationMessagePath", "terminationMessagePolicy"]),
        "f:volumeMounts": { ".": {}, 'k:{"mountPath":"/etc/app"}': { ".": {}, ...f(["mountPath", "name"]) } }
      }
    },
    ...f(["dnsPolicy", "enableServiceLinks", "restartPolicy", "schedulerName", "securityContext", "serviceAccount"]),
    ...f(["serviceAccountName", "terminationGracePeriodSeconds"]),
    "f:volumes": {
      ".": {},
      'k:{"name":"config"}': { ".": {}, "f:configMap": { ".": {}, ...f(["defaultMode", "name"]) }, "f:name": {} }
    }
  }
})

const conditionTypes = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]

const kubeletFields = (ip: string): object => ({
  "f:status": {
    "f:conditions": fields(
      conditionTypes.slice(0, 4).map((type) => `k:{"type":"${type}"}`),
      { ".": {}, ...f(["lastProbeTime", "lastTransitionTime", "observedGeneration", "status", "type"]) }
    ),
    ...f(["containerStatuses", "hostIP", "hostIPs", "observedGeneration", "phase", "podIP"]),
    "f:podIPs": { ".": {}, [`k:{"ip":"${ip}"}`]: { ".": {}, "f:ip": {} } },
    "f:startTime": {}
  }
})

const managedFields = (set: number, second: number, ip: string): ReadonlyArray<object> => [
  {
    manager: "kube-controller-manager",
    operation: "Update",
    apiVersion: "v1",
    time: time(second),
    fieldsType: "FieldsV1",
    fieldsV1: controllerFields(set)
  },
  {
    manager: "kubelet",
    operation: "Update",
    apiVersion: "v1",
    time: time(second + 9),
    fieldsType: "FieldsV1",
    fieldsV1: kubeletFields(ip),
    subresource: "status"
  }
]

const probe = (path: string): object => ({
  httpGet: { path, port: "http", scheme: "HTTP" },
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3
})

const specOf = (i: number, set: number, token: string): object => ({
  volumes: [
    { name: "config", configMap: { name: `service-${set}`, defaultMode: 420 } },
    {
      name: token,
      projected: {
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
      }
    }
  ],
  containers: [
    {
      name: "app",
      image: `registry.example.com/team/service-${set}:1.${set % 7}.0`,
      ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
      env: [
        { name: "LOG_LEVEL", value: "info" },
        { name: "POD_IP", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } }
      ],
      resources: { limits: { memory: "256Mi" }, requests: { cpu: "100m", memory: "128Mi" } },
      volumeMounts: [
        { name: "config", mountPath: "/etc/app" },
        { name: token, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }
      ],
      livenessProbe: probe("/healthz"),
      readinessProbe: probe("/readyz"),
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      imagePullPolicy: "IfNotPresent",
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false }
    }
  ],
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  serviceAccountName: "default",
  serviceAccount: "default",
  nodeName: `node-${i % 300}`,
  securityContext: {},
  schedulerName: "default-scheduler",
  tolerations: ["not-ready", "unreachable"].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 300
  })),
  priority: 0,
  enableServiceLinks: true,
  preemptionPolicy: "PreemptLowerPriority"
})

const statusOf = (i: number, set: number, second: number, ip: string, token: string): object => ({
  observedGeneration: 1,
  phase: "Running",
  conditions: conditionTypes.map((type, at) => ({
    type,
    observedGeneration: 1,
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: time(second + (at === 2 || at === 3 ? 9 : at === 0 ? 2 : 0))
  })),
  hostIP: `192.168.1.${i % 250}`,
  hostIPs: [{ ip: `192.168.1.${i % 250}` }],
  podIP: ip,
  podIPs: [{ ip }],
  startTime: time(second),
  containerStatuses: [
    {
      name: "app",
      state: { running: { startedAt: time(second + 2) } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: `registry.example.com/team/service-${set}:1.${set % 7}.0`,
      imageID: `registry.example.com/team/service-${set}@sha256:${String(set).padStart(64, "4be1c3")}`,
      containerID: `containerd://${i.toString(16).padStart(64, "9f3a61")}`,
      started: true,
      allocatedResources: { cpu: "100m", memory: "128Mi" },
      resources: { limits: { memory: "256Mi" }, requests: { cpu: "100m", memory: "128Mi" } },
      volumeMounts: [
        { name: "config", mountPath: "/etc/app" },
        {
          name: token,
          mountPath: "/var/run/secrets/kubernetes.io/serviceaccount",
          readOnly: true,
          recursiveReadOnly: "Disabled"
        }
      ],
      user: { linux: { uid: 0, gid: 0, supplementalGroups: [0] } }
    }
  ],
  qosClass: "Burstable"
})

/** Pod number `i` of all, as JSON. */
export const pod = (i: number): string => {
  const set = Math.floor(i / podsOfSet)
  const second = i % 86_000
  const suffix = i.toString(36).padStart(5, "x")
  const token = `kube-api-access-${suffix}`
  const ip = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
  return JSON.stringify({
    metadata: {
      name: `${setName(set)}-${suffix}`,
      generateName: `${setName(set)}-`,
      namespace: namespaceOf(set),
      uid: uid("5f", i),
      resourceVersion: String(500_000 + i),
      generation: 1,
      creationTimestamp: time(second),
      labels: labelsOf(set),
      ownerReferences: [owner(set)],
      managedFields: managedFields(set, second, ip)
    },
    spec: specOf(i, set, token),
    status: statusOf(i, set, second, ip, token)
  })
}

/** ReplicaSet number `set`, as JSON: its status does not have its ready pods yet, so that its first reconcile writes. */
export const replicaSet = (set: number, replicas: number): string =>
  JSON.stringify({
    metadata: {
      name: setName(set),
      namespace: namespaceOf(set),
      uid: uid("a1", set),
      resourceVersion: String(400_000 + set),
      generation: 1,
      creationTimestamp: time(0),
      labels: labelsOf(set)
    },
    spec: {
      replicas,
      selector: { matchLabels: labelsOf(set) },
      template: {
        metadata: { labels: labelsOf(set) },
        spec: { containers: [{ name: "app", image: `registry.example.com/team/service-${set}:1.${set % 7}.0` }] }
      }
    },
    status: { replicas, fullyLabeledReplicas: replicas, observedGeneration: 0 }
  })
