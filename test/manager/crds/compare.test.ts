/** The differences of two definitions, and the objects that the newer one would reject or prune. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { broken, differences } from "../../../src/manager/crds/compare.ts"

const widget = { group: "example.com", version: "v1", kind: "Widget", plural: "widgets" } as const

const definition = (maximum: number, more: Schema.Struct.Fields = {}, options: object = {}) =>
  Result.getOrThrow(
    Crd.make(
      Resource.make({
        ...widget,
        ...options,
        spec: Schema.Struct({
          size: Schema.Int.check(Schema.isLessThanOrEqualTo(maximum)),
          ...more
        })
      })
    )
  )

const properties = "spec.versions.v1.schema.openAPIV3Schema.properties.spec.properties"

const object = (name: string, spec: object, namespace: object = { namespace: "app" }) => ({
  metadata: { name, ...namespace },
  spec
})

describe("two definitions", () => {
  it("do not differ in the defaults that the API server adds", () => {
    const wanted = definition(3)
    const live = {
      ...wanted,
      metadata: { ...wanted.metadata, uid: "u", labels: { team: "a" } },
      spec: { ...wanted.spec, conversion: { strategy: "None" }, preserveUnknownFields: false },
      status: { conditions: [] }
    }
    assert.isEmpty(differences(live, wanted))
  })

  it("differ by path in what would be changed, added and removed", () => {
    const live = definition(3, { old: Schema.optionalKey(Schema.String) }, { shortNames: ["w"] })
    const wanted = definition(2, { fresh: Schema.optionalKey(Schema.Boolean) }, { shortNames: ["wi"] })
    assert.deepStrictEqual<unknown>(differences(live, wanted), [
      { path: "spec.names.shortNames", from: ["w"], to: ["wi"] },
      { path: `${properties}.fresh`, from: undefined, to: { type: "boolean" } },
      { path: `${properties}.old`, from: { type: "string" }, to: undefined },
      { path: `${properties}.size.maximum`, from: 3, to: 2 }
    ])
  })

  it("are compared by the names of their versions, in any order", () => {
    const versions = (names: ReadonlyArray<string>) =>
      definition(3, {}, { versions: names.map((version) => ({ version, spec: Schema.Struct({ a: Schema.Int }) })) })
    assert.isEmpty(differences(versions(["v2", "v3"]), versions(["v3", "v2"])))
    assert.deepStrictEqual(
      differences(versions(["v2"]), versions([])).map(({ path }) => path),
      ["spec.versions.v2"]
    )
  })
})

describe("objects under a newer definition", () => {
  it("are reported with their paths if and only if they would be rejected or pruned", () => {
    assert.deepStrictEqual<unknown>(
      broken(definition(2), [
        object("good", { size: 1 }),
        object("big", { size: 3 }),
        object("cut", { size: 2, colour: "red" }),
        object("empty", {}),
        object("cluster", { size: 3 }, {})
      ]),
      [
        {
          object: "app/big",
          refused: ["spec.size: Invalid value: 3: spec.size in body should be less than or equal to 2"],
          dropped: []
        },
        { object: "app/cut", refused: [], dropped: ["spec.colour"] },
        { object: "app/empty", refused: ["spec.size: Required value"], dropped: [] },
        {
          object: "cluster",
          refused: ["spec.size: Invalid value: 3: spec.size in body should be less than or equal to 2"],
          dropped: []
        }
      ]
    )
  })
})
