/**
 * Prevents privilege escalation: writing a role requires all of its rules, writing a binding all rules of the role, or the verb
 * `escalate` or `bind`. Creating an object by update or patch requires the permission to create it. Both are admission plugins, because
 * they check the object and not the request. Source: pkg/registry/rbac: policybased storage, and endpoints/handlers: withAuthorization,
 * including their messages.
 */
import type { Plugin, Write } from "../admission/Admission.ts"
import { clone, equal, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import * as attributes from "./attributes.ts"
import { absentInWords, everything, isMaster } from "./Authorizer.ts"
import * as Policy from "./policy.ts"
import { missing } from "./rule.ts"
import type { Attributes, Rule } from "./rule.ts"

const group = "rbac.authorization.k8s.io"

export const noEscalation: Plugin = {
  name: "NoEscalation",
  admit: (write) => {
    const { before, object, target, context } = write
    if (target.resource.group !== group || isMaster(context.request.user)) return undefined
    if (before !== undefined && equal(withoutUpkeep(object), withoutUpkeep(before))) return undefined
    return objectAt(object, "roleRef") === undefined ? checkRole(write) : checkBinding(write)
  }
}

/** Metadata that the server sets, whatever an update sends. */
const serverFields = ["uid", "creationTimestamp", "managedFields", "resourceVersion", "generation"]

/** Changes of owner references and finalizers do not change permissions. */
const withoutUpkeep = (object: JsonObject): JsonObject => {
  const { apiVersion: _, kind: __, ...out } = clone(object)
  const metadata = objectAt(out, "metadata")
  for (const field of ["ownerReferences", "finalizers", ...serverFields]) {
    delete metadata?.[field]
  }
  return out
}

const may = ({ context }: Write, wanted: Partial<Attributes>): boolean =>
  context.state.authorizer.decide(context.request.user, {
    ...attributes.of(context.request),
    subresource: "",
    ...wanted
  }).allowed

const checkRole = (write: Write): StatusError.StatusError | undefined => {
  const { before, object, target } = write
  if (may(write, { verb: "escalate" })) return undefined
  const refusal = checkHeld(write, Policy.rulesOf(object))
  if (refusal !== undefined) return refusal
  if (!Policy.isAggregated(object) && (before === undefined || !Policy.isAggregated(before))) return undefined
  if (notHeld(write, everything).length === 0) return undefined
  const why = "must have cluster-admin privileges to use the aggregationRule"
  return StatusError.forbidden(target.resource, textAt(object, "metadata", "name"), why)
}

const checkBinding = (write: Write): StatusError.StatusError | undefined => {
  const { object, target, context } = write
  const role = Policy.refOf(object)
  // Validation rejects other kinds of roles.
  if (role.kind !== "Role" && role.kind !== "ClusterRole") return undefined
  const resource = role.kind === "Role" ? "roles" : "clusterroles"
  if (may(write, { verb: "bind", group, resource, name: role.name, namespace: target.namespace })) return undefined
  const rules = context.state.authorizer.rulesOfRole(role, target.namespace)
  if (rules === undefined) return StatusError.notFound({ group, plural: resource }, role.name)
  return checkHeld(write, rules)
}

const notHeld = ({ target, context }: Write, wanted: ReadonlyArray<Rule>): ReadonlyArray<Rule> =>
  missing(context.state.authorizer.rulesFor(context.request.user, target.namespace).rules, wanted)

const checkHeld = (write: Write, wanted: ReadonlyArray<Rule>): StatusError.StatusError | undefined => {
  const lacking = notHeld(write, wanted)
  if (lacking.length === 0) return undefined
  const { object, target, context } = write
  const { groups, name } = context.request.user
  const { absent } = context.state.authorizer.rulesFor(context.request.user, target.namespace)
  const unresolved = absent.length === 0 ? "" : `; resolution errors: [${absentInWords(absent, "s")}]`
  const who = `user ${JSON.stringify(name)} (groups=${quoted(groups)})`
  return StatusError.forbidden(
    target.resource,
    // The client does not know a generated name yet.
    context.request.method === "POST" && isGenerated(object) ? "" : textAt(object, "metadata", "name"),
    `${who} is attempting to grant RBAC permissions not currently held:\n${describeRules(lacking)}${unresolved}`
  )
}

const isGenerated = (object: JsonObject): boolean => {
  const prefix = textAt(object, "metadata", "generateName")
  return prefix !== "" && textAt(object, "metadata", "name").startsWith(prefix)
}

const quoted = (values: ReadonlyArray<string>): string => `[${values.map((one) => JSON.stringify(one)).join(" ")}]`

/** One line per resource or URL; the verbs of a resource are merged, those of a URL are not. */
const describeRules = (atoms: ReadonlyArray<Rule>): string => {
  const verbs = new Map<string, Set<string>>()
  for (const atom of atoms) {
    const lists = [
      ["APIGroups", atom.apiGroups],
      ["Resources", atom.resources],
      ["NonResourceURLs", atom.nonResourceURLs],
      ["ResourceNames", atom.resourceNames]
    ] as const
    const head = lists
      .flatMap(([title, values]) => (values.length === 0 ? [] : [`${title}:${quoted(values)}`]))
      .join(", ")
    const verb = atom.verbs.join(" ")
    const key = atom.nonResourceURLs.length === 0 ? head : `${head}\0${verb}`
    const found = verbs.get(key)
    if (found === undefined) verbs.set(key, new Set([verb]))
    else found.add(verb)
  }
  return [...verbs]
    .map(([key, list]) => `{${key.split("\0")[0]}, Verbs:${quoted([...list])}}`)
    .sort()
    .join("\n")
}

export const creationByUpdate: Plugin = {
  name: "CreationByUpdate",
  check: (write) => {
    const { before, target, context } = write
    const { request, state } = context
    if (before !== undefined || request.method === "POST") return undefined
    const wanted = { ...attributes.of(request), verb: "create" }
    const { allowed, reason } = state.authorizer.decide(request.user, wanted)
    return allowed ? undefined : StatusError.forbidden(target.resource, wanted.name, reason)
  }
}
