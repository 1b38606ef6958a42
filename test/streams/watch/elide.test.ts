import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { parseTrimmed as parse } from "../../../src/streams/watch/decode.ts"
import { runs } from "../../support/runs.ts"

/** The expected result: everything parsed, then the field removed. */
const reference = (text: string): unknown => {
  const event = JSON.parse(text)
  if (Array.isArray(event?.object?.metadata?.managedFields)) delete event.object.metadata.managedFields
  return event
}

const agrees = (event: unknown, indent?: number) => {
  const text = JSON.stringify(event, undefined, indent)
  assert.deepStrictEqual(parse(text), reference(text))
}

/** Texts of characters that could mislead a search in the JSON. */
const tricky = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.schema(Schema.Literals(['"', "\\", "[", "]", "{", "}", ",", ":", "a", '"managedFields":[']))
  ),
  (parts) => parts.join("")
)

describe("parsing without managedFields", () => {
  it.prop(
    "has the same result as parsing everything and removing them",
    { a: tricky, b: tricky, c: tricky, last: Schema.Boolean, nested: Schema.Boolean },
    ({ a, b, c, last, nested }) => {
      const managedFields = [{ manager: a, fieldsV1: { [b]: {}, ...(nested ? { list: [[c], [1, [2]]] } : {}) } }, b]
      const metadata = last ? { name: a, managedFields } : { managedFields, name: a, labels: { [c]: b } }
      agrees({ type: "ADDED", object: { metadata, spec: { [c]: [a, b] } } })
      agrees({ type: "ADDED", object: { [b]: [{ managedFields: [c] }], metadata, managedFields: [a] } })
      agrees({ type: "ADDED", object: { metadata: { name: c }, spec: { managedFields, list: [{ managedFields }] } } })
    },
    { arbitrary: { runs: runs(500) } }
  )

  it("does not change other places, other values and other documents", () => {
    for (const value of [null, 17, "managedFields", [], { object: null }, { object: { metadata: null } }]) agrees(value)
    for (const managedFields of [0, null, "x", {}, []]) agrees({ object: { metadata: { managedFields } } })
    agrees({ object: { metadata: { name: "a", managedFields: [{}] } } }, 2)
    agrees({ object: { metadata: { managedFields: 0 }, spec: { x: 1 } } })
    assert.throws(() => parse('{"object":{"metadata":{"managedFields":[{}]}}'), SyntaxError)
    assert.throws(() => parse('{"managedFields":['), SyntaxError)
  })
})
