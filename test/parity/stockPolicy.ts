/**
 * The rights that an API server grants the controllers of a cluster by itself, as in Kubernetes 1.36: the role of the user
 * `system:kube-controller-manager`, and that of each service account whose loop exists here. Facts for tests; the program itself asks the server.
 * Source: plugin/pkg/auth/authorizer/rbac/bootstrappolicy, testdata/{cluster,controller}-roles.yaml.
 */
import type { Permission } from "../../src/manager/permissions.ts"

/** Groups (`-` is the core one), resources, verbs, and a name if it is for one object only. */
type Rule = readonly [groups: string, resources: string, verbs: string, name?: string]

const events: Rule = ["- events.k8s.io", "events", "create patch update"]

/** The user `system:kube-controller-manager`: it reads for all loops, leads, records, and creates the accounts and their tokens. */
const manager: ReadonlyArray<Rule> = [
  events,
  ["coordination.k8s.io", "leases", "create"],
  ["coordination.k8s.io", "leases", "get update", "kube-controller-manager"],
  ["-", "secrets serviceaccounts", "create"],
  ["-", "secrets", "delete"],
  ["-", "configmaps namespaces secrets serviceaccounts", "get"],
  ["-", "secrets serviceaccounts", "update"],
  ["authentication.k8s.io", "tokenreviews", "create"],
  ["authorization.k8s.io", "subjectaccessreviews", "create"],
  ["*", "*", "list watch"],
  ["-", "serviceaccounts/token", "create"]
]

const all = "create delete get list patch update watch"

/** By account in `kube-system`. The role of an account is named `system:controller:<account>`. */
const roles: Readonly<Record<string, ReadonlyArray<Rule>>> = {
  "clusterrole-aggregation-controller": [
    ["rbac.authorization.k8s.io", "clusterroles", "escalate get list patch update watch"]
  ],
  "cronjob-controller": [
    ["batch", "cronjobs", "get list update watch"],
    ["batch", "jobs", all],
    ["batch", "cronjobs/status cronjobs/finalizers", "update"],
    ["-", "pods", "delete list watch"],
    events
  ],
  "daemon-set-controller": [
    ["apps extensions", "daemonsets", "get list watch"],
    ["apps extensions", "daemonsets/status daemonsets/finalizers", "update"],
    ["-", "nodes", "list watch"],
    ["-", "pods", "create delete list patch watch"],
    ["-", "pods/binding", "create"],
    ["apps", "controllerrevisions", all],
    events
  ],
  "deployment-controller": [
    ["apps extensions", "deployments", "get list update watch"],
    ["apps extensions", "deployments/status deployments/finalizers", "update"],
    ["apps extensions", "replicasets", all],
    ["-", "pods", "get list update watch"],
    events
  ],
  "disruption-controller": [
    ["apps extensions", "deployments replicasets", "get list watch"],
    ["-", "replicationcontrollers", "get list watch"],
    ["policy", "poddisruptionbudgets", "get list watch"],
    ["apps", "statefulsets", "get list watch"],
    ["policy", "poddisruptionbudgets/status", "update"],
    ["-", "pods/status", "patch update"],
    ["*", "*/scale", "get"],
    events
  ],
  "endpoint-controller": [
    ["-", "pods services", "get list watch"],
    ["-", "endpoints", "create delete get list update watch"],
    ["-", "endpoints/restricted", "create"],
    events
  ],
  "endpointslice-controller": [
    ["-", "nodes pods services", "get list watch"],
    ["-", "services/finalizers", "update"],
    ["discovery.k8s.io", "endpointslices", "create delete get list update watch"],
    events
  ],
  "endpointslicemirroring-controller": [
    ["-", "endpoints services", "get list watch"],
    ["-", "services/finalizers endpoints/finalizers", "update"],
    ["discovery.k8s.io", "endpointslices", "create delete get list update watch"],
    events
  ],
  "generic-garbage-collector": [["*", "*", "delete get list patch update watch"], events],
  "horizontal-pod-autoscaler": [
    ["autoscaling", "horizontalpodautoscalers", "get list watch"],
    ["autoscaling", "horizontalpodautoscalers/status", "update"],
    ["*", "*/scale", "get update"],
    ["-", "pods", "list watch"],
    ["metrics.k8s.io", "pods", "list watch"],
    ["custom.metrics.k8s.io external.metrics.k8s.io", "*", "get list watch"],
    events
  ],
  "job-controller": [
    ["batch", "jobs", "get list patch update watch"],
    ["batch", "jobs/status jobs/finalizers", "update"],
    ["-", "pods", "create delete list patch watch"],
    events
  ],
  "legacy-service-account-token-cleaner": [
    ["-", "configmaps", "get", "kube-apiserver-legacy-service-account-token-tracking"],
    ["-", "secrets", "delete patch"]
  ],
  "namespace-controller": [
    ["-", "namespaces", "delete get list watch"],
    ["-", "namespaces/finalize namespaces/status", "update"],
    ["*", "*", "delete deletecollection get list watch"]
  ],
  "node-controller": [
    ["-", "nodes", "delete get list patch update watch"],
    ["-", "nodes/status pods/status", "patch update"],
    ["-", "pods", "delete get list watch"],
    events
  ],
  "pod-garbage-collector": [
    ["-", "pods", "delete list watch"],
    ["-", "nodes", "get list watch"],
    ["-", "pods/status", "patch"]
  ],
  "pvc-protection-controller": [
    ["-", "persistentvolumeclaims", "get list update watch"],
    ["-", "persistentvolumeclaims/status", "update"],
    ["-", "pods", "get list watch"],
    events
  ],
  "replicaset-controller": [
    ["apps extensions", "replicasets", "get list update watch"],
    ["apps extensions", "replicasets/status replicasets/finalizers", "update"],
    ["-", "pods", "create delete list patch watch"],
    events
  ],
  "replication-controller": [
    ["-", "replicationcontrollers", "get list update watch"],
    ["-", "replicationcontrollers/status replicationcontrollers/finalizers", "update"],
    ["-", "pods", "create delete list patch watch"],
    events
  ],
  "resourcequota-controller": [["*", "*", "list watch"], ["-", "resourcequotas/status", "update"], events],
  "root-ca-cert-publisher": [["-", "configmaps", "create update"], events],
  "service-account-controller": [["-", "serviceaccounts", "create"], events],
  "statefulset-controller": [
    ["-", "pods", all],
    ["apps", "statefulsets", "get list watch"],
    ["apps", "statefulsets/status statefulsets/finalizers", "update"],
    ["apps", "controllerrevisions", all],
    ["-", "persistentvolumeclaims", "create delete get list update watch"],
    ["-", "pods/finalizers", "update"],
    events
  ],
  "ttl-after-finished-controller": [["batch", "jobs", "delete get list watch"], events]
}

const grants = (rules: ReadonlyArray<Rule>, who: string): ReadonlyArray<Permission> =>
  rules.flatMap(([groups, resources, verbs, name = ""]) =>
    groups.split(" ").flatMap((group) =>
      resources.split(" ").flatMap((endpoint) => {
        const [resource = "", subresource = ""] = endpoint.split("/")
        return verbs.split(" ").map((verb): Permission => ({
          verb,
          group: group === "-" ? "" : group,
          resource,
          subresource,
          namespace: "",
          name,
          needed: [who]
        }))
      })
    )
  )

/** The rights of a program that runs as the user `system:kube-controller-manager`. */
export const ofManager: ReadonlyArray<Permission> = grants(manager, "system:kube-controller-manager")

/** The rights of a service account of `kube-system`; undefined where there is no role for it. */
export const ofAccount = (account: string): ReadonlyArray<Permission> | undefined => {
  const rules = roles[account]
  return rules === undefined ? undefined : grants(rules, account)
}
