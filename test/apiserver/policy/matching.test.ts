/** Matching of policies: our match equals a naive reading of the API documentation. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as matching from "../../../src/apiserver/policy/matching.ts"
import { all } from "../../../src/apiserver/scheme/resources.ts"
import type { ResourceDefinition } from "../../../src/apiserver/scheme/ResourceDefinition.ts"
import { checkProperty } from "../../support/property.ts"
import type { ValueOf } from "../../support/property.ts"

const resourceOf = (apiGroup: string, version: string, plural: string): ResourceDefinition => {
  const found = all.find((one) => one.group === apiGroup && one.version === version && one.plural === plural)
  if (found === undefined) throw new Error(plural)
  return found
}

const targets = {
  pod: { resource: resourceOf("", "v1", "pods"), namespace: "default", subresource: "" },
  podStatus: { resource: resourceOf("", "v1", "pods"), namespace: "default", subresource: "status" },
  namespace: { resource: resourceOf("", "v1", "namespaces"), namespace: "", subresource: "" },
  node: { resource: resourceOf("", "v1", "nodes"), namespace: "", subresource: "" },
  autoscaler: {
    resource: resourceOf("autoscaling", "v2", "horizontalpodautoscalers"),
    namespace: "default",
    subresource: ""
  }
} as const

/** Lists as texts, so that the draws are few and most rules match something: `core,apps`. */
const rule = Schema.Struct({
  apiGroups: Schema.Literals(["*", "core", "autoscaling", "core,autoscaling"]),
  apiVersions: Schema.Literals(["*", "v1", "v2"]),
  resources: Schema.Literals([
    "*",
    "*/*",
    "pods",
    "pods/status",
    "pods/*",
    "*/status",
    "nodes,namespaces",
    "horizontalpodautoscalers"
  ]),
  operations: Schema.Literals(["*", "CREATE", "CREATE,UPDATE"]),
  scope: Schema.Literals(["*", "*", "Namespaced", "Cluster"]),
  resourceNames: Schema.Literals(["", "", "a", "a,b"])
})

type Rule = typeof rule.Type

const listOf = (text: string): ReadonlyArray<string> =>
  text === "" ? [] : text.split(",").map((one) => (one === "core" ? "" : one))

const wireOf = ({ scope, ...lists }: Rule) => ({
  scope,
  ...Object.fromEntries(Object.entries(lists).map(([key, text]) => [key, listOf(text)]))
})

const selector = Schema.Struct({
  matchLabels: Schema.optionalKey(Schema.Struct({ app: Schema.Literals(["x", "y"]) })),
  matchExpressions: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ key: Schema.Literal("app"), operator: Schema.Literals(["Exists", "DoesNotExist"]) })
    ).check(Schema.isMaxLength(1))
  )
})

const labels = Schema.optionalKey(Schema.Struct({ app: Schema.Literals(["x", "y"]) }))

const draws = Arbitrary.schema(
  Schema.Struct({
    match: Schema.Struct({
      matchPolicy: Schema.Literals(["Exact", "Equivalent"]),
      namespaceSelector: selector,
      objectSelector: selector,
      resourceRules: Schema.Array(rule).check(Schema.isMaxLength(2)),
      excludeResourceRules: Schema.Array(rule).check(Schema.isMaxLength(1))
    }),
    target: Schema.Literals(["pod", "podStatus", "namespace", "node", "autoscaler"]),
    operation: Schema.Literals(["CREATE", "UPDATE", "DELETE"]),
    name: Schema.Literals(["a", "b", ""]),
    namespaceLabels: Schema.Struct({ labels }),
    objects: Schema.Array(Schema.Struct({ labels })).check(Schema.isMinLength(1), Schema.isMaxLength(2))
  })
)

type Drawn = ValueOf<typeof draws>

type Labels = { readonly app?: string } | undefined

const subjectOf = ({ name, namespaceLabels, objects, operation, target }: Drawn): matching.Named => ({
  name,
  operation,
  target: { ...targets[target], name },
  resources: all,
  namespaceLabels: () => namespaceLabels.labels,
  objectLabels: objects.map((one) => one.labels)
})

/** The model: whether a selector selects labels. */
const selects = (of: Drawn["match"]["objectSelector"], labels: Labels): boolean =>
  (of.matchLabels === undefined || labels?.app === of.matchLabels.app) &&
  (of.matchExpressions ?? []).every(({ operator }) => (labels?.app !== undefined) === (operator === "Exists"))

const isEmpty = (of: Drawn["match"]["objectSelector"]): boolean =>
  of.matchLabels === undefined && (of.matchExpressions ?? []).length === 0

/** The model: whether a rule names this version of the resource, in the words of the API documentation. */
const names = (one: Rule, drawn: Drawn, as: ResourceDefinition): boolean => {
  const { subresource } = targets[drawn.target]
  const written = subresource === "" ? as.plural : `${as.plural}/${subresource}`
  const allowed = [written, "*/*", `${as.plural}/*`, subresource === "" ? "*" : `*/${subresource}`]
  const has = (list: string, wanted: string) => list === "*" || listOf(list).includes(wanted)
  return (
    has(one.apiGroups, as.group) &&
    has(one.apiVersions, as.version) &&
    has(one.operations, drawn.operation) &&
    listOf(one.resources).some((resource) => allowed.includes(resource)) &&
    (one.scope === "*" || (one.scope === "Namespaced") === as.namespaced) &&
    (one.resourceNames === "" || listOf(one.resourceNames).includes(drawn.name))
  )
}

const anyNames = (rules: Drawn["match"]["resourceRules"], drawn: Drawn): boolean => {
  const { resource } = targets[drawn.target]
  const versions = all.filter((one) => one.storage === resource.storage)
  const asked = drawn.match.matchPolicy === "Exact" ? [resource] : versions
  return rules.some((one) => asked.some((as) => names(one, drawn, as)))
}

const model = (drawn: Drawn): boolean => {
  const { match, namespaceLabels, objects, target } = drawn
  const hasNamespace = targets[target].resource.namespaced || target === "namespace"
  if (hasNamespace && !isEmpty(match.namespaceSelector) && !selects(match.namespaceSelector, namespaceLabels.labels))
    return false
  if (!isEmpty(match.objectSelector) && !objects.some((one) => selects(match.objectSelector, one.labels))) return false
  if (anyNames(match.excludeResourceRules, drawn)) return false
  return match.resourceRules.length === 0 || anyNames(match.resourceRules, drawn)
}

const readOf = ({ match }: Drawn): matching.MatchResources =>
  matching.read({
    ...match,
    resourceRules: match.resourceRules.map(wireOf),
    excludeResourceRules: match.excludeResourceRules.map(wireOf)
  } as never)

checkProperty(
  "a policy matches exactly the requests that its rules and selectors select",
  draws,
  (drawn) => (matching.match(readOf(drawn), subjectOf(drawn)) !== undefined) === model(drawn),
  { runs: 1000 }
)

describe("matching.match", () => {
  it("excludes a request for another version of an excluded resource, unless the match policy is Exact", () => {
    const everything = { apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"] }
    const excluded = { ...everything, apiVersions: ["v1"], resources: ["horizontalpodautoscalers"] }
    const isMatched = (matchPolicy: string) =>
      matching.match(
        matching.read({ matchPolicy, resourceRules: [everything], excludeResourceRules: [excluded] }),
        subjectOf({ target: "autoscaler", name: "a", operation: "CREATE", objects: [{}], namespaceLabels: {} } as never)
      ) !== undefined
    assert.deepStrictEqual([isMatched("Equivalent"), isMatched("Exact")], [false, true])
  })

  it("returns the version of the first rule that matches, and that of the request before others", () => {
    const everything = { apiGroups: ["autoscaling"], resources: ["*"], operations: ["*"], scope: "*" }
    const versionFor = (...versions: ReadonlyArray<string>) =>
      matching.match(
        matching.read({
          matchPolicy: "Equivalent",
          resourceRules: versions.map((version) => Object.assign({ apiVersions: [version] }, everything))
        }),
        {
          ...subjectOf({
            target: "autoscaler",
            name: "a",
            operation: "CREATE",
            objects: [{}],
            namespaceLabels: {}
          } as never)
        }
      )?.version
    assert.deepStrictEqual([versionFor("v1"), versionFor("v1", "v2"), versionFor("v3")], ["v1", "v2", undefined])
  })
})
