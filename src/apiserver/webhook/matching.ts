/**
 * Whether a webhook matches a request, and in which version. Pure. Source: apiserver/pkg/admission/plugin/webhook/{generic,predicates}.
 * A review is for the resource of the request or, with matchPolicy Equivalent, for the first other version of it that a rule names.
 */
import * as Selector from "../../kube/Selector.ts"
import type { Target } from "../routing.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import type { Hook, Rule } from "./configuration.ts"

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT"

type Labels = Readonly<Record<string, string>> | undefined

export interface Subject {
  readonly target: Target
  /** All served resources. */
  readonly resources: ReadonlyArray<ResourceDefinition>
  readonly operation: Operation
  /** Labels of the namespace of the request; undefined where there is none. */
  readonly namespaceLabels: () => Labels
  /** Labels of the new and of the old object, as far as they exist. */
  readonly objectLabels: ReadonlyArray<Labels>
}

/** The kind to send; undefined when the webhook does not match. */
export const match = (hook: Hook, subject: Subject): ResourceDefinition | undefined => {
  const resource = resourceFor(hook, subject)
  return resource !== undefined && selects(hook, subject) ? resource : undefined
}

/** Whether the selectors select the namespace of the request, and its new or its old object. */
export const selects = ({ namespaces, objects }: Pick<Hook, "namespaces" | "objects">, subject: Subject): boolean =>
  namespaceMatches(namespaces, subject) &&
  (objects === undefined || subject.objectLabels.some((labels) => Selector.matchesLabels(objects, labels)))

const resourceFor = (
  { equivalent, rules }: Hook,
  { resources, operation, target }: Subject
): ResourceDefinition | undefined => {
  const { resource, subresource } = target
  const matches = (as: ResourceDefinition): boolean =>
    rules.some((rule) => holds(rule, { resource: as, subresource, operation }))
  if (matches(resource)) return resource
  return equivalent
    ? resources.find((one) => one !== resource && one.storage === resource.storage && matches(one))
    : undefined
}

interface Asked {
  readonly resource: Pick<ResourceDefinition, "group" | "version" | "plural" | "namespaced">
  readonly subresource: string
  readonly operation: Operation
}

const includes = (list: ReadonlyArray<string>, wanted: string): boolean => list.includes("*") || list.includes(wanted)

export const holds = (rule: Rule, { resource, operation, subresource }: Asked): boolean =>
  includes(rule.operations, operation) &&
  includes(rule.groups, resource.group) &&
  includes(rule.versions, resource.version) &&
  (rule.scope === "*" || rule.scope === (resource.namespaced ? "Namespaced" : "Cluster")) &&
  rule.resources.some((pattern) => names(pattern, resource.plural, subresource))

/** `pods` matches no subresource; `pods/*` matches the object too. */
const names = (resource: string, plural: string, subresource: string): boolean => {
  const slash = resource.indexOf("/")
  const own = slash === -1 ? resource : resource.slice(0, slash)
  const part = slash === -1 ? "" : resource.slice(slash + 1)
  return (own === "*" || own === plural) && (part === "*" || part === subresource)
}

/** A namespaceSelector does not apply to cluster-scoped objects other than namespaces. */
const namespaceMatches = (namespaces: Hook["namespaces"], { namespaceLabels, target }: Subject): boolean => {
  if (namespaces === undefined) return true
  if (!target.resource.namespaced && !isNamespace(target.resource)) return true
  return Selector.matchesLabels(namespaces, namespaceLabels())
}

export const isNamespace = (resource: Pick<ResourceDefinition, "group" | "plural">): boolean =>
  resource.group === "" && resource.plural === "namespaces"
