/**
 * Roles split into grants, the smallest permissions: one verb on one resource, in one namespace or in all, for one account. The audit log
 * shows which grants are used, and a single grant can be removed from the roles.
 */
import type { Entry } from "../../src/apiserver/audit/AuditLog.ts"
import { allows, atoms, type Rule } from "../../src/apiserver/authorization/rule.ts"
import type { Manifest } from "../../src/manager/manifests/Installation.ts"

export interface Grant {
  /** `system:serviceaccount:…`. */
  readonly account: string
  /** Empty for all namespaces. */
  readonly namespace: string
  readonly rule: Rule
}

/** A grant as unique text: `patch nodes as pod-count`. */
export const describe = ({ account, namespace, rule }: Grant): string => {
  const group = rule.apiGroups[0] ?? ""
  const what = `${rule.resources[0]}${group === "" ? "" : ` of ${group}`}`
  const name = rule.resourceNames[0] === undefined ? "" : ` ${rule.resourceNames[0]}`
  const place = namespace === "" ? "" : ` in ${namespace}`
  return `${rule.verbs[0]} ${what}${name}${place} as ${account.replace(/^.*:/, "")}`
}

interface Role {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules: ReadonlyArray<Partial<Rule>>
}

interface Binding extends Pick<Role, "kind" | "metadata"> {
  readonly roleRef: { readonly kind: string; readonly name: string }
  readonly subjects: ReadonlyArray<{ readonly namespace: string; readonly name: string }>
}

const isRole = (one: Manifest): one is Manifest & Role => one.kind === "Role" || one.kind === "ClusterRole"

const isBinding = (one: Manifest): one is Manifest & Binding => one.kind.endsWith("RoleBinding")

/** Adds the fields that a role leaves out, empty. */
const wholeRule = (rule: Partial<Rule>): Rule => ({
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
  ...rule
})

const grantsOf = (role: Role, bindings: ReadonlyArray<Binding>): ReadonlyArray<Grant> =>
  bindings
    .filter(
      ({ metadata, roleRef }) =>
        roleRef.kind === role.kind &&
        roleRef.name === role.metadata.name &&
        metadata.namespace === role.metadata.namespace
    )
    .flatMap(({ subjects }) =>
      subjects.flatMap(({ name, namespace }) =>
        role.rules.flatMap((rule) =>
          atoms(wholeRule(rule)).map((atom) => ({
            account: `system:serviceaccount:${namespace}:${name}`,
            namespace: role.metadata.namespace ?? "",
            rule: atom
          }))
        )
      )
    )

/** All that roles and bindings grant. */
export const of = (manifests: ReadonlyArray<Manifest>): ReadonlyArray<Grant> => {
  const bindings = manifests.filter(isBinding)
  return manifests.filter(isRole).flatMap((role) => grantsOf(role, bindings))
}

/** The manifests without one grant. */
export const without =
  (grant: Grant) =>
  (manifests: ReadonlyArray<Manifest>): ReadonlyArray<Manifest> => {
    const bindings = manifests.filter(isBinding)
    const taken = describe(grant)
    return manifests.map((one) => {
      if (!isRole(one)) return one
      const left = grantsOf(one, bindings).filter((other) => describe(other) !== taken)
      return { ...one, rules: left.map(({ rule }) => rule) }
    })
  }

/** The grants that a request used: for each verb the only grant that allows it; none if several do. */
export const usedBy = (entry: Entry, grants: ReadonlyArray<Grant>): ReadonlyArray<Grant> => {
  if (!entry.allowed) return []
  return [...requestGrants(entry, grants), ...ownershipGrants(entry, grants), ...escalationGrants(entry, grants)]
}

/** The log does not contain the rules of a written role, so writing one may have used `escalate`. */
const escalationGrants = (entry: Entry, grants: ReadonlyArray<Grant>): ReadonlyArray<Grant> =>
  entry.verb === "patch" && entry.code === 200
    ? grants.filter(
        ({ account, rule }) => account === entry.user && allows(rule, { ...entry, verb: "escalate", isResource: true })
      )
    : []

/**
 * The log does not contain owner references: a create may have used the permission on `finalizers` of the owner, and an update the permission to
 * delete the object, which a change of its owners takes. Whether a scenario breaks without the grant shows whether it was used.
 */
const ownershipGrants = (entry: Entry, grants: ReadonlyArray<Grant>): ReadonlyArray<Grant> => {
  const own = grants.filter(({ account }) => account === entry.user)
  if (entry.code === 201) return own.filter(({ rule }) => rule.resources[0]?.endsWith("/finalizers") === true)
  if (entry.verb !== "update" || entry.code !== 200) return []
  return own.filter(({ rule }) => allows(rule, { ...entry, verb: "delete", isResource: true }))
}

const requestGrants = (entry: Entry, grants: ReadonlyArray<Grant>): ReadonlyArray<Grant> => {
  // A patch or an update that creates an object also takes the permission to create it.
  const isCreation = entry.code === 201 && entry.verb !== "create"
  return (isCreation ? [entry.verb, "create"] : [entry.verb]).flatMap((verb) => {
    const all = grants.filter(
      ({ account, namespace, rule }) =>
        account === entry.user &&
        (namespace === "" || namespace === entry.namespace) &&
        allows(rule, { ...entry, verb, isResource: entry.resource !== "" })
    )
    return all.length === 1 ? all : []
  })
}
