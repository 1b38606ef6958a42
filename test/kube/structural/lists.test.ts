/** Sets and maps hold nothing twice, wherever they are. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Lists from "../../../src/kube/structural/lists.ts"
import type { StructuralSchema } from "../../../src/kube/structural/StructuralSchema.ts"
import { int, law, prove } from "../../support/laws.ts"

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

/** The same list by itself, in a list, in an object and in a map, with the path at which it is found. */
const around = (schema: StructuralSchema, list: ReadonlyArray<unknown>) => [
  { schema: { properties: { spec: schema } }, value: { spec: list }, path: "spec" },
  { schema: { properties: { a: { items: schema } } }, value: { a: [[], list] }, path: "a[1]" },
  { schema: { additionalProperties: { properties: { b: schema } } }, value: { x: { b: list } }, path: "x.b" }
]

/** Indexes of elements that are the second of their key. */
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

/** One way or another to write an element: keys in either order, the default left out. */
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

const told = (
  module: typeof Lists,
  schema: StructuralSchema,
  list: ReadonlyArray<unknown>,
  keys: ReadonlyArray<string>
) =>
  around(schema, list).every(({ path, schema, value }) => {
    const fields = module.repeated(schema, value, "").map(({ field }) => field)
    return JSON.stringify(fields) === JSON.stringify(seconds(keys).map((index) => `${path}[${index}]`))
  })

prove({
  path: "kube/structural/lists.ts",
  module: Lists,
  laws: [
    law("a set tells of each value that comes again, once", numbers, (module: typeof Lists, list) =>
      told(module, set, list, list.map(String))
    ),
    law("a map tells of each key that comes again, its defaults included", ports, (module: typeof Lists, list) => {
      const keys = list.map(({ port, protocol }) => `${port} ${protocol === "none" ? "TCP" : protocol}`)
      return told(module, map, list.map(element), keys)
    }),
    law("objects in a set are told apart by their members, in any order", ports, (module: typeof Lists, list) => {
      const objects = list.map(({ order, port, protocol }) => (order ? { port, protocol } : { protocol, port }))
      return told(
        module,
        set,
        objects,
        list.map(({ port, protocol }) => `${port} ${protocol}`)
      )
    }),
    law("any other list may hold what it likes", numbers, (module: typeof Lists, list) =>
      told(module, atomic, list, [])
    )
  ],
  mutants: [
    {
      title: "sets hold anything",
      find: `if (schema["x-kubernetes-list-type"] === "set")`,
      replace: "if (schema.type === undefined)"
    },
    {
      title: "an absent key member is a key of its own",
      find: "member(element, name) ?? defaultOf(schema, name)",
      replace: "member(element, name)"
    },
    { title: "the order of members tells elements apart", find: ".sort()\n", replace: "\n" },
    {
      title: "what comes a third time is told again",
      find: `before === undefined ? "once" : "told"`,
      replace: `before === undefined ? "once" : "once"`
    },
    {
      title: "lists in lists are not looked at",
      find: "if (items !== undefined) for",
      replace: "if (items === null) for"
    },
    {
      title: "lists in maps are not looked at",
      find: "propertyOf(schema, name) ?? additionalOf(schema)",
      replace: "propertyOf(schema, name)"
    },
    {
      title: "all lists are sets",
      find: `!== "map") return undefined`,
      replace: `!== "map") return (element) => element`
    }
  ]
})
