/** Paths of selectable fields, against the messages of apiextensions-apiserver. */
import { assert, describe, it } from "@effect/vitest"
import { check } from "../../../src/kube/structural/selectableFields.ts"
import type { StructuralSchema } from "../../../src/kube/structural/StructuralSchema.ts"

const text = { type: "string" } as const
const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`f${index}`, text]))

const schema: StructuralSchema = {
  type: "object",
  properties: {
    metadata: { type: "object", properties: { name: text } },
    spec: {
      type: "object",
      properties: {
        color: { type: "string", enum: ["red", "blue"] },
        on: { type: "boolean" },
        size: { type: "integer" },
        ratio: { type: "number" },
        list: { type: "array", items: text },
        labels: { type: "object", additionalProperties: text },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        ...many
      }
    }
  }
}

const messages = (...paths: ReadonlyArray<string>) =>
  check(paths, schema, "f").map(({ field, message }) => `${field}: ${message}`)

const wrongType =
  "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."

describe("selectableFields.check", () => {
  it("accepts texts, booleans and integers, also those of a map", () => {
    assert.deepStrictEqual(messages(".spec.color", ".spec.on", ".spec.size", ".spec.labels.app"), [])
  })

  it.each([
    [".spec.ratio", wrongType],
    [".spec.list", wrongType],
    [".spec", wrongType],
    [".metadata.name", "must not point to fields in metadata"],
    [".spec.none", "is an invalid path: does not refer to a valid field"],
    [".spec.toString", "is an invalid path: does not refer to a valid field"],
    [".spec.__proto__", "is an invalid path: does not refer to a valid field"],
    [".spec.free.any", "is an invalid path: does not refer to a valid field"],
    [".spec.color.", "is an invalid path: unexpected end of JSON path"],
    ["spec.color", "is an invalid path: expected [ or . but got: spec"],
    [".spec['color']", "is an invalid path: array notation is not allowed"],
    [".spec.list[0]", "is an invalid path: array notation is not allowed"]
  ])("refuses %s", (path, detail) => {
    assert.deepStrictEqual(messages(path), [`f[0].jsonPath: Invalid value: ${JSON.stringify(path)}: ${detail}`])
  })

  it("refuses an empty path and a path that occurs twice", () => {
    assert.deepStrictEqual(messages("", ".spec.color", ".spec.color"), [
      "f[0].jsonPath: Required value",
      'f[2].jsonPath: Duplicate value: ".spec.color"'
    ])
  })

  it("refuses more than eight different paths, unless they were there before", () => {
    const nine = Object.keys(many).map((name) => `.spec.${name}`)
    assert.deepStrictEqual(messages(...nine), ["f: Too many: 9: must have at most 8 items"])
    assert.deepStrictEqual(messages(...nine.slice(1)), [])
    assert.deepStrictEqual(check(nine, schema, "f", true), [])
  })
})
