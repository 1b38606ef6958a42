/**
 * Everything that a cluster needs to run the program, as objects in the order in which they can be applied: a namespace, an account with
 * exactly the rights of the chosen controllers, two replicas of which one leads, and what watches over them. Pure.
 */
import type { Permission } from "../permissions.ts"
import { rolesOf } from "./roles.ts"
import * as Workload from "./workload.ts"

/** An object of any kind: plain data, to be printed. */
export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

export interface Options extends Workload.Options {
  readonly permissions: ReadonlyArray<Permission>
}

const rbac = "rbac.authorization.k8s.io"

export const all = (options: Options): ReadonlyArray<Manifest> => [
  {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: options.namespace,
      // What the pods ask for is within the strictest profile: nothing else needs to be let in.
      labels: { "pod-security.kubernetes.io/enforce": "restricted" }
    }
  },
  {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: options.name, namespace: options.namespace, labels: Workload.labels(options) }
  },
  ...rolesOf(options.name, options, Workload.labels(options)),
  ...(options.secureMetrics ? [metricsReader(options)] : []),
  ...Workload.all(options)
]

/** For whatever collects the metrics, to be bound to its account: which one that is, nobody here knows. */
const metricsReader = (options: Options): Manifest => ({
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRole",
  metadata: { name: `${options.name}-metrics-reader`, labels: Workload.labels(options) },
  rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }]
})
