/** Whole definitions: that of a declaration, and declarations that the API server would refuse. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Memcached } from "./fixtures.ts"

const widget = { group: "example.com", version: "v2", kind: "Widget", plural: "widgets" } as const

describe("Crd.make", () => {
  it("the definition has everything that was declared", () => {
    const { metadata, spec } = Result.getOrThrow(Crd.make(Memcached))
    const [version] = spec.versions
    const { openAPIV3Schema, ...rest } = { ...version?.schema, ...version, schema: undefined }
    assert.strictEqual(metadata.name, "memcacheds.cache.example.com")
    assert.deepStrictEqual<unknown>(spec.names, {
      kind: "Memcached",
      listKind: "MemcachedList",
      plural: "memcacheds",
      singular: "memcached",
      shortNames: ["mc"],
      categories: ["all"]
    })
    assert.deepStrictEqual<unknown>(rest, {
      name: "v1alpha1",
      served: true,
      storage: true,
      schema: undefined,
      subresources: {
        status: {},
        scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas" }
      },
      additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }]
    })
    assert.deepStrictEqual<unknown>(openAPIV3Schema?.required, ["spec"])
    assert.deepStrictEqual<unknown>(openAPIV3Schema?.properties?.["spec"], {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 1, maximum: 3, description: "How many servers." },
        containerPort: { type: "integer", description: "Where they listen.", default: 11211 },
        budget: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
        tier: { type: "string", allOf: [{ enum: ["gold", "silver"] }], nullable: true }
      },
      required: ["size"]
    })
  })

  it("columns have no empty fields, which the API server would drop", () => {
    const size = { name: "Size", type: "integer", jsonPath: ".spec.size" } as const
    const columns = (printerColumns: ReadonlyArray<Resource.PrinterColumn>) =>
      Result.getOrThrow(Crd.make(Resource.make({ ...widget, printerColumns, spec: Schema.Struct({}) }))).spec
        .versions[0]
    assert.deepStrictEqual<unknown>(
      columns([
        { ...size, priority: 0, description: "", format: "" },
        { ...size, priority: 1, description: "How many.", format: "int32" }
      ])?.additionalPrinterColumns,
      [size, { ...size, priority: 1, description: "How many.", format: "int32" }]
    )
    assert.notProperty(columns([]), "additionalPrinterColumns")
  })

  it("the same declaration gives the same text", () => {
    const text = () => JSON.stringify(Result.getOrThrow(Crd.make(Memcached)))
    assert.strictEqual(text(), text())
  })

  it("the definition has the other versions, none of them stored", () => {
    const Widget = Resource.make({
      ...widget,
      spec: Schema.Struct({ size: Schema.Int }),
      versions: [
        { version: "v1", served: false, deprecationWarning: "use v2", spec: Schema.Struct({ count: Schema.Int }) }
      ]
    })
    assert.deepStrictEqual<unknown>(
      Result.getOrThrow(Crd.make(Widget)).spec.versions.map((version) => Struct.omit(version, ["schema"])),
      [
        { name: "v2", served: true, storage: true },
        { name: "v1", served: false, storage: false, deprecated: true, deprecationWarning: "use v2" }
      ]
    )
  })

  it("a declaration is refused with one line for each thing that cannot be expressed, in any version", () => {
    const Widget = Resource.make({
      ...widget,
      spec: Schema.Struct({ when: Schema.DateFromString }),
      versions: [{ version: "v1", spec: Schema.Struct({ key: Schema.Symbol as never }) }]
    })
    assert.strictEqual(
      Result.getOrThrow(Result.flip(Crd.make(Widget))).message,
      "widgets.example.com v2: spec.when: a transformation cannot be said in a definition\n" +
        "widgets.example.com v1: spec.key: Symbol cannot be said in a definition"
    )
  })

  it("a declaration is refused if its annotations make a schema that the API server does not accept", () => {
    const elements = Schema.Array(Schema.Struct({ name: Schema.optionalKey(Schema.String) })).annotate({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"]
    })
    const Widget = Resource.make({ ...widget, spec: Schema.Struct({ elements }) })
    assert.match(Result.getOrThrow(Result.flip(Crd.make(Widget))).message, /elements.*name/)
  })
})
