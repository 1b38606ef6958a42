/**
 * The bootstrap roles and bindings of a cluster with RBAC, as data: discovery, self reviews, view, edit and admin. It has the roles for
 * users of kube-apiserver's bootstrap policy; the roles of components are created with the components. Source:
 * plugin/pkg/auth/authorizer/rbac/bootstrappolicy.
 */
import * as Measured from "../scheme/measured.ts"
import { clone } from "../json.ts"
import type { JsonObject } from "../json.ts"

const group = "rbac.authorization.k8s.io"

const label = { "kubernetes.io/bootstrapping": "rbac-defaults" }
const annotations = { "rbac.authorization.kubernetes.io/autoupdate": "true" }

const aggregateTo = (role: string): Record<string, string> => ({ [`${group}/aggregate-to-${role}`]: "true" })

const role = (name: string, rules: ReadonlyArray<JsonObject>, labels: Record<string, string> = {}): JsonObject => ({
  metadata: { name, labels: { ...label, ...labels }, annotations: { ...annotations } },
  rules: clone([...rules])
})

/** A ClusterRole that aggregates the roles labelled for it. */
const aggregate = (name: string, labels: Record<string, string> = {}): JsonObject => ({
  metadata: { name, labels: { ...label, ...labels }, annotations: { ...annotations } },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregateTo(name) }] },
  rules: null
})

/** Resources and verbs separated by blanks. */
const rule = (apiGroup: string, resources: string, verbs: string): JsonObject => ({
  verbs: verbs.split(" "),
  apiGroups: [apiGroup],
  resources: resources.split(" ")
})

const urls = (...nonResourceURLs: Array<string>): JsonObject => ({ verbs: ["get"], nonResourceURLs })

const read = "get list watch"
const write = "create delete deletecollection patch update"
const readWrite = "create delete deletecollection get list patch update watch"

const health = ["/healthz", "/livez", "/readyz", "/version", "/version/"]

const workloads =
  "daemonsets deployments deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale"

const view: ReadonlyArray<JsonObject> = [
  rule(
    "",
    "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status",
    read
  ),
  rule(
    "",
    "bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status",
    read
  ),
  rule("", "namespaces", read),
  rule("discovery.k8s.io", "endpointslices", read),
  rule(
    "apps",
    `controllerrevisions ${workloads} daemonsets/status deployments/status replicasets/status statefulsets/status`,
    read
  ),
  rule("autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status", read),
  rule("batch", "cronjobs cronjobs/status jobs jobs/status", read),
  rule("policy", "poddisruptionbudgets poddisruptionbudgets/status", read),
  rule("networking.k8s.io", "ingresses ingresses/status networkpolicies", read)
]

const edit: ReadonlyArray<JsonObject> = [
  rule("", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy", read),
  rule("", "serviceaccounts", "impersonate"),
  rule("", "pods pods/attach pods/exec pods/portforward pods/proxy", write),
  rule("", "pods/eviction", "create"),
  rule(
    "",
    "configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy",
    write
  ),
  rule("", "serviceaccounts/token", "create"),
  rule("apps", workloads, write),
  rule("autoscaling", "horizontalpodautoscalers", write),
  rule("batch", "cronjobs jobs", write),
  rule("policy", "poddisruptionbudgets", write),
  rule("networking.k8s.io", "ingresses networkpolicies", write),
  rule("coordination.k8s.io", "leases", readWrite)
]

const clusterRoles = (): ReadonlyArray<JsonObject> => [
  role("cluster-admin", [rule("*", "*", "*"), { verbs: ["*"], nonResourceURLs: ["*"] }]),
  role("system:discovery", [urls("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", ...health)]),
  role("system:public-info-viewer", [urls(...health)]),
  role("system:basic-user", [
    rule("authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", "create"),
    rule("authentication.k8s.io", "selfsubjectreviews", "create")
  ]),
  role("system:auth-delegator", [
    rule("authentication.k8s.io", "tokenreviews", "create"),
    rule("authorization.k8s.io", "subjectaccessreviews", "create")
  ]),
  aggregate("admin"),
  aggregate("edit", aggregateTo("admin")),
  aggregate("view", aggregateTo("edit")),
  role(
    "system:aggregate-to-admin",
    [rule("authorization.k8s.io", "localsubjectaccessreviews", "create"), rule(group, "rolebindings roles", readWrite)],
    aggregateTo("admin")
  ),
  role("system:aggregate-to-edit", edit, aggregateTo("edit")),
  role("system:aggregate-to-view", view, aggregateTo("view"))
]

const authenticated = ["system:authenticated"]

/** Groups by the ClusterRole that is bound to them. */
const clusterBindings: Readonly<Record<string, ReadonlyArray<string>>> = {
  "cluster-admin": ["system:masters"],
  "system:basic-user": authenticated,
  "system:discovery": authenticated,
  "system:public-info-viewer": [...authenticated, "system:unauthenticated"]
}

const bindingOf = (name: string, groups: ReadonlyArray<string>): JsonObject => ({
  metadata: { name, labels: { ...label }, annotations: { ...annotations } },
  roleRef: { apiGroup: group, kind: "ClusterRole", name },
  subjects: groups.map((one) => ({ kind: "Group", apiGroup: group, name: one }))
})

/** New objects, with the path of the collection to create them in; the caller may change them. */
export const objects = (servesMetrics: boolean): ReadonlyArray<readonly [collection: string, object: JsonObject]> => [
  ...[...clusterRoles(), ...(servesMetrics ? [Measured.reader()] : [])].map(
    (one) => [`apis/${group}/v1/clusterroles`, one] as const
  ),
  ...Object.entries(clusterBindings).map(
    ([name, groups]) => [`apis/${group}/v1/clusterrolebindings`, bindingOf(name, groups)] as const
  )
]
