import { describe } from "@effect/vitest"
/** Sets and maps have no element twice, wherever they are. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Lists from "../../../src/kube/structural/lists.ts"
import type { StructuralSchema } from "../../../src/kube/structural/StructuralSchema.ts"
import { checkProperty, int } from "../../support/property.ts"

const set: StructuralSchema = { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" }

const map: StructuralSchema = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["port", "protocol"],
  items: {
    type: "object",
    properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" }, note: { type: "string" } }
  }
}

const atomic: StructuralSchema = { type: "array", items: { type: "integer" } }

/** The same list by itself, in a list, in an object and in a map, each with its path. */
const around = (schema: StructuralSchema, list: ReadonlyArray<unknown>) => [
  { schema: { properties: { spec: schema } }, value: { spec: list }, path: "spec" },
  { schema: { properties: { a: { items: schema } } }, value: { a: [[], list] }, path: "a[1]" },
  { schema: { additionalProperties: { properties: { b: schema } } }, value: { x: { b: list } }, path: "x.b" }
]

/** The indexes of elements that are the second with their key. */
const seconds = (keys: ReadonlyArray<string>): ReadonlyArray<number> =>
  keys.flatMap((key, index) => (keys.slice(0, index).filter((one) => one === key).length === 1 ? [index] : []))

const numbers = Arbitrary.array(int(0, 6), { maxLength: 8 })

const ports = Arbitrary.array(
  Arbitrary.schema(
    Schema.Struct({
      port: Schema.Literals([1, 2]),
      protocol: Schema.Literals(["TCP", "UDP", "none"]),
      order: Schema.Boolean
    })
  ),
  { maxLength: 6 }
)

/** Spellings of an element: keys in either order, the default left out or not. */
const element = ({
  order,
  port,
  protocol
}: {
  readonly order: boolean
  readonly port: number
  readonly protocol: string
}) => {
  const own = protocol === "none" ? {} : { protocol }
  return order ? { port, ...own, note: "a" } : { ...own, port }
}

const reportsOnce = (schema: StructuralSchema, list: ReadonlyArray<unknown>, keys: ReadonlyArray<string>) =>
  around(schema, list).every(({ path, schema, value }) => {
    const fields = Lists.repeated(schema, value, "").map(({ field }) => field)
    return JSON.stringify(fields) === JSON.stringify(seconds(keys).map((index) => `${path}[${index}]`))
  })

describe("Lists", () => {
  checkProperty("a set reports each duplicate value once", numbers, (list) => reportsOnce(set, list, list.map(String)))

  checkProperty("a map reports each duplicate key, defaults included", ports, (list) => {
    const keys = list.map(({ port, protocol }) => `${port} ${protocol === "none" ? "TCP" : protocol}`)
    return reportsOnce(map, list.map(element), keys)
  })

  checkProperty("objects in a set are compared by their members, in any order", ports, (list) => {
    const objects = list.map(({ order, port, protocol }) => (order ? { port, protocol } : { protocol, port }))
    return reportsOnce(
      set,
      objects,
      list.map(({ port, protocol }) => `${port} ${protocol}`)
    )
  })

  checkProperty("an atomic list may have equal elements", numbers, (list) => reportsOnce(atomic, list, []))
})
