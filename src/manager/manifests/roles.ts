/**
 * The permissions of an account as roles and bindings: a ClusterRole for what is granted in all namespaces, and a Role in each other namespace.
 * Duplicate and redundant rules are removed. Pure.
 */
import { election, minimal, type Permission } from "../permissions.ts"
import type { Manifest } from "./Installation.ts"
import { rulesOf } from "./rules.ts"

/** A ServiceAccount and what it may do. */
export interface Account {
  readonly name: string
  readonly namespace: string
  readonly permissions: ReadonlyArray<Permission>
}

const rbac = "rbac.authorization.k8s.io"

/** `name`: the name of the roles; roles for leases only have a suffix. */
export const rolesOf = (
  name: string,
  account: Account,
  labels: Readonly<Record<string, string>>
): ReadonlyArray<Manifest> => {
  const permissions = minimal(account.permissions)
  const isElection = ({ needed }: Permission): boolean => needed.every((one) => one === election)
  return [
    ...granting(
      name,
      account,
      labels,
      permissions.filter((one) => !isElection(one))
    ),
    ...granting(`${name}-leader-election`, account, labels, permissions.filter(isElection))
  ]
}

/** Where a role or a binding is created. */
export const pathOf = ({ apiVersion, kind, metadata: { namespace } }: Manifest): string =>
  `/apis/${apiVersion}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${kind.toLowerCase()}s`

/** The ClusterRole comes first. */
const granting = (
  name: string,
  account: Pick<Account, "name" | "namespace">,
  labels: Readonly<Record<string, string>>,
  permissions: ReadonlyArray<Permission>
): ReadonlyArray<Manifest> =>
  [...rulesOf(permissions)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([namespace, rules]) => {
      const [kind, binding] =
        namespace === "" ? (["ClusterRole", "ClusterRoleBinding"] as const) : (["Role", "RoleBinding"] as const)
      const metadata = { name, ...(namespace === "" ? {} : { namespace }), labels }
      return [
        { apiVersion: `${rbac}/v1`, kind, metadata, rules },
        {
          apiVersion: `${rbac}/v1`,
          kind: binding,
          metadata,
          roleRef: { apiGroup: rbac, kind, name },
          subjects: [{ kind: "ServiceAccount", name: account.name, namespace: account.namespace }]
        }
      ]
    })
