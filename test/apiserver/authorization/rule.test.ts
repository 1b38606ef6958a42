import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { allows, atoms, missing } from "../../../src/apiserver/authorization/rule.ts"
import type { Attributes, Rule } from "../../../src/apiserver/authorization/rule.ts"
import { runs } from "../../support/runs.ts"

const one = <const A extends ReadonlyArray<string>>(...values: A) => Arbitrary.schema(Schema.Literals(values))
const few = (minLength: number, ...values: ReadonlyArray<string>) =>
  Arbitrary.array(one(...values), { minLength, maxLength: 3 })
const flag = Arbitrary.schema(Schema.Boolean)

const rule: Arbitrary.Arbitrary<Rule> = Arbitrary.map(
  Arbitrary.all({
    isResource: flag,
    verbs: few(1, "*", "get", "list"),
    apiGroups: few(1, "*", "", "apps"),
    resources: few(1, "*", "pods", "pods/status", "*/status", "*/scale", "nodes"),
    resourceNames: few(0, "a", "b"),
    nonResourceURLs: few(1, "*", "/api", "/api/*", "/metrics")
  }),
  ({ isResource, nonResourceURLs, verbs, ...rest }) =>
    isResource
      ? { ...rest, verbs, nonResourceURLs: [] }
      : { verbs, nonResourceURLs, apiGroups: [], resources: [], resourceNames: [] }
)

const wish: Arbitrary.Arbitrary<Attributes> = Arbitrary.all({
  verb: one("get", "list", "watch"),
  path: one("/api", "/api/v1", "/metrics", "/x"),
  isResource: flag,
  group: one("", "apps", "batch"),
  resource: one("pods", "nodes", "secrets"),
  subresource: one("", "status", "scale"),
  namespace: one("", "default"),
  name: one("", "a", "b", "c")
})

const rules = Arbitrary.array(rule, { maxLength: 4 })
const granted = (held: ReadonlyArray<Rule>, wanted: Attributes): boolean => held.some((own) => allows(own, wanted))

describe("rules", () => {
  it.prop(
    "a rule allows exactly what its atoms allow",
    { rule, wish },
    ({ rule, wish }) => {
      assert.strictEqual(allows(rule, wish), granted(atoms(rule), wish))
    },
    { arbitrary: { runs: runs(500) } }
  )

  it.prop(
    "rules without missing atoms allow everything that the wanted rules allow",
    { held: rules, wanted: rules, wish },
    ({ held, wanted, wish }) => {
      const lacking = missing(held, wanted)
      // The missing rules complete the held ones, and fewer would not.
      if (granted(wanted, wish)) assert.isTrue(granted([...held, ...lacking], wish))
      assert.deepStrictEqual(missing([...held, ...lacking], wanted), [])
    },
    { arbitrary: { runs: runs(500) } }
  )

  it.prop(
    "no atom of a rule is missing from the rule itself",
    { rules },
    ({ rules }) => {
      assert.deepStrictEqual(missing(rules, rules), [])
    },
    { arbitrary: { runs: runs(200) } }
  )

  it("a star in the middle of a path is a plain character, at its end it matches any suffix", () => {
    const rule = (url: string): Rule => ({
      verbs: ["get"],
      apiGroups: [],
      resources: [],
      resourceNames: [],
      nonResourceURLs: [url]
    })
    const at = (path: string): Attributes => ({
      verb: "get",
      path,
      isResource: false,
      group: "",
      resource: "",
      subresource: "",
      namespace: "",
      name: ""
    })
    const matches = (url: string, path: string) => allows(rule(url), at(path))
    assert.deepStrictEqual(
      [matches("/a/*", "/a/b/c"), matches("/a/*", "/a"), matches("/*/b", "/a/b"), matches("*", "/x")],
      [true, false, false, true]
    )
  })
})
