/**
 * The authorizer. `AlwaysAllow` allows everything to every authenticated user; `RBAC` allows what roles grant, and everything to members
 * of `system:masters`. It reads the roles again only after one has changed.
 */
import * as Equal from "effect/Equal"
import type { User } from "../Api.ts"
import type { Collection } from "../storage/Collection.ts"
import * as Version from "../storage/Version.ts"
import type { JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import * as Policy from "./policy.ts"
import { allows } from "./rule.ts"
import type { Attributes, Rule } from "./rule.ts"

export type Mode = "AlwaysAllow" | "RBAC"

export interface Decision {
  readonly allowed: boolean
  /** In the words of kube-apiserver; may be empty. */
  readonly reason: string
}

export interface Authorizer {
  readonly mode: Mode
  readonly decide: (user: User, wanted: Attributes) => Decision
  /** All rules that a user has in a namespace, and the referenced roles that do not exist. */
  readonly rulesFor: (
    user: User,
    namespace: string
  ) => { readonly rules: ReadonlyArray<Rule>; readonly absent: ReadonlyArray<Policy.RoleRef> }
  /** The rules of a referenced role in a namespace; undefined when it does not exist. */
  readonly rulesOfRole: (role: Policy.RoleRef, namespace: string) => ReadonlyArray<Rule> | undefined
}

const group = "rbac.authorization.k8s.io"

export const isMaster = (user: Pick<User, "groups">): boolean => user.groups.includes("system:masters")

/** The rules of `cluster-admin`. */
export const everything: ReadonlyArray<Rule> = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [], nonResourceURLs: [] },
  { verbs: ["*"], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ["*"] }
]

const yes: Decision = { allowed: true, reason: "" }

export const make = (mode: Mode, collection: (storage: string) => Collection): Authorizer => {
  const policy = reading(collection)
  if (mode === "AlwaysAllow") {
    return {
      mode,
      decide: () => yes,
      rulesFor: () => ({ rules: everything, absent: [] }),
      rulesOfRole: (role, namespace) => Policy.rulesOfRole(policy(), role, namespace)
    }
  }
  return {
    mode,
    decide: (user, wanted) => (isMaster(user) ? yes : decide(policy(), user, wanted)),
    rulesFor: (user, namespace) => {
      const { absent, grants } = Policy.heldBy(policy(), user, namespace)
      const granted = grants.flatMap(({ rules }) => rules)
      // The group is bound to cluster-admin. Where an administrator has removed the binding, it has these rights all the same.
      const more = isMaster(user) ? everything.filter((one) => !granted.some((rule) => Equal.equals(rule, one))) : []
      return { rules: [...more, ...granted], absent }
    },
    rulesOfRole: (role, namespace) => Policy.rulesOfRole(policy(), role, namespace)
  }
}

/** Decides one request by a policy. */
export const decide = (policy: Policy.Policy, user: User, wanted: Attributes): Decision => {
  const { absent, grants } = Policy.heldBy(policy, user, wanted.namespace)
  const grant = grants.find(({ rules }) => rules.some((rule) => allows(rule, wanted)))
  if (grant !== undefined) return { allowed: true, reason: `RBAC: allowed by ${grant.source}` }
  return { allowed: false, reason: absent.length === 0 ? "" : `RBAC: ${absentInWords(absent)}` }
}

/** Several messages are in brackets, as Go joins errors. The kind is in the singular or, with `s`, the resource name. */
export const absentInWords = (roles: ReadonlyArray<Policy.RoleRef>, ending: "" | "s" = ""): string => {
  const texts = roles.map(
    ({ kind, name }) => `${kind.toLowerCase()}${ending}.${group} ${JSON.stringify(name)} not found`
  )
  const joined = [...new Set(texts)].join(", ")
  return new Set(texts).size === 1 ? joined : `[${joined}]`
}

/** Returns the policy of the present roles and bindings, memoized. */
const reading = (collection: (storage: string) => Collection): (() => Policy.Policy) => {
  const roles = collection(`${group}/roles`)
  const clusterRoles = collection(`${group}/clusterroles`)
  const roleBindings = collection(`${group}/rolebindings`)
  const clusterRoleBindings = collection(`${group}/clusterrolebindings`)
  const all = [roles, clusterRoles, roleBindings, clusterRoleBindings]
  let revision = -1
  let policy: Policy.Policy | undefined
  return () => {
    const latest = Math.max(...all.map(({ latest }) => latest?.revision ?? 0))
    if (policy !== undefined && latest === revision) return policy
    revision = latest
    policy = Policy.make({
      roles: objectsOf(roles),
      clusterRoles: objectsOf(clusterRoles),
      roleBindings: objectsOf(roleBindings),
      clusterRoleBindings: objectsOf(clusterRoleBindings)
    })
    return policy
  }
}

const objectsOf = (collection: Collection): ReadonlyArray<JsonObject> =>
  [...collection.range({ namespace: "", after: "", revision: collection.upcoming() })].map(Version.parse)

/** 403 when the user may not do it, in the words of kube-apiserver (endpoints/handlers/responsewriters: forbiddenMessage). */
export const refuse = (
  {
    request,
    state
  }: { readonly request: { readonly user: User }; readonly state: { readonly authorizer: Authorizer } },
  wanted: Attributes
): StatusError.StatusError | undefined => {
  if (state.authorizer.mode === "AlwaysAllow") return undefined
  const { allowed, reason } = state.authorizer.decide(request.user, wanted)
  return allowed ? undefined : forbidden(request.user, wanted, reason)
}

const forbidden = (user: User, wanted: Attributes, reason: string): StatusError.StatusError => {
  const why = `User ${JSON.stringify(user.name)} cannot ${wanted.verb} ${objectOf(wanted)}${reason === "" ? "" : `: ${reason}`}`
  return wanted.isResource
    ? StatusError.forbidden({ group: wanted.group, plural: wanted.resource }, wanted.name, why)
    : StatusError.forbiddenPath(why)
}

const objectOf = ({ group, isResource, namespace, path, resource, subresource }: Attributes): string => {
  if (!isResource) return `path ${JSON.stringify(path)}`
  const whole = subresource === "" ? resource : `${resource}/${subresource}`
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`
  return `resource ${JSON.stringify(whole)} in API group ${JSON.stringify(group)} ${where}`
}
