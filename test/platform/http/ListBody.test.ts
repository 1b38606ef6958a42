import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as ListBody from "../../../src/platform/http/ListBody.ts"
import { int } from "../../support/property.ts"
import { runs } from "../../support/runs.ts"

/** The body in chunks of this length, parsed in pieces of about `size` bytes. */
const parse = (text: string, chunk: number, size: number): unknown => {
  const bytes = Buffer.from(text)
  const body = ListBody.make(size)
  for (let at = 0; at < bytes.length; at += chunk) body.push(bytes.subarray(at, at + chunk))
  assert.strictEqual(body.size(), bytes.length)
  return body.end()
}

/** The field may be left out or not: the cache leaves it out of what it stores. */
const withoutManagedFields = (list: unknown): unknown => {
  const items = (list as { readonly items?: unknown } | null)?.items
  if (Array.isArray(items))
    for (const item of items) if (Array.isArray(item?.metadata?.managedFields)) delete item.metadata.managedFields
  return list
}

const agrees = (list: unknown, chunk: number, size: number, indent?: number) => {
  const text = JSON.stringify(list, undefined, indent)
  assert.deepStrictEqual(withoutManagedFields(parse(text, chunk, size)), withoutManagedFields(JSON.parse(text)))
}

/** Texts that could mislead a search in the JSON, or are more than one byte. */
const parts = '" \\ [ ] { } , : a ä 😀 \u2028 \ud800 \n "managedFields":[ ,{"metadata":{ "items":[ ]} }, 1e999'.split(
  " "
)
const tricky = Arbitrary.map(Arbitrary.array(Arbitrary.schema(Schema.Literals(parts))), (found) => found.join(""))

const sizes = { chunk: int(1, 60), size: int(1, 400) }

/** Objects whose nested parts look like objects of the list. */
const objects = (a: string, b: string, c: string) => {
  const nested = { metadata: { name: c, managedFields: [{ [a]: { [b]: [c] } }, { metadata: { [a]: b } }] } }
  return [
    { metadata: { name: a, labels: { [b]: c }, managedFields: [{ manager: b, fieldsV1: { [a]: {}, [c]: {} } }] } },
    { metadata: { name: b }, spec: { templates: [nested, nested, { metadata: {} }], [c]: [a, { metadata: {} }] } },
    { metadata: { managedFields: [{ [a]: { [b]: [c] } }, { metadata: { [c]: a } }], name: c } },
    { metadata: { name: c }, managedFields: [a, b], spec: { managedFields: [{}, b] } },
    { metadata: { name: c, managedFields: [] } },
    { metadata: { name: a, managedFields: [b] }, spec: { template: nested } }
  ]
}

describe("the body of a list that is parsed in pieces", () => {
  it.prop(
    "has the same objects as JSON.parse",
    { a: tricky, b: tricky, c: tricky, ...sizes, order: Arbitrary.array(int(0, 5)) },
    ({ a, b, c, chunk, order, size }) => {
      const all = objects(a, b, c)
      const items = order.map((i) => all[i])
      agrees({ kind: "PodList", apiVersion: "v1", metadata: { continue: a }, items }, chunk, size)
      agrees({ apiVersion: "v1", items, kind: "List", metadata: { resourceVersion: b } }, chunk, size)
      agrees({ [a]: items, items, kind: "List" }, chunk, size)
      const custom = items.map((item) => Object.assign({ apiVersion: "a/v1", kind: "B" }, item))
      agrees({ apiVersion: "v1", items: custom, kind: "List", metadata: {} }, chunk, size)
    },
    { arbitrary: { runs: runs(500) } }
  )

  it.prop(
    "has the same result as JSON.parse for documents that are not lists of objects",
    { a: tricky, ...sizes },
    ({ a, chunk, size }) => {
      for (const value of [
        null,
        17,
        a,
        [],
        { items: a },
        { items: null },
        { items: [a, a] },
        { items: [{ a }, { a }] }
      ])
        agrees(value, chunk, size)
      agrees({ metadata: {}, items: objects(a, a, a) }, chunk, size, 2)
    },
    { arbitrary: { runs: runs(100) } }
  )

  it.prop(
    "throws where JSON.parse throws: for a body that was cut",
    { a: tricky, b: tricky, ...sizes, keep: int(0, 2000) },
    ({ a, b, chunk, keep, size }) => {
      const text = JSON.stringify({ kind: "PodList", metadata: {}, items: [...objects(a, b, a), ...objects(b, a, b)] })
      if (keep < text.length) assert.throws(() => parse(text.slice(0, keep), chunk, size), SyntaxError)
      assert.throws(() => parse(`${text}]`, chunk, size), SyntaxError)
    },
    { arbitrary: { runs: runs(200) } }
  )

  it("keeps managedFields elsewhere, and a key that only ends with the name of the items", () => {
    const items = [{ metadata: { name: "a" }, spec: { managedFields: ["only here"] } }, { metadata: { name: "b" } }]
    const list = { kind: "List", items: [...items, ...items, ...items] }
    assert.deepStrictEqual(parse(JSON.stringify(list), 10, 50), list)
    const text = `{"items" :[],"of \\"items":${JSON.stringify(list.items)}}`
    assert.deepStrictEqual(parse(text, 10, 50), { items: [], 'of "items': list.items })
  })

  it("leaves the managedFields of objects unparsed", () => {
    const items = Array.from({ length: 100 }, (_, i) => ({ metadata: { name: `a-${i}`, managedFields: [{ a: {} }] } }))
    const text = JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items })
    const list = parse(text, 100, 500) as { readonly items: ReadonlyArray<object> }
    const kept = list.items.filter((item) => JSON.stringify(item).includes("managedFields")).length
    // Those of the last piece are parsed with the end of the list.
    assert.isAtMost(kept, 20)
  })
})
