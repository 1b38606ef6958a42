import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { atoms } from "../../../src/apiserver/authorization/rule.ts"
import type { Permission } from "../../../src/manager/permissions.ts"
import { rulesOf } from "../../../src/manager/manifests/rules.ts"
import { runs } from "../../support/runs.ts"

const one = <const A extends ReadonlyArray<string>>(...values: A) => Arbitrary.schema(Schema.Literals(values))

const permission: Arbitrary.Arbitrary<Permission> = Arbitrary.map(
  Arbitrary.all({
    verb: one("get", "list", "watch", "create", "patch", "delete"),
    group: one("", "apps", "*"),
    resource: one("pods", "leases", "*"),
    subresource: one("", "status"),
    namespace: one("", "kube-system"),
    name: one("", "a", "b")
  }),
  (fields) => ({ ...fields, needed: ["test"] })
)

/** One line for each thing that is granted. */
const wanted = (permissions: ReadonlyArray<Permission>): ReadonlySet<string> =>
  new Set(
    permissions.map(({ group, name, namespace, resource, subresource, verb }) =>
      [namespace, group, subresource === "" ? resource : `${resource}/${subresource}`, name, verb].join(" ")
    )
  )

const granted = (permissions: ReadonlyArray<Permission>): ReadonlyArray<string> =>
  [...rulesOf(permissions)].flatMap(([namespace, rules]) =>
    rules
      .flatMap((rule) => atoms({ resourceNames: [], nonResourceURLs: [], ...rule }))
      .map(({ apiGroups, resourceNames, resources, verbs }) =>
        [namespace, apiGroups[0], resources[0], resourceNames[0] ?? "", verbs[0]].join(" ")
      )
  )

describe("rules of permissions", () => {
  it.prop(
    "grant exactly what is needed, each thing once, whatever the order",
    { permissions: Arbitrary.array(permission, { maxLength: 12 }) },
    ({ permissions }) => {
      const found = granted(permissions)
      assert.deepStrictEqual(new Set(found), wanted(permissions))
      assert.strictEqual(found.length, new Set(found).size)
      assert.deepStrictEqual(rulesOf(permissions.toReversed()).get(""), rulesOf(permissions).get(""))
    },
    { arbitrary: { runs: runs(300) } }
  )

  it("merge the verbs of an endpoint, and the endpoints of a group with the same verbs", () => {
    const need = (verb: string, resource: string, name = ""): Permission => ({
      verb,
      group: "",
      resource,
      subresource: "",
      namespace: "",
      name,
      needed: []
    })
    assert.deepStrictEqual(
      rulesOf([
        need("watch", "pods"),
        need("get", "pods"),
        need("get", "nodes"),
        need("watch", "nodes"),
        need("patch", "nodes", "a"),
        need("delete", "events")
      ]).get(""),
      [
        { apiGroups: [""], resources: ["events"], verbs: ["delete"] },
        { apiGroups: [""], resources: ["nodes", "pods"], verbs: ["get", "watch"] },
        { apiGroups: [""], resources: ["nodes"], resourceNames: ["a"], verbs: ["patch"] }
      ]
    )
  })
})
