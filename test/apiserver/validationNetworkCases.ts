/** Invalid autoscalers, Ingresses and NetworkPolicies, and related small kinds. */
import { budget, cronJob, kind, labels, newer, once, plain, printed, service } from "./validationCase.ts"
import type { Case, Part } from "./validationCase.ts"

const autoscaler = kind(
  "autoscaler",
  "apis/autoscaling/v2/horizontalpodautoscalers",
  { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d" } },
  "apis/autoscaling/v2beta2/horizontalpodautoscalers"
)
const metric = (name: string, one: Part, differs?: string): Case =>
  autoscaler(`metric ${name}`, { metrics: [one] }, undefined, differs)
const metricName = { metric: { name: "m" } }
/** kube-apiserver distinguishes an empty list from an absent one here; the embedded server does not. */
const emptyIsNone = "an empty list is none"
const scaling = (name: string, behavior: Part): Case => autoscaler(`behaviour: ${name}`, { behavior })
const policy = { type: "Pods", value: 1, periodSeconds: 15 }

export const autoscalerCases: ReadonlyArray<Case> = [
  autoscaler("no target", { scaleTargetRef: {} }),
  autoscaler("a target of slashes", { scaleTargetRef: { kind: "a/b", name: ".." } }),
  autoscaler("no replicas", { minReplicas: 0, maxReplicas: 0 }),
  autoscaler("more at least than at most", { minReplicas: 5 }),
  autoscaler("an update with fewer at most", { minReplicas: 2 }, { spec: { maxReplicas: 1 } }),
  metric("of no type", {}, newer),
  metric("of a strange type", { type: "Wishes" }, newer),
  metric("without its source", { type: "Pods" }),
  metric("with two sources", {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 5 } },
    pods: { ...metricName, target: { type: "AverageValue", averageValue: "1" } }
  }),
  metric("of a resource without a name", { type: "Resource", resource: { target: { type: "Utilization" } } }),
  metric("of a resource with two targets", {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 5, averageValue: "1" } }
  }),
  metric(
    "target of a strange type",
    {
      type: "Resource",
      resource: { name: "cpu", target: { type: "Wish", averageUtilization: 0, averageValue: "0", value: "-1" } }
    },
    printed
  ),
  metric("target of no type", { type: "Resource", resource: { name: "cpu", target: { averageUtilization: 5 } } }),
  metric("of pods without anything", { type: "Pods", pods: { metric: {}, target: { type: "Value" } } }),
  metric("of pods by slashes", {
    type: "Pods",
    pods: { metric: { name: "a/b" }, target: { type: "AverageValue", averageValue: "1" } }
  }),
  metric("of an object without anything", {
    type: "Object",
    object: { metric: {}, describedObject: {}, target: { type: "Value" } }
  }),
  metric("from outside without anything", { type: "External", external: { metric: {}, target: { type: "Value" } } }),
  metric("from outside with two targets", {
    type: "External",
    external: { ...metricName, target: { type: "Value", value: "1", averageValue: "1" } }
  }),
  scaling("a negative window", { scaleUp: { stabilizationWindowSeconds: -1 } }),
  scaling("a long window", { scaleDown: { stabilizationWindowSeconds: 3601 } }),
  scaling("a strange choice", { scaleUp: { selectPolicy: "Median" } }),
  autoscaler("behaviour: no policies", { behavior: { scaleUp: { policies: [] } } }, undefined, emptyIsNone),
  scaling("a policy of a strange type", { scaleUp: { policies: [{ ...policy, type: "Wishes" }] } }),
  scaling("a policy of no value", { scaleDown: { policies: [{ ...policy, value: 0 }] } }),
  scaling("a policy of no period", { scaleDown: { policies: [{ ...policy, periodSeconds: 0 }] } }),
  scaling("a policy of a long period", { scaleDown: { policies: [{ ...policy, periodSeconds: 1801 }] } })
]

const backend = { service: { name: "s", port: { number: 80 } } }
/** 1.20 reports these kinds with their former group. */
const moved = "the group that newer servers name"
const ingressOf = kind("ingress", "apis/networking.k8s.io/v1/ingresses", {})
const ingress = (name: string, spec: Part, then?: object): Case => ingressOf(name, spec, then, moved)
const rule = (name: string, one: Part): Case => ingress(`rule: ${name}`, { rules: [one] })
const path = (name: string, one: Part): Case =>
  rule(`path: ${name}`, { http: { paths: [{ pathType: "Prefix", path: "/", backend, ...one }] } })
const toBackend = (name: string, defaultBackend: Part): Case => ingress(`backend: ${name}`, { defaultBackend })

export const ingressCases: ReadonlyArray<Case> = [
  ingress("nothing said", {}),
  toBackend("nothing", {}),
  toBackend("of two kinds", { ...backend, resource: { kind: "K", name: "n" } }),
  toBackend("a resource without a name", { resource: { apiGroup: "a_b", kind: "" } }),
  toBackend("a service without a name or port", { service: {} }),
  toBackend("a service of a bad name", { service: { name: "A_b", port: { number: 80 } } }),
  toBackend("two ports", { service: { name: "s", port: { name: "p", number: 80 } } }),
  toBackend("a port above all", { service: { name: "s", port: { number: 70000 } } }),
  toBackend("a port's name", { service: { name: "s", port: { name: "P_" } } }),
  rule("an address as host", { host: "1.2.3.4" }),
  rule("a bad host", { host: "Bad_Host" }),
  rule("a bad wildcard", { host: "a.*.b" }),
  rule("no paths", { http: { paths: [] } }),
  path("no type", { pathType: undefined }),
  path("a strange type", { pathType: "Glob" }),
  path("a relative one", { path: "a" }),
  path("of two slashes", { path: "/a//b" }),
  path("that goes up", { path: "/a/../b/.." }),
  path("none", { path: undefined }),
  path("no backend", { backend: {} }),
  path("a relative one for implementations", { pathType: "ImplementationSpecific", path: "a" }),
  ingress("tls hosts and secret", { defaultBackend: backend, tls: [{ hosts: ["a_b", "*"], secretName: "A_" }] }),
  ingress("class name", { defaultBackend: backend, ingressClassName: "A_" }),
  {
    name: "ingress: two classes",
    path: "apis/networking.k8s.io/v1/ingresses",
    body: {
      metadata: { name: "two-classes", annotations: { "kubernetes.io/ingress.class": "a" } },
      spec: { defaultBackend: backend, ingressClassName: "b" }
    },
    differs: newer
  },
  ingress("an update without anything", { defaultBackend: backend }, { spec: { defaultBackend: null } }),
  plain("ingress class: no controller", "apis/networking.k8s.io/v1/ingressclasses", { spec: {} }, undefined, {
    clusterScoped: true
  }),
  plain(
    "ingress class: a controller without a domain",
    "apis/networking.k8s.io/v1/ingressclasses",
    { spec: { controller: "plain", parameters: { apiGroup: "A_" } } },
    undefined,
    { clusterScoped: true, differs: newer }
  ),
  plain(
    "ingress class: another controller",
    "apis/networking.k8s.io/v1/ingressclasses",
    { spec: { controller: "a.b/c" } },
    { spec: { controller: "a.b/d" } },
    { clusterScoped: true }
  )
]

const networkOf = kind("network policy", "apis/networking.k8s.io/v1/networkpolicies", { podSelector: {} })
const network = (name: string, spec: Part): Case => networkOf(name, spec, undefined, moved)
const port = (name: string, one: Part): Case => network(`port: ${name}`, { ingress: [{ ports: [one] }] })
const peer = (name: string, one: Part): Case => network(`peer: ${name}`, { egress: [{ to: [one] }] })

export const networkPolicyCases: ReadonlyArray<Case> = [
  network("selector", { podSelector: { matchExpressions: [{ key: "a", operator: "Like" }] } }),
  network("a strange type", { policyTypes: ["Sideways"] }),
  network("three types", { policyTypes: ["Ingress", "Egress", "Ingress"] }),
  port("protocol", { protocol: "HTTP", port: 80 }),
  port("above all", { port: 70000 }),
  port("name", { port: "P_" }),
  port("an end before", { port: 80, endPort: 79 }),
  port("an end of a name", { port: "http", endPort: 79 }),
  port("an end alone", { endPort: 79 }),
  peer("nobody", {}),
  peer("two kinds", { ipBlock: { cidr: "10.0.0.0/8" }, podSelector: {} }),
  peer("selector", { podSelector: { matchLabels: { "a b": "c" } } }),
  peer("no block", { ipBlock: { cidr: "" } }),
  peer("a bad block", { ipBlock: { cidr: "10.0.0.0" } }),
  peer("an exception outside", { ipBlock: { cidr: "10.0.0.0/16", except: ["10.1.0.0/24", "here", "10.0.0.0/8"] } }),
  peer("a namespace selector", { namespaceSelector: { matchExpressions: [{ key: "a", operator: "In" }] } })
]

const classes = "apis/scheduling.k8s.io/v1/priorityclasses"

export const smallCases: ReadonlyArray<Case> = [
  {
    name: "priority: a name of the system's",
    path: classes,
    clusterScoped: true,
    body: { metadata: { name: "system-mine" }, value: 5 }
  },
  {
    name: "priority: another value of the system's",
    path: classes,
    clusterScoped: true,
    body: { metadata: { name: "system-node-critical" }, value: 5 }
  },
  plain("priority: preemption", classes, { value: 5, preemptionPolicy: "Sometimes" }, undefined, {
    clusterScoped: true
  }),
  plain("priority: another preemption", classes, { value: 5 }, { preemptionPolicy: "Never" }, { clusterScoped: true }),
  budget("selector", { minAvailable: 1, selector: { matchExpressions: [{ key: "a", operator: "Like" }] } }),
  budget("two wrong bounds", { minAvailable: "x%", maxUnavailable: -1 }, undefined, printed),
  cronJob("a zone nobody knows", { timeZone: "Mars/Olympus" }, undefined, newer),
  cronJob("a zone in the schedule", { schedule: "TZ=UTC * * * * *" }, undefined, newer),
  cronJob("parallelism of its jobs", { jobTemplate: { spec: { ...once, parallelism: -1 } } }),
  cronJob("a selector of its jobs", { jobTemplate: { spec: { ...once, manualSelector: true } } }),
  service("external addresses", { externalIPs: ["here", "127.0.0.1"] }, undefined, newer),
  service("traffic policy of a ClusterIP", { externalTrafficPolicy: "Local" }, undefined, newer),
  service("a strange traffic policy", { type: "NodePort", externalTrafficPolicy: "Some" }, undefined, newer),
  service("health check of a NodePort", { type: "NodePort", healthCheckNodePort: 30001 }, undefined, newer),
  service("source ranges", { type: "LoadBalancer", loadBalancerSourceRanges: ["here"] }, undefined, newer),
  service("source ranges of a ClusterIP", { loadBalancerSourceRanges: ["10.0.0.0/8"] }),
  service("application protocol", { ports: [{ port: 80, appProtocol: "a b" }] }),
  service("a target port above all", { ports: [{ port: 80, targetPort: 70000 }] }),
  service("one node port twice", {
    type: "NodePort",
    ports: [
      { port: 80, name: "a", nodePort: 31000 },
      { port: 81, name: "b", nodePort: 31000 }
    ]
  }),
  service("external name of an address", { type: "ExternalName", externalName: "A_b" }),
  service("a long port name", { ports: [{ port: 80, name: "a".repeat(64) }] }),
  plain("pod template: nothing said", "api/v1/podtemplates", {}),
  plain("pod template: selectors and containers", "api/v1/podtemplates", {
    template: { metadata: { labels: { ...labels, "a b": "c" } }, spec: { containers: [{ name: "A" }] } }
  })
]
