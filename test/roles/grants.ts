/**
 * Roles taken apart into grants, the smallest things that can be given: one verb on one resource, in one place, for one account. A grant
 * can be seen in use in the audit log, and can be taken out of the roles it is in.
 */
import type { Entry } from "../../src/apiserver/audit/AuditLog.ts"
import { allows, atoms, type Rule } from "../../src/apiserver/authorization/rule.ts"
import type { Manifest } from "../../src/manager/manifests/Installation.ts"

export interface Grant {
  /** `system:serviceaccount:…`. */
  readonly account: string
  /** Empty: everywhere. */
  readonly namespace: string
  readonly rule: Rule
}

/** A grant in words, which tell it from all others: `patch nodes as pod-count`. */
export const say = ({ account, namespace, rule }: Grant): string => {
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

/** Fields that a role leaves out are empty. */
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

/** The same without one grant. */
export const without =
  (grant: Grant) =>
  (manifests: ReadonlyArray<Manifest>): ReadonlyArray<Manifest> => {
    const bindings = manifests.filter(isBinding)
    const taken = say(grant)
    return manifests.map((one) => {
      if (!isRole(one)) return one
      const left = grantsOf(one, bindings).filter((other) => say(other) !== taken)
      return { ...one, rules: left.map(({ rule }) => rule) }
    })
  }

/** What a request made use of: for each verb the one grant by which it was let through, nothing if several would have done. */
export const usedBy = (entry: Entry, grants: ReadonlyArray<Grant>): ReadonlyArray<Grant> => {
  if (!entry.allowed) return []
  return [...requestedBy(entry, grants), ...owningBy(entry, grants), ...escalatingBy(entry, grants)]
}

/** Nor does it say what rights a role gives: whoever writes one may have used the right to give those that it lacks. */
const escalatingBy = (entry: Entry, grants: ReadonlyArray<Grant>): ReadonlyArray<Grant> =>
  entry.verb === "patch" && entry.code === 200
    ? grants.filter(
        ({ account, rule }) => account === entry.user && allows(rule, { ...entry, verb: "escalate", isResource: true })
      )
    : []

/**
 * The log does not say which owners an object names: whoever makes one may have used the right to name any, and whoever updates one the right to
 * delete it, which changing its owners takes. A scenario that breaks proves it.
 */
const owningBy = (entry: Entry, grants: ReadonlyArray<Grant>): ReadonlyArray<Grant> => {
  const own = grants.filter(({ account }) => account === entry.user)
  if (entry.code === 201) return own.filter(({ rule }) => rule.resources[0]?.endsWith("/finalizers") === true)
  if (entry.verb !== "update" || entry.code !== 200) return []
  return own.filter(({ rule }) => allows(rule, { ...entry, verb: "delete", isResource: true }))
}

const requestedBy = (entry: Entry, grants: ReadonlyArray<Grant>): ReadonlyArray<Grant> => {
  // What makes an object by a patch or an update is asked for the right to create it too.
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
