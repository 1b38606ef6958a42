/**
 * Evaluates rules of roles. Pure and total. Source: pkg/apis/rbac/v1: evaluation helpers, and plugin/pkg/auth/authorizer/rbac:
 * RuleAllows.
 */

/** The attributes of a request that authorization uses (authorizer.Attributes). */
export interface Attributes {
  /** `get`, `list`, `watch`, `create`, …; for non-resource paths the method in lower case. */
  readonly verb: string
  /** As on the request line, still escaped; empty in reviews of a resource. */
  readonly path: string
  readonly isResource: boolean
  /** Empty for the core group. */
  readonly group: string
  /** Plural. */
  readonly resource: string
  readonly subresource: string
  /** Empty for all namespaces and for cluster-scoped resources; a namespace is in itself. */
  readonly namespace: string
  /** Empty for a collection. */
  readonly name: string
}

export interface Rule {
  readonly verbs: ReadonlyArray<string>
  readonly apiGroups: ReadonlyArray<string>
  /** `pods`, `pods/status`, `*`, `*` with a subresource. */
  readonly resources: ReadonlyArray<string>
  /** Empty: every name, and requests without one. */
  readonly resourceNames: ReadonlyArray<string>
  /** `/metrics`, `/api/*`, `*`. */
  readonly nonResourceURLs: ReadonlyArray<string>
}

const all = "*"

export const allows = (rule: Rule, wanted: Attributes): boolean =>
  has(rule.verbs, wanted.verb) &&
  (wanted.isResource
    ? has(rule.apiGroups, wanted.group) &&
      rule.resources.some((resource) => matchesResource(resource, wanted)) &&
      (rule.resourceNames.length === 0 || rule.resourceNames.includes(wanted.name))
    : rule.nonResourceURLs.some((url) => matchesPath(url, wanted.path)))

const has = (values: ReadonlyArray<string>, wanted: string): boolean => values.includes(all) || values.includes(wanted)

const matchesResource = (allowed: string, { resource, subresource }: Attributes): boolean =>
  allowed === all ||
  (subresource === ""
    ? allowed === resource
    : allowed === `${resource}/${subresource}` || allowed === `${all}/${subresource}`)

/** A star at the end matches any suffix; elsewhere it is a plain character. */
const matchesPath = (allowed: string, path: string): boolean =>
  allowed === path || (allowed.endsWith(all) && path.startsWith(withoutStars(allowed)))

const withoutStars = (text: string): string => {
  let end = text.length
  while (text[end - 1] === all) end--
  return text.slice(0, end)
}

/** Splits a rule into rules of one verb, one resource and one name (or one URL). */
export const atoms = (rule: Rule): ReadonlyArray<Rule> => {
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name])
  const found: Array<Rule> = []
  for (const verb of rule.verbs) {
    const verbs = [verb]
    for (const group of rule.apiGroups) {
      for (const resource of rule.resources) {
        for (const resourceNames of names) {
          found.push({ verbs, apiGroups: [group], resources: [resource], resourceNames, nonResourceURLs: [] })
        }
      }
    }
    for (const url of rule.nonResourceURLs) {
      found.push({ verbs, apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [url] })
    }
  }
  return found
}

/** The atoms of `wanted` that no rule of `held` covers. An atom is covered by a single rule or not at all. */
export const missing = (held: ReadonlyArray<Rule>, wanted: ReadonlyArray<Rule>): ReadonlyArray<Rule> =>
  wanted.flatMap(atoms).filter((atom) => !held.some((rule) => covers(rule, atom)))

const covers = (rule: Rule, atom: Rule): boolean =>
  atom.verbs.every((verb) => has(rule.verbs, verb)) &&
  atom.apiGroups.every((group) => has(rule.apiGroups, group)) &&
  atom.resources.every((resource) => coversResource(rule.resources, resource)) &&
  atom.nonResourceURLs.every((url) => rule.nonResourceURLs.some((own) => matchesPath(own, url))) &&
  (rule.resourceNames.length === 0 ||
    (atom.resourceNames.length > 0 && atom.resourceNames.every((name) => rule.resourceNames.includes(name))))

const coversResource = (held: ReadonlyArray<string>, wanted: string): boolean => {
  if (has(held, wanted)) return true
  const slash = wanted.indexOf("/")
  return slash !== -1 && held.includes(`${all}${wanted.slice(slash)}`)
}
