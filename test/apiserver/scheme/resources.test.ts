/** The table of resources is what kube-apiserver 1.36 serves in stable versions, with the differences that docs/embedded-cluster.md names. */
import { assert, describe, it } from "@effect/vitest"
import { apiVersion } from "../../../src/apiserver/scheme/ResourceDefinition.ts"
import * as resources from "../../../src/apiserver/scheme/resources.ts"
import * as types from "../../../src/apiserver/scheme/types.ts"
import { facts } from "../../support/kubernetesKinds.ts"

/** Allowed to be missing. */
const unserved = new Set(["v1 Binding"])

/** Served with fewer verbs or subresources. */
const reduced = new Set(["v1 Pod", "apiregistration.k8s.io/v1 APIService"])

const served = new Map(resources.all.map((one) => [`${apiVersion(one)} ${one.kind}`, one]))

const listed = (list: ReadonlyArray<string>): string => list.toSorted().join(",")

const everyVerb = "create,delete,deletecollection,get,list,patch,update,watch"

describe("resources", () => {
  it("are all that Kubernetes 1.36 serves in stable versions", () => {
    const known = new Set(facts.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))
    assert.deepStrictEqual(
      [...known].filter((id) => !served.has(id) && !unserved.has(id)),
      []
    )
    assert.deepStrictEqual(
      [...served.keys()].filter((id) => !known.has(id)),
      []
    )
  })

  for (const { apiVersion, categories, kind, plural, scope, shortNames, subresources, verbs } of facts) {
    const id = `${apiVersion} ${kind}`
    const resource = served.get(id)
    if (resource === undefined || reduced.has(id)) continue
    it(`${id} has the names, scope, verbs and subresources of Kubernetes`, () => {
      assert.deepStrictEqual(
        {
          plural: resource.plural,
          scope: resource.namespaced ? "namespaced" : "cluster",
          shortNames: listed(resource.shortNames),
          categories: listed(resource.categories),
          verbs: listed(resource.verbs),
          subresources: listed(resource.subresources)
        },
        { plural, scope, shortNames, categories, verbs: verbs === "all" ? everyVerb : verbs, subresources }
      )
      assert.isDefined(types.ofKind(resource), "its type is in the table of types")
    })
  }
})
