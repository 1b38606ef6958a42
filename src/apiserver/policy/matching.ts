/**
 * Whether the `matchConstraints` of a policy, or the `matchResources` of a binding, match a request, and in which version. Pure. Source:
 * apiserver/pkg/admission/plugin/policy/matching.
 */
import { arrayAt, at, objectAt, textAt } from "../json.ts"
import type { Json } from "../json.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import { ruleOf, selectorOf } from "../webhook/configuration.ts"
import type { Hook, Rule } from "../webhook/configuration.ts"
import { holds, selects } from "../webhook/matching.ts"
import type { Subject } from "../webhook/matching.ts"

export interface NamedRule extends Rule {
  /** Empty for all names. */
  readonly names: ReadonlyArray<string>
}

export interface MatchResources extends Pick<Hook, "namespaces" | "objects" | "equivalent"> {
  /** Without any, all resources match. */
  readonly rules: ReadonlyArray<NamedRule>
  readonly excluded: ReadonlyArray<NamedRule>
}

export const read = (value: Json | undefined): MatchResources => ({
  equivalent: textAt(value, "matchPolicy") === "Equivalent",
  namespaces: selectorOf(objectAt(value, "namespaceSelector")),
  objects: selectorOf(objectAt(value, "objectSelector")),
  rules: arrayAt(value, "resourceRules").map(namedRuleOf),
  excluded: arrayAt(value, "excludeResourceRules").map(namedRuleOf)
})

const namedRuleOf = (rule: Json): NamedRule => ({
  ...ruleOf(rule),
  names: arrayAt(rule, "resourceNames").filter((one) => typeof one === "string")
})

/** The request, with the name of its object: empty where the server generates it later. */
export interface Named extends Subject {
  readonly name: string
}

/** The resource in the version in which the expressions receive it; undefined when the request does not match. */
export const match = (resources: MatchResources, request: Named): ResourceDefinition | undefined => {
  if (!selects(resources, request)) return undefined
  const { equivalent, excluded, rules } = resources
  if (resourceFor(excluded, equivalent, request) !== undefined) return undefined
  return rules.length === 0 ? request.target.resource : resourceFor(rules, equivalent, request)
}

const resourceFor = (
  rules: ReadonlyArray<NamedRule>,
  equivalent: boolean,
  { name, operation, resources, target }: Named
): ResourceDefinition | undefined => {
  const { resource, subresource } = target
  const matches = (rule: NamedRule, as: ResourceDefinition): boolean =>
    holds(rule, { resource: as, subresource, operation }) && (rule.names.length === 0 || rule.names.includes(name))
  if (rules.some((rule) => matches(rule, resource))) return resource
  if (!equivalent) return undefined
  const others = resources.filter((one) => one !== resource && one.storage === resource.storage)
  for (const rule of rules) {
    const found = others.find((one) => matches(rule, one))
    if (found !== undefined) return found
  }
  return undefined
}

/** The operations, groups, versions and resources of a policy's rules, for the check of its types. */
export const rulesOf = (value: Json | undefined): ReadonlyArray<Rule> => arrayAt(at(value, "resourceRules")).map(ruleOf)
