/** Definitions of kinds that an update leaves as an older server accepted them. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "../../../../src/apiserver/json.ts"
import { definitionUpdate, newDefinition } from "../../../../src/apiserver/validation/kinds/definitions.ts"
import type { Errors } from "../../../../src/apiserver/validation/kinds/field.ts"

/** With a rule whose worst cost is above the limit of one expression, and below that of a definition. */
const definition = (rule: string, more: JsonObject = {}): JsonObject => ({
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  list: { type: "array", maxItems: 2000, items: { type: "string", maxLength: 20 } },
                  ...more
                },
                "x-kubernetes-validations": [{ rule }]
              }
            }
          }
        }
      }
    ]
  }
})

const expensive = definition("self.list.all(a, self.list.exists_one(b, a == b))")

const updated = (before: JsonObject, after: JsonObject): ReadonlyArray<string> => {
  const errors: Errors = []
  definitionUpdate(errors, after, before)
  return errors.map(({ message }) => message ?? "")
}

describe("a rule that costs more than the limit of one expression", () => {
  it("is refused in a new definition, and where an update changes the schema of its version", () => {
    const errors: Errors = []
    newDefinition(errors, expensive)
    const refused = errors.map(({ message }) => message ?? "")
    assert.lengthOf(refused, 1)
    assert.include(refused[0], "estimated rule cost exceeds budget by factor of")
    assert.deepStrictEqual(updated(definition("true"), expensive), refused)
    assert.deepStrictEqual(updated(definition("true", { size: { type: "integer" } }), expensive), refused)
  })

  it("is accepted in an update that leaves the schema of its version as it is", () => {
    assert.deepStrictEqual(
      updated(expensive, { ...expensive, metadata: { name: "widgets.example.com", labels: {} } }),
      []
    )
  })
})
