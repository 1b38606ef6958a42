/**
 * The rights of an account as roles and their bindings: what is granted everywhere in a ClusterRole, what is granted in a namespace in a
 * Role of that namespace. No rule is there twice, and none that another one makes superfluous. Pure.
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

/** `name`: of the roles; those for leases alone have an ending. */
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

/** First what is granted everywhere. */
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
