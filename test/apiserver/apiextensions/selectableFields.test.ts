/** Field selectors on custom resources: lists, watches, collections, informers, discovery documents and the validation of definitions. */
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { checkProperty } from "../../support/property.ts"
import * as client from "../client.ts"
import { get, names, patch, post, put, refused, remove, same, watch } from "../client.ts"

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
const widgets = "/apis/example.com/v1/namespaces/default/widgets"

const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: { color: { type: "string" }, size: { type: "integer" }, on: { type: "boolean" } }
    }
  }
}

const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: schema },
  ...more
})

const fields = (...paths: ReadonlyArray<string>) => ({ selectableFields: paths.map((jsonPath) => ({ jsonPath })) })

const definition = (...versions: ReadonlyArray<object>) => ({
  metadata: { name: "widgets.example.com" },
  spec: { group: "example.com", scope: "Namespaced", names: { kind: "Widget", plural: "widgets" }, versions }
})

const all = fields(".spec.color", ".spec.size", ".spec.on")
const widget = (name: string, spec: object) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name },
  spec
})
const by = (fieldSelector: string, path = widgets) => Effect.map(get(path, { fieldSelector }), names)

it.layer(client.layer())("selectable fields of a custom resource", (it) => {
  it.effect("select texts, integers and booleans, and a missing value as the empty text", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition(version("v1", all), version("v2", fields(".spec.color"))))
      yield* post(widgets, widget("a", { color: "red", size: 0, on: false }))
      yield* post(widgets, widget("b", { color: "blue", size: 12, on: true }))
      yield* post(widgets, widget("c", {}))
      same(yield* by("spec.color=red"), ["a"])
      same(yield* by("spec.size=12"), ["b"])
      same(yield* by("spec.size=0"), ["a"])
      same(yield* by("spec.on=false"), ["a"])
      same(yield* by("spec.color="), ["c"])
      same(yield* by("spec.color!=red,metadata.name!=c"), ["b"])
      same(yield* by("spec.color=red", widgets.replace("/v1/", "/v2/")), ["a"])
    })
  )

  it.effect("are those of the version of the request; others are refused", () =>
    Effect.gen(function* () {
      const unknown = yield* refused(by("spec.size=1", widgets.replace("/v1/", "/v2/")))
      same([unknown.status, unknown.message], [400, "field label not supported: spec.size"])
      const proto = yield* refused(by("__proto__=x"))
      same(proto.message, "field label not supported: __proto__")
      const watching = yield* refused(get(widgets, { watch: true, fieldSelector: "spec.none=1" }))
      same(watching.message, "field label not supported: spec.none")
    })
  )

  it.effect("a watch delivers an object that starts and stops matching as ADDED and DELETED", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const red = yield* watch(widgets, {
          fieldSelector: "spec.color=red",
          sendInitialEvents: false,
          resourceVersionMatch: "NotOlderThan"
        })
        yield* patch(`${widgets}/b`, "merge", { spec: { color: "red" } })
        yield* patch(`${widgets}/b`, "merge", { spec: { size: 1 } })
        yield* patch(`${widgets}/b`, "merge", { spec: { color: "green" } })
        yield* red.settled
        same(red.seen(), ["ADDED b", "MODIFIED b", "DELETED b"])
      })
    )
  )

  it.effect("deletecollection deletes only the selected objects", () =>
    Effect.gen(function* () {
      yield* remove(widgets, undefined, { fieldSelector: "spec.color=green" })
      same(names(yield* get(widgets)), ["a", "c"])
    })
  )

  it.effect("a field that becomes selectable selects the objects that were stored before", () =>
    Effect.gen(function* () {
      const found = yield* get(`${definitions}/widgets.example.com`)
      found.spec.versions[1].selectableFields = all.selectableFields
      yield* put(`${definitions}/widgets.example.com`, found)
      same(yield* by("spec.size=0", widgets.replace("/v1/", "/v2/")), ["a"])
      found.spec.versions.forEach((one: any) => delete one.selectableFields)
      yield* patch(`${definitions}/widgets.example.com`, "merge", { spec: { versions: found.spec.versions } })
      same((yield* refused(by("spec.size=0"))).message, "field label not supported: spec.size")
    })
  )
})

it.layer(client.layer())("a definition with selectable fields", (it) => {
  const wrong = (...versions: ReadonlyArray<object>) =>
    Effect.map(refused(post(definitions, definition(...versions))), ({ error, status }) => {
      same(status, 422)
      return (error as any).details?.causes?.map((one: any) => `${one.field}: ${one.message}`)
    })

  it.effect("is refused with the field where a path is wrong", () =>
    Effect.gen(function* () {
      same(yield* wrong(version("v1", fields(".spec.none"))), [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field'
      ])
      same(yield* wrong(version("v1", fields(".spec.color")), version("v2", fields(".spec.size", ".spec.size"))), [
        'spec.versions[1].selectableFields[1].jsonPath: Duplicate value: ".spec.size"'
      ])
      const other = { schema: { openAPIV3Schema: { type: "object", properties: {} } } }
      same(yield* wrong(version("v1", all), version("v2", { ...all, ...other })), [
        'spec.selectableFields: Invalid value: "": may only be set when validations.schema is included'
      ])
    })
  )

  it.effect("is described in OpenAPI with x-kubernetes-selectable-fields, on the kind and its list", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition(version("v1", fields(".spec.color"))))
      const expected = [{ fieldPath: "spec.color" }]
      const v3 = (yield* get("/openapi/v3/apis/example.com/v1")).components.schemas
      same(v3["com.example.v1.Widget"]["x-kubernetes-selectable-fields"], expected)
      same(v3["com.example.v1.WidgetList"]["x-kubernetes-selectable-fields"], expected)
      same((yield* get("/openapi/v2")).definitions["com.example.v1.Widget"]["x-kubernetes-selectable-fields"], expected)
    })
  )
})

const names4 = ["a", "b", "c", "d"] as const

checkProperty(
  "a selection by a field of a custom resource is the filter of the list by that field",
  Arbitrary.schema(
    Schema.Struct({
      specs: Schema.Array(
        Schema.Struct({
          color: Schema.optionalKey(Schema.Literals(["red", "blue", "=,!\\", ""])),
          size: Schema.optionalKey(Schema.Literals([0, -1, 12]))
        })
      ).check(Schema.isMaxLength(4)),
      field: Schema.Literals(["color", "size"]),
      value: Schema.Literals(["red", "0", "-1", "", "=,!\\"]),
      equal: Schema.Boolean
    })
  ),
  ({ equal, field, specs, value }) =>
    Effect.gen(function* () {
      yield* post(definitions, definition(version("v1", all)))
      for (const [index, spec] of specs.entries()) yield* post(widgets, widget(names4[index] ?? "", spec))
      const escaped = value.replace(/[\\,=]/g, (one) => `\\${one}`)
      const found = yield* by(`spec.${field}${equal ? "=" : "!="}${escaped}`)
      const expected = specs.flatMap((spec, index) =>
        (String(spec[field] ?? "") === value) === equal ? [names4[index] ?? ""] : []
      )
      return assert.deepStrictEqual(found, expected) === undefined
    }).pipe(Effect.provide(client.layer())),
  { runs: 60 }
)

const Widget = Resource.make({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  selectableFields: [".spec.color"],
  spec: Schema.Struct({ color: Schema.String, tags: Schema.optionalKey(Schema.Array(Schema.String)) })
})

it("the definition of a declared kind has its selectable fields", () => {
  const { spec } = Result.getOrThrow(Crd.make(Widget))
  assert.deepStrictEqual(spec.versions[0]?.selectableFields, [{ jsonPath: ".spec.color" }])
})

it("a declared selectable field that the server would refuse is refused with its place", () => {
  const made = Crd.make(Resource.make({ ...Widget.declaration, selectableFields: [".spec.tags", ".spec.colour"] }))
  assert.deepStrictEqual(Result.isFailure(made) ? made.failure.refusals.map(({ path }) => path) : [], [
    "selectableFields[0].jsonPath",
    "selectableFields[1].jsonPath"
  ])
})

const cached = Cache.layer().pipe(
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(client.layer({ crds: [Result.getOrThrow(Crd.make(Widget))] }))
)

it.effect("an informer of the selected objects of a custom kind holds these only", () =>
  Effect.gen(function* () {
    const cache = yield* Cache
    yield* post(widgets, widget("a", { color: "red" }))
    yield* post(widgets, widget("b", { color: "blue" }))
    const red = Resource.selected(Widget, "spec.color=red")
    yield* cache.subscribe(red)
    const seen = Effect.map(cache.list(red), (list) => list.map(({ metadata }) => metadata.name))
    same(yield* seen, ["a"])
    yield* patch(`${widgets}/a`, "merge", { spec: { color: "blue" } })
    yield* patch(`${widgets}/b`, "merge", { spec: { color: "red" } })
    yield* client.settle
    same(yield* seen, ["b"])
  }).pipe(Effect.scoped, Effect.provide(cached))
)
