/**
 * Whether a webhook matches a request, and in which version. Pure. Source: apiserver/pkg/admission/plugin/webhook/{generic,predicates}.
 * A review is for the resource of the request or, with matchPolicy Equivalent, for the first other version of it that a rule names.
 */
import * as Selector from "../../kube/Selector.ts"
import type { Target } from "../routing.ts"
import type { Kind } from "../scheme/Kind.ts"
import type { Hook, Rule } from "./configuration.ts"

export type Operation = "CREATE" | "UPDATE" | "DELETE"

type Labels = Readonly<Record<string, string>> | undefined

export interface Subject {
  readonly target: Target
  /** All served resources. */
  readonly kinds: ReadonlyArray<Kind>
  readonly operation: Operation
  /** Labels of the namespace of the request; undefined where there is none. */
  readonly namespaceLabels: () => Labels
  /** Labels of the new and of the old object, as far as they exist. */
  readonly objectLabels: ReadonlyArray<Labels>
}

/** The kind to send; undefined when the webhook does not match. */
export const match = (hook: Hook, subject: Subject): Kind | undefined => {
  const kind = kindFor(hook, subject)
  if (kind === undefined || !namespaceMatches(hook, subject)) return undefined
  const { objects } = hook
  if (objects === undefined || subject.objectLabels.some((labels) => Selector.matchesLabels(objects, labels)))
    return kind
  return undefined
}

const kindFor = ({ equivalent, rules }: Hook, { kinds, operation, target }: Subject): Kind | undefined => {
  const { kind, subresource } = target
  const matches = (as: Kind): boolean => rules.some((rule) => holds(rule, { kind: as, subresource, operation }))
  if (matches(kind)) return kind
  return equivalent ? kinds.find((one) => one !== kind && one.storage === kind.storage && matches(one)) : undefined
}

interface Asked {
  readonly kind: Pick<Kind, "group" | "version" | "plural" | "namespaced">
  readonly subresource: string
  readonly operation: Operation
}

const includes = (list: ReadonlyArray<string>, wanted: string): boolean => list.includes("*") || list.includes(wanted)

export const holds = (rule: Rule, { kind, operation, subresource }: Asked): boolean =>
  includes(rule.operations, operation) &&
  includes(rule.groups, kind.group) &&
  includes(rule.versions, kind.version) &&
  (rule.scope === "*" || rule.scope === (kind.namespaced ? "Namespaced" : "Cluster")) &&
  rule.resources.some((resource) => names(resource, kind.plural, subresource))

/** `pods` matches no subresource; `pods/*` matches the object too. */
const names = (resource: string, plural: string, subresource: string): boolean => {
  const slash = resource.indexOf("/")
  const own = slash === -1 ? resource : resource.slice(0, slash)
  const part = slash === -1 ? "" : resource.slice(slash + 1)
  return (own === "*" || own === plural) && (part === "*" || part === subresource)
}

/** A namespaceSelector does not apply to cluster-scoped objects other than namespaces. */
const namespaceMatches = ({ namespaces }: Hook, { namespaceLabels, target }: Subject): boolean => {
  if (namespaces === undefined) return true
  if (!target.kind.namespaced && !isNamespace(target.kind)) return true
  return Selector.matchesLabels(namespaces, namespaceLabels())
}

export const isNamespace = (kind: Pick<Kind, "group" | "plural">): boolean =>
  kind.group === "" && kind.plural === "namespaces"
