/**
 * The roles and bindings of a cluster, indexed for lookups: which rules a user has where. Pure and immutable. A ClusterRole with an
 * aggregation rule has the rules of the roles that it selects, whether or not the controller has written them into it. Source:
 * pkg/registry/rbac/validation: DefaultRuleResolver.
 */
import * as Result from "effect/Result"
import * as Selector from "../../kube/Selector.ts"
import type { User } from "../Api.ts"
import { arrayAt, isObject, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { Rule } from "./rule.ts"

export interface RoleRef {
  /** `Role` or `ClusterRole`. */
  readonly kind: string
  readonly name: string
}

interface Subject {
  /** `User`, `Group` or `ServiceAccount`. */
  readonly kind: string
  readonly name: string
  /** Namespace of a service account; empty means that of the binding. */
  readonly namespace: string
}

interface Binding {
  readonly name: string
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string
  readonly role: RoleRef
  readonly subjects: ReadonlyArray<Subject>
}

export interface Policy {
  /** By `namespace/name`. */
  readonly roles: ReadonlyMap<string, ReadonlyArray<Rule>>
  readonly clusterRoles: ReadonlyMap<string, ReadonlyArray<Rule>>
  readonly clusterBindings: ReadonlyArray<Binding>
  /** By namespace. */
  readonly bindings: ReadonlyMap<string, ReadonlyArray<Binding>>
}

/** Stored objects, in the order of lists. */
export interface Source {
  readonly roles: ReadonlyArray<JsonObject>
  readonly clusterRoles: ReadonlyArray<JsonObject>
  readonly roleBindings: ReadonlyArray<JsonObject>
  readonly clusterRoleBindings: ReadonlyArray<JsonObject>
}

export const make = (source: Source): Policy => {
  const bindings = new Map<string, Array<Binding>>()
  for (const binding of source.roleBindings.map(bindingOf)) {
    const found = bindings.get(binding.namespace)
    if (found === undefined) bindings.set(binding.namespace, [binding])
    else found.push(binding)
  }
  return {
    roles: new Map(source.roles.map((role) => [keyOf(metadata(role, "namespace"), nameOf(role)), rulesOf(role)])),
    clusterRoles: new Map(
      source.clusterRoles.map((role) => [nameOf(role), aggregated(source.clusterRoles, role, new Set())])
    ),
    clusterBindings: source.clusterRoleBindings.map(bindingOf),
    bindings
  }
}

const metadata = (object: JsonObject, field: string): string => textAt(object, "metadata", field)

const nameOf = (object: JsonObject): string => metadata(object, "name")

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`

const texts = (value: Json, field: string): ReadonlyArray<string> =>
  arrayAt(value, field).filter((one) => typeof one === "string")

/** The rules in a role. */
export const rulesOf = (role: JsonObject): ReadonlyArray<Rule> =>
  arrayAt(role, "rules").map((rule) => ({
    verbs: texts(rule, "verbs"),
    apiGroups: texts(rule, "apiGroups"),
    resources: texts(rule, "resources"),
    resourceNames: texts(rule, "resourceNames"),
    nonResourceURLs: texts(rule, "nonResourceURLs")
  }))

export const isAggregated = (role: JsonObject): boolean => objectAt(role, "aggregationRule") !== undefined

/** `seen` breaks cycles: a role that is reached twice adds nothing the second time. */
const aggregated = (all: ReadonlyArray<JsonObject>, role: JsonObject, seen: Set<JsonObject>): ReadonlyArray<Rule> => {
  if (seen.has(role)) return []
  seen.add(role)
  if (!isAggregated(role)) return rulesOf(role)
  return arrayAt(role, "aggregationRule", "clusterRoleSelectors")
    .flatMap((selector) => (isObject(selector) ? selected(all, selector) : []))
    .flatMap((one) => aggregated(all, one, seen))
}

const selected = (all: ReadonlyArray<JsonObject>, selector: JsonObject): ReadonlyArray<JsonObject> => {
  // The role was validated when it was written; an invalid selector selects nothing.
  const parsed = Selector.fromSpec(selector)
  if (Result.isFailure(parsed)) return []
  return all.filter((role) =>
    Selector.matchesLabels(parsed.success, objectAt(role, "metadata", "labels") as Record<string, string> | undefined)
  )
}

const bindingOf = (binding: JsonObject): Binding => ({
  name: nameOf(binding),
  namespace: metadata(binding, "namespace"),
  role: refOf(binding),
  subjects: arrayAt(binding, "subjects").map((subject) => ({
    kind: textAt(subject, "kind"),
    name: textAt(subject, "name"),
    namespace: textAt(subject, "namespace")
  }))
})

export const refOf = (binding: JsonObject): RoleRef => ({
  kind: textAt(binding, "roleRef", "kind"),
  name: textAt(binding, "roleRef", "name")
})

/** The rules of a role that a binding in `namespace` refers to; undefined when there is no such role. */
export const rulesOfRole = (policy: Policy, { kind, name }: RoleRef, namespace: string) =>
  kind === "ClusterRole" ? policy.clusterRoles.get(name) : policy.roles.get(keyOf(namespace, name))

/** The rules that one binding grants to a user. */
export interface Grant {
  readonly rules: ReadonlyArray<Rule>
  /** A description for messages: the binding, the role and the subject. */
  readonly source: string
}

export interface Held {
  readonly grants: ReadonlyArray<Grant>
  /** Roles that bindings of this user reference and that do not exist. */
  readonly absent: ReadonlyArray<RoleRef>
}

/** All grants of a user in a namespace; with an empty one, the cluster-wide grants. */
export const heldBy = (policy: Policy, user: User, namespace: string): Held => {
  const grants: Array<Grant> = []
  const absent: Array<RoleRef> = []
  for (const binding of [...policy.clusterBindings, ...(policy.bindings.get(namespace) ?? [])]) {
    const subject = binding.subjects.find((one) => matchesSubject(one, user, binding.namespace))
    if (subject === undefined) continue
    const rules = rulesOfRole(policy, binding.role, binding.namespace)
    if (rules === undefined) absent.push(binding.role)
    else grants.push({ rules, source: sourceOf(binding, subject) })
  }
  return { grants, absent }
}

const matchesSubject = (subject: Subject, user: User, namespace: string): boolean => {
  switch (subject.kind) {
    case "User":
      return subject.name === user.name
    case "Group":
      return user.groups.includes(subject.name)
    case "ServiceAccount": {
      const home = subject.namespace || namespace
      return home !== "" && user.name === `system:serviceaccount:${home}:${subject.name}`
    }
    default:
      return false
  }
}

/** In the order of kube-apiserver: names before namespaces. */
const sourceOf = (binding: Binding, subject: Subject): string => {
  const quoted = (name: string, namespace: string): string =>
    JSON.stringify(namespace === "" ? name : `${name}/${namespace}`)
  const kind = binding.namespace === "" ? "ClusterRoleBinding" : "RoleBinding"
  const home = subject.kind === "ServiceAccount" ? subject.namespace || binding.namespace : ""
  const { role } = binding
  return `${kind} ${quoted(binding.name, binding.namespace)} of ${role.kind} ${JSON.stringify(role.name)} to ${subject.kind} ${quoted(subject.name, home)}`
}
