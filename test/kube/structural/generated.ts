/**
 * Schemas and valid values for them, made from a list of random numbers: a shorter list of smaller numbers makes a simpler schema, so that a
 * failure shrinks. The API server would accept every schema, and store every value.
 */
import * as Arbitrary from "effect/Arbitrary"
import { applyDefaults } from "../../../src/kube/structural/applyDefaults.ts"
import type { StructuralSchema } from "../../../src/kube/structural/StructuralSchema.ts"
import * as Schema from "effect/Schema"

export type Mutable = { -readonly [K in keyof StructuralSchema]: StructuralSchema[K] }

export class Tape {
  private at = 0
  private readonly numbers: ReadonlyArray<number>
  constructor(numbers: ReadonlyArray<number>) {
    this.numbers = numbers
  }
  /** A number below n; 0 after the end of the list. */
  draw(n: number): number {
    return (this.numbers[this.at++] ?? 0) % n
  }
  pick<A>(...values: ReadonlyArray<A>): A {
    return values[this.draw(values.length)]!
  }
}

const bounded = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** Pseudo-random numbers of one seed: generated arrays are mostly short, and so would be the schemas. */
export const tapes = Arbitrary.map(
  Arbitrary.schema(Schema.Struct({ seed: bounded(1_000_000), length: bounded(100) })),
  ({ length, seed }) => {
    let state = seed
    return Array.from({ length: length + 20 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 16
    })
  }
)

const names = ["a", "b", "constructor", "d", "__proto__", "f"]

const withOwn = (entries: ReadonlyArray<readonly [string, unknown]>): Record<string, unknown> => {
  const out: Record<string, unknown> = {}
  for (const [name, value] of entries) {
    Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return out
}

const objectOf = (tape: Tape, depth: number): Mutable => {
  const count = tape.draw(4)
  const properties = withOwn(names.slice(0, count).map((name) => [name, schemaOf(tape, depth - 1)] as const)) as Record<
    string,
    StructuralSchema
  >
  const required = Object.keys(properties).filter(() => tape.draw(3) === 1)
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) }
}

const listOf = (tape: Tape, depth: number): Mutable => {
  switch (tape.draw(3)) {
    case 1:
      return { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" }
    case 2: {
      const items: StructuralSchema = {
        type: "object",
        properties: { key: { type: "string" }, value: { type: "integer", default: 1 } },
        required: ["key"]
      }
      return { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"] }
    }
    default:
      return { type: "array", items: schemaOf(tape, depth - 1), maxItems: 4 }
  }
}

const textOf = (tape: Tape): Mutable =>
  tape.pick<Mutable>(
    { type: "string" },
    { type: "string", minLength: 1, maxLength: 5 },
    { type: "string", pattern: "^[a-z]*$" },
    { type: "string", enum: ["red", "green"] },
    { type: "string", format: "date-time" }
  )

const numberOf = (tape: Tape): Mutable =>
  tape.pick<Mutable>(
    { type: "integer", format: "int32" },
    { type: "integer", minimum: 1, maximum: 3 },
    { type: "number", minimum: 0, exclusiveMinimum: true },
    { type: "number", multipleOf: 0.5 }
  )

const bareOf = (tape: Tape, depth: number): Mutable => {
  const composite = depth > 0 ? tape.draw(9) : tape.draw(4)
  switch (composite) {
    case 1:
      return numberOf(tape)
    case 2:
      return { type: "boolean" }
    case 3:
      return tape.pick<Mutable>(
        { "x-kubernetes-int-or-string": true },
        { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }
      )
    case 4:
    case 5:
      return objectOf(tape, depth)
    case 6:
      return listOf(tape, depth)
    case 7:
      return { type: "object", additionalProperties: schemaOf(tape, depth - 1), maxProperties: 3 }
    case 8:
      return { ...objectOf(tape, depth), "x-kubernetes-preserve-unknown-fields": true }
    default:
      return textOf(tape)
  }
}

const schemaOf = (tape: Tape, depth: number): StructuralSchema => {
  const schema = bareOf(tape, depth)
  // A nullable enum would need null among its values.
  if (tape.draw(4) === 1 && schema.enum === undefined) schema.nullable = true
  if (tape.draw(4) !== 1) return schema
  const fallback = applyDefaults(schema, valueOf(schema, tape))
  // A default of null is none.
  return fallback === null ? schema : { ...schema, default: fallback }
}

/** A schema of an object. */
export const schema = (tape: Tape): StructuralSchema => ({ ...objectOf(tape, 3), type: "object" })

const texts = ["x", "abc", "abcde"]

const textFor = (schema: StructuralSchema, tape: Tape): string =>
  schema.enum !== undefined
    ? tape.pick("red", "green")
    : schema.format === "date-time"
      ? tape.pick("2020-02-29T00:00:00Z", "2021-12-31T23:59:59.5+01:00")
      : tape.pick(...texts)

const numberFor = (schema: StructuralSchema, tape: Tape): number =>
  schema.format === "int32" ? tape.draw(999) - 500 : 1 + (schema.maximum === undefined ? tape.draw(9) : tape.draw(3))

const listFor = (schema: StructuralSchema, tape: Tape): ReadonlyArray<unknown> => {
  const count = tape.draw(3)
  return Array.from({ length: count }, (_, index) => {
    if (schema["x-kubernetes-list-type"] === "set") return index
    if (schema["x-kubernetes-list-type"] === "map") return { key: `k${index}`, value: tape.draw(3) }
    return valueOf(schema.items ?? {}, tape)
  })
}

const objectFor = (schema: StructuralSchema, tape: Tape): unknown => {
  if (typeof schema.additionalProperties === "object") {
    const of = schema.additionalProperties
    return withOwn(names.slice(0, tape.draw(3)).map((name) => [name, valueOf(of, tape)] as const))
  }
  const properties = schema.properties ?? {}
  const present = Object.keys(properties).filter(
    (name) => schema.required?.includes(name) === true || tape.draw(2) === 1
  )
  return withOwn(present.map((name) => [name, valueOf(properties[name]!, tape)] as const))
}

/** A value that a schema of this file allows. */
export const valueOf = (schema: StructuralSchema, tape: Tape): unknown => {
  if (schema.nullable === true && tape.draw(4) === 1) return null
  if (schema["x-kubernetes-int-or-string"] === true) return tape.pick<unknown>(1, "50%")
  switch (schema.type) {
    case "object":
      return objectFor(schema, tape)
    case "array":
      return listFor(schema, tape)
    case "boolean":
      return tape.draw(2) === 1
    case "integer":
    case "number":
      return numberFor(schema, tape)
    default:
      return textFor(schema, tape)
  }
}

export interface Place {
  readonly path: string
  readonly schema: StructuralSchema
  readonly value: unknown
  /** A copy of the whole with another value here. */
  readonly replaced: (value: unknown) => unknown
}

/** Every place inside a value that its schema knows, the whole value first. */
export const places = (schema: StructuralSchema, value: unknown): Array<Place> => {
  const found: Array<Place> = []
  const visit = (place: Place): void => {
    found.push(place)
    const { path, replaced, schema, value } = place
    if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) {
        visit({
          path: `${path}[${index}]`,
          schema: schema.items ?? {},
          value: one,
          replaced: (by) => replaced(value.map((other, at) => (at === index ? by : other)))
        })
      }
    } else if (typeof value === "object" && value !== null) {
      const entries = Object.entries(value)
      const known = schema.properties ?? {}
      for (const [name, one] of entries) {
        const additional = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined
        const of = Object.hasOwn(known, name) ? known[name] : additional
        if (of === undefined) continue
        visit({
          path: path === "" ? name : `${path}.${name}`,
          schema: of,
          value: one,
          replaced: (by) => replaced(withOwn(entries.map(([key, other]) => [key, key === name ? by : other] as const)))
        })
      }
    }
  }
  visit({ path: "", schema, value, replaced: (by) => by })
  return found
}
