import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Informer from "../../../src/layers/cache/Informer.ts"
import { runs } from "../../support/runs.ts"

const text = Schema.Union([
  Schema.String,
  Schema.Literals(["default-scheduler", "ClusterFirst", "a-name-that-repeats"])
])
const record = Schema.Record(Schema.String, Schema.Union([text, Schema.Null, Schema.Number, Schema.Array(text)]))
const owner = Schema.Struct({ apiVersion: text, kind: text, name: text, uid: text })
const objects = Arbitrary.schema(
  Schema.Array(
    Schema.Struct({
      metadata: Schema.Struct({
        name: text,
        generateName: text,
        creationTimestamp: text,
        labels: Schema.Record(Schema.String, text),
        ownerReferences: Schema.Array(owner)
      }),
      spec: Schema.Union([record, text, Schema.Null, Schema.Array(record)]),
      status: record
    })
  )
)

describe("intern", () => {
  it.prop(
    "changes no value and no order",
    { objects },
    ({ objects }) => {
      const intern = Informer.interning()
      for (const object of objects) {
        const before = JSON.stringify(object)
        const copy: KubeObject = JSON.parse(before)
        assert.strictEqual(intern(copy), copy)
        assert.strictEqual(JSON.stringify(copy), before)
      }
    },
    { arbitrary: { runs: runs(300) } }
  )

  it("leaves objects with unexpected types unchanged", () => {
    const odd: unknown = JSON.parse(
      '{"metadata":{"name":"a","namespace":7,"labels":null,"ownerReferences":{"name":"x"},"generateName":null},"spec":"a text that is long","status":[["x"]]}'
    )
    const before = JSON.stringify(odd)
    assert.strictEqual(JSON.stringify(Informer.interning()(odd as KubeObject)), before)
    const nulls: unknown = JSON.parse('{"metadata":{"name":"a","ownerReferences":[null,"x"]},"spec":null}')
    assert.strictEqual(JSON.stringify(Informer.interning()(nulls as KubeObject)), JSON.stringify(nulls))
  })
})
