/**
 * All objects that a cluster needs to run the program, in the order in which they can be applied: a namespace, an account with exactly the
 * permissions of the chosen controllers, two replicas of which one leads, and the objects for metrics and webhooks. Pure.
 */
import type { Permission } from "../permissions.ts"
import * as Installation from "./Installation.ts"
import type { Manifest } from "./Installation.ts"
import * as Metrics from "./metrics.ts"
import { rolesOf } from "./roles.ts"
import * as Webhooks from "./webhooks.ts"
import * as Workload from "./workload.ts"

export interface Options extends Installation.Options {
  readonly permissions: ReadonlyArray<Permission>
  /** Accounts in `kube-system` of controllers that have one of their own. */
  readonly accounts?:
    | ReadonlyArray<{ readonly name: string; readonly permissions: ReadonlyArray<Permission> }>
    | undefined
}

const rbac = "rbac.authorization.k8s.io"

export const all = (options: Options): ReadonlyArray<Manifest> => [
  {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: options.namespace,
      // The pods comply with the strictest Pod Security profile.
      labels: { "pod-security.kubernetes.io/enforce": "restricted" }
    }
  },
  {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: options.name, namespace: options.namespace, labels: Installation.labels(options) }
  },
  ...rolesOf(options.name, options, Installation.labels(options)),
  ...(options.accounts ?? []).flatMap((account) => ofController(account, options)),
  ...(options.metrics.isSecure ? [reader(options, "metrics", ["/metrics"])] : []),
  ...(options.console === undefined ? [] : [reader(options, "console", ["/console"])]),
  ...Workload.all(options),
  ...Metrics.all(options),
  ...(options.webhooks === undefined ? [] : Webhooks.all(options, options.webhooks))
]

/** The account is in the manifests, although the program would create it, so that its role binding has a subject. */
const ofController = (
  { name, permissions }: NonNullable<Options["accounts"]>[number],
  options: Options
): ReadonlyArray<Manifest> => {
  const [namespace, labels] = ["kube-system", Installation.labels(options)]
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels } },
    ...rolesOf(`${options.name}-${name}`, { name, namespace, permissions }, labels)
  ]
}

/** A role for those who read from a server of the pods. Their accounts are not known here, so the operator binds it. */
const reader = (options: Options, server: string, nonResourceURLs: ReadonlyArray<string>): Manifest => ({
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRole",
  metadata: { name: `${options.name}-${server}-reader`, labels: Installation.labels(options) },
  rules: [{ nonResourceURLs, verbs: ["get"] }]
})

/** One file of the directory that `files` makes. */
export interface File {
  /** The file name, without a directory. */
  readonly name: string
  readonly documents: ReadonlyArray<object>
}

/** The manifests as files: one for each kind, in their order, and a `kustomization.yaml` that makes them a base for Kustomize. */
export const files = (manifests: ReadonlyArray<{ readonly kind: string }>): ReadonlyArray<File> => {
  const kinds = [...new Set(manifests.map(({ kind }) => kind))]
  const named = kinds.map((kind) => ({
    name: `${kind.toLowerCase()}.yaml`,
    documents: manifests.filter((one) => one.kind === kind)
  }))
  const base = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: named.map(({ name }) => name)
  }
  return [...named, { name: "kustomization.yaml", documents: [base] }]
}
