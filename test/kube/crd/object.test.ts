/** Kinds that are declared by the Schema of the whole object, versions that are stored beside the one a resource names, and names of lists. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../src/kube/Resource.ts"

const names = { group: "example.com", version: "v1", kind: "Report", plural: "reports" } as const

const Report = Resource.make({
  ...names,
  object: Schema.Struct({
    metadata: Schema.optionalKey(
      Schema.Struct({ name: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(5))) })
    ),
    results: Schema.optionalKey(Schema.Array(Schema.String))
  }).annotate({ "x-kubernetes-validations": [{ rule: "has(self.results)" }] })
})

const made = (resource: Resource.AnyCustom) => Result.getOrThrow(Crd.make(resource)).spec

describe("a kind declared as a whole object", () => {
  it("has its fields, its restrictions and its rules at the root of the schema", () => {
    const schema = made(Report).versions[0]?.schema.openAPIV3Schema
    assert.deepStrictEqual(schema?.properties?.["results"], { type: "array", items: { type: "string" } })
    assert.deepStrictEqual(schema?.properties?.["metadata"], {
      type: "object",
      properties: { name: { type: "string", maxLength: 5 } }
    })
    assert.deepStrictEqual(schema?.["x-kubernetes-validations"], [{ rule: "has(self.results)" }])
    assert.notProperty(schema, "required")
  })

  it("keeps all of the metadata when it is decoded and encoded", () => {
    const object = { metadata: { name: "a", labels: { b: "c" } }, results: ["x"], extra: 1 }
    const decoded = Result.getOrThrow(Report.decode(object))
    assert.deepStrictEqual(decoded.metadata, object.metadata)
    const results: ReadonlyArray<string> | undefined = decoded.results
    assert.deepStrictEqual(results, ["x"])
    assert.deepStrictEqual(Result.getOrThrow(Report.encode({ ...decoded, results: ["y"] }, object)), {
      ...object,
      results: ["y"]
    })
    assert.isTrue(Result.isFailure(Report.decode({ metadata: { name: "too-long" } })))
  })
})

describe("versions", () => {
  const other = { version: "v1alpha1", spec: Schema.Struct({}) } as const

  it("are stored in the one that is marked, which need not be served", () => {
    const kind = Resource.make({
      ...names,
      spec: Schema.Struct({}),
      versions: [{ ...other, served: false, storage: true }]
    })
    const versions = made(kind).versions.map(({ name, served, storage }) => ({ name, served, storage }))
    assert.deepStrictEqual(versions, [
      { name: "v1", served: true, storage: false },
      { name: "v1alpha1", served: false, storage: true }
    ])
  })

  it("are refused if two are marked", () => {
    const marked = [other, { ...other, version: "v2" }].map((one) => Object.assign({ storage: true as const }, one))
    const two = Crd.make(Resource.make({ ...names, spec: Schema.Struct({}), versions: marked }))
    assert.match(Result.isFailure(two) ? two.failure.message : "", /stored in one version only/)
  })

  it("are deprecated with or without a warning of their own", () => {
    const kind = Resource.make({
      ...names,
      spec: Schema.Struct({}),
      deprecated: true,
      listKind: "ReportItems",
      annotations: { "api-approved.kubernetes.io": "unapproved" },
      versions: [{ ...other, deprecationWarning: "use v1" }]
    })
    const [first, second] = made(kind).versions
    assert.deepStrictEqual([first?.deprecated, first?.deprecationWarning], [true, undefined])
    assert.deepStrictEqual([second?.deprecated, second?.deprecationWarning], [true, "use v1"])
    assert.strictEqual(made(kind).names.listKind, "ReportItems")
    assert.deepStrictEqual(Result.getOrThrow(Crd.make(kind)).metadata.annotations, {
      "api-approved.kubernetes.io": "unapproved"
    })
  })
})

// @ts-expect-error -- neither a spec nor an object
Resource.make({ ...names })
