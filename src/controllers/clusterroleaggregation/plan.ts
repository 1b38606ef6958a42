/**
 * The rules of an aggregating ClusterRole: those of the selected roles, selector by selector, by role name, without
 * duplicates. A role never aggregates itself. Pure and idempotent.
 */
import * as Result from "effect/Result"
import * as Equality from "../../kube/equality.ts"
import type { ClusterRole } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"

export type Rules = ReadonlyArray<NonNullable<ClusterRole["rules"]>[number]>

export type Plan =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Write"; readonly rules: Rules }
  /** A selector is invalid: the role keeps its rules. */
  | { readonly _tag: "Unusable"; readonly message: string }

export const nothing: Plan = { _tag: "Done" }

/** `select`: the ClusterRoles that match, in any order. */
export const plan = (
  role: ClusterRole,
  select: (selector: Selector.LabelSelector) => ReadonlyArray<ClusterRole>
): Plan => {
  if (role.aggregationRule === undefined) return nothing
  const rules = new Map<string, Rules[number]>()
  for (const spec of role.aggregationRule.clusterRoleSelectors ?? []) {
    const selector = Selector.fromSpec(spec)
    if (Result.isFailure(selector)) return { _tag: "Unusable", message: unusable(role, selector.failure) }
    for (const other of select(selector.success).toSorted(byName)) {
      if (other.metadata.name === role.metadata.name) continue
      for (const rule of other.rules ?? []) {
        const text = Equality.canonical(rule)
        if (!rules.has(text)) rules.set(text, rule)
      }
    }
  }
  const wanted = [...rules.values()]
  return Equality.equal(wanted, role.rules ?? []) ? nothing : { _tag: "Write", rules: wanted }
}

const unusable = ({ metadata }: ClusterRole, why: string): string =>
  `ClusterRole ${metadata.name} keeps the rules that it has: a selector of its aggregationRule cannot be used: ${why}`

const byName = (a: ClusterRole, b: ClusterRole): number =>
  a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0
