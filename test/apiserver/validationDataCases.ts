/** Invalid Services, ConfigMaps, storage and other small kinds. */
import { claim, newer, plain, printed, service } from "./validationCase.ts"
import type { Case } from "./validationCase.ts"

export const serviceCases: ReadonlyArray<Case> = [
  service("no ports", { ports: [] }),
  service("port 0", { ports: [{ port: 0 }] }),
  service("port 70000", { ports: [{ port: 70000 }] }),
  service("two ports without names", { ports: [{ port: 80 }, { port: 81 }] }),
  service("ports of one name", {
    ports: [
      { port: 80, name: "a" },
      { port: 81, name: "a" }
    ]
  }),
  service("one port twice", {
    ports: [
      { port: 80, name: "a" },
      { port: 80, name: "b" }
    ]
  }),
  service("protocol", { ports: [{ port: 80, protocol: "HTTP" }] }),
  service("target port name", { ports: [{ port: 80, targetPort: "No" }] }),
  service("type", { type: "Magic" }),
  service("affinity", { sessionAffinity: "Lasting" }),
  service("node port of a ClusterIP", { ports: [{ port: 80, nodePort: 30000 }] }),
  service("cluster address", { clusterIP: "nowhere" }),
  service("external without a name", { type: "ExternalName" }),
  service("selector", { selector: { "a b": "c" } }),
  service("affinity seconds", {
    sessionAffinity: "ClientIP",
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } }
  }),
  service("headless NodePort", { type: "NodePort", clusterIP: "None" }),
  {
    name: "service: a name that begins with a digit",
    path: "api/v1/services",
    body: { metadata: { name: "1a" }, spec: { ports: [{ port: 80 }] } }
  },
  plain("endpoints: nothing in a subset", "api/v1/endpoints", { subsets: [{}] }),
  plain(
    "endpoints: no address",
    "api/v1/endpoints",
    {
      subsets: [{ addresses: [{ ip: "here" }], ports: [{ port: 0 }] }]
    },
    undefined,
    {}
  ),
  plain(
    "endpoints: loopback",
    "api/v1/endpoints",
    {
      subsets: [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ port: 80 }, { port: 81 }] }]
    },
    undefined,
    { differs: newer }
  ),
  plain("slice: no type", "apis/discovery.k8s.io/v1/endpointslices", { endpoints: [] }, undefined, {
    old: "apis/discovery.k8s.io/v1beta1/endpointslices"
  }),
  plain(
    "slice: no addresses",
    "apis/discovery.k8s.io/v1/endpointslices",
    { addressType: "IPv4", endpoints: [{ addresses: [] }] },
    undefined,
    { old: "apis/discovery.k8s.io/v1beta1/endpointslices" }
  ),
  plain(
    "slice: a bad address",
    "apis/discovery.k8s.io/v1/endpointslices",
    { addressType: "IPv4", endpoints: [{ addresses: ["here"] }] },
    undefined,
    { old: "apis/discovery.k8s.io/v1beta1/endpointslices" }
  ),
  plain(
    "slice: another type",
    "apis/discovery.k8s.io/v1/endpointslices",
    { addressType: "IPv4", endpoints: [] },
    { addressType: "IPv6" },
    { old: "apis/discovery.k8s.io/v1beta1/endpointslices" }
  )
]

export const dataCases: ReadonlyArray<Case> = [
  plain("configmap: a key with a blank", "api/v1/configmaps", { data: { "a b": "x" } }),
  plain("configmap: a key of two dots", "api/v1/configmaps", { data: { "..": "x" } }),
  plain("configmap: a key after two dots", "api/v1/configmaps", { data: { "..a": "x" } }),
  plain("configmap: a key twice", "api/v1/configmaps", { data: { a: "x" }, binaryData: { a: "eA==" } }),
  plain("configmap: immutable data", "api/v1/configmaps", { data: { a: "x" }, immutable: true }, { data: { a: "y" } }),
  plain("configmap: no longer immutable", "api/v1/configmaps", { immutable: true }, { immutable: false }),
  plain("secret: keys", "api/v1/secrets", { data: { "a b": "eA==" } }),
  plain("secret: tls without keys", "api/v1/secrets", { type: "kubernetes.io/tls" }),
  plain("secret: docker without config", "api/v1/secrets", { type: "kubernetes.io/dockerconfigjson" }),
  plain("secret: password", "api/v1/secrets", { type: "kubernetes.io/basic-auth" }),
  plain("secret: another type", "api/v1/secrets", { data: { a: "eA==" } }, { type: "x/y" }),
  plain("secret: immutable data", "api/v1/secrets", { data: { a: "eA==" }, immutable: true }, { data: { a: "eQ==" } }),
  plain("revision: no data", "apis/apps/v1/controllerrevisions", { revision: 1 }),
  plain("revision: negative", "apis/apps/v1/controllerrevisions", { revision: -1, data: {} }),
  plain("role: a rule without verbs", "apis/rbac.authorization.k8s.io/v1/roles", { rules: [{}] }),
  plain(
    "role: urls",
    "apis/rbac.authorization.k8s.io/v1/roles",
    {
      rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }]
    },
    undefined,
    {}
  ),
  plain("binding: no role", "apis/rbac.authorization.k8s.io/v1/rolebindings", { roleRef: {} }),
  plain("binding: subjects", "apis/rbac.authorization.k8s.io/v1/rolebindings", {
    roleRef: { kind: "Role", name: "r" },
    subjects: [{ kind: "Robot", name: "x" }, { kind: "User" }, { kind: "ServiceAccount", name: "B_", apiGroup: "x" }]
  }),
  plain(
    "binding: another role",
    "apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    { roleRef: { kind: "ClusterRole", name: "view", apiGroup: "rbac.authorization.k8s.io" } },
    { roleRef: { name: "edit" } },
    { clusterScoped: true }
  ),
  plain("quota: negative", "api/v1/resourcequotas", { spec: { hard: { pods: "-1" } } }),
  plain("quota: an unknown resource", "api/v1/resourcequotas", { spec: { hard: { coffee: "1" } } }),
  plain(
    "range: minimum above maximum",
    "api/v1/limitranges",
    {
      spec: { limits: [{ type: "Container", min: { cpu: "2" }, max: { cpu: "1" } }] }
    },
    undefined,
    { differs: printed }
  ),
  plain("range: defaults of pods", "api/v1/limitranges", {
    spec: { limits: [{ type: "Pod", default: { cpu: "2" } }] }
  }),
  plain("range: one type twice", "api/v1/limitranges", { spec: { limits: [{ type: "Pod" }, { type: "Pod" }] } }),
  claim("no access modes", { accessModes: [] }),
  claim("access mode", { accessModes: ["Whenever"] }),
  claim("no size", { resources: {} }),
  claim("size 0", { resources: { requests: { storage: "0" } } }),
  claim("volume mode", { volumeMode: "Tape" }),
  claim("another class", { storageClassName: "a" }, { spec: { storageClassName: "b" } }),
  plain("volume: nothing said", "api/v1/persistentvolumes", { spec: {} }, undefined, { clusterScoped: true }),
  plain(
    "volume: reclaim policy",
    "api/v1/persistentvolumes",
    {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/x" },
        persistentVolumeReclaimPolicy: "Burn"
      }
    },
    undefined,
    { clusterScoped: true }
  ),
  plain(
    "node: taints",
    "api/v1/nodes",
    {
      spec: {
        taints: [
          { key: "a b", effect: "NoSchedule" },
          { key: "c", effect: "Never" },
          { key: "d" },
          { key: "e", effect: "NoSchedule" },
          { key: "e", effect: "NoSchedule" }
        ]
      }
    },
    undefined,
    { clusterScoped: true }
  ),
  plain("priority: above all", "apis/scheduling.k8s.io/v1/priorityclasses", { value: 2000000000 }, undefined, {
    clusterScoped: true
  }),
  plain(
    "priority: another",
    "apis/scheduling.k8s.io/v1/priorityclasses",
    { value: 1 },
    { value: 2 },
    {
      clusterScoped: true
    }
  ),
  plain("lease: no time", "apis/coordination.k8s.io/v1/leases", { spec: { leaseDurationSeconds: 0 } }),
  plain("lease: negative", "apis/coordination.k8s.io/v1/leases", { spec: { leaseTransitions: -1 } }),
  plain("event: of another namespace", "api/v1/events", {
    involvedObject: { kind: "Pod", name: "x", namespace: "elsewhere" }
  }),
  plain("event: of no namespace", "api/v1/events", { involvedObject: { kind: "Pod", name: "x" } }),
  plain("event: of a node", "api/v1/events", { involvedObject: { kind: "Node", name: "x", apiVersion: "v1" } }),
  plain("new event: nothing said", "apis/events.k8s.io/v1/events", { regarding: { namespace: "cases" } }),
  plain(
    "new event: deprecated fields",
    "apis/events.k8s.io/v1/events",
    {
      regarding: { namespace: "cases" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      type: "Strange",
      reason: "r",
      action: "a",
      reportingController: "a b c/d/e",
      reportingInstance: "i",
      deprecatedCount: 1,
      deprecatedFirstTimestamp: "2026-01-01T00:00:00Z"
    },
    undefined,
    {}
  )
]
