/**
 * Values of a field that are worth a try: its bounds and what is next to them, each value of an enumeration, nothing, one and two of something. They
 * follow from the structural schema alone, so the caller has to check that a value is valid.
 */
import { sampleOf } from "../../../kube/crd/objects/sample.ts"
import { additionalOf, isMembers, type StructuralSchema } from "../../../kube/structural/StructuralSchema.ts"

/** A number often says how many objects there are. A run with more of them than that takes too long. */
const most = 100

/** The longest text that is tried. */
const longest = 1024

/** Values in place of this one, and some of its own too. `drawn`: random values of the field, for patterns. */
export const valuesOf = (
  schema: StructuralSchema,
  value: unknown,
  drawn: ReadonlyArray<unknown>
): ReadonlyArray<unknown> => [...(schema.nullable === true ? [null] : []), ...ofType(schema, value, drawn)]

const ofType = (schema: StructuralSchema, value: unknown, drawn: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const listed = schema.enum ?? schema.allOf?.find((one) => one.enum !== undefined)?.enum
  if (listed !== undefined) return listed.slice(0, 8)
  if (schema["x-kubernetes-int-or-string"] === true) return [0, 1, 2, "50%", "100%", ...drawn.slice(0, 2)]
  switch (schema.type) {
    case "boolean":
      return [true, false]
    case "integer":
    case "number":
      return numbers(schema, value)
    case "string":
      return texts(schema, value, drawn)
    case "array":
      return lists(schema)
    case "object":
      return objects(schema)
    default:
      return drawn.slice(0, 2)
  }
}

const numbers = (schema: StructuralSchema, value: unknown): ReadonlyArray<number> => {
  const { exclusiveMaximum, exclusiveMinimum, maximum, minimum, multipleOf } = schema
  const step = multipleOf ?? (schema.type === "number" ? 0.5 : 1)
  const least = minimum === undefined ? 0 : exclusiveMinimum === true ? minimum + step : minimum
  const greatest = maximum === undefined ? undefined : exclusiveMaximum === true ? maximum - step : maximum
  const present = typeof value === "number" ? value : least
  const isFeasible = greatest !== undefined && (greatest <= most || present > most)
  return [least, least + step, ...(isFeasible ? [greatest] : [present + step])]
}

const texts = (
  { format, maxLength, minLength = 0, pattern }: StructuralSchema,
  value: unknown,
  drawn: ReadonlyArray<unknown>
): ReadonlyArray<unknown> => {
  if (pattern !== undefined || format !== undefined) return drawn.slice(0, 3)
  const present = typeof value === "string" ? value : "example"
  const bounds = maxLength === undefined || maxLength > longest ? [] : ["x".repeat(maxLength)]
  return ["x".repeat(minLength), "x".repeat(minLength + 1), ...bounds, `${present.slice(0, longest)}-2`]
}

const lists = (schema: StructuralSchema): ReadonlyArray<ReadonlyArray<unknown>> => {
  const { items = {}, maxItems, minItems = 0 } = schema
  const first = full(items)
  const others = othersOf(items, first)
  const of = (length: number) =>
    Array.from({ length }, (_, i) => (i === 0 ? first : (others[i - 1] ?? others[0] ?? first)))
  const lengths = [minItems, 0, 1, 2, ...(maxItems === undefined || maxItems > 8 ? [] : [maxItems])]
  return lengths.filter((length) => length >= minItems && length <= (maxItems ?? length)).map(of)
}

/** Values that differ from that one, for the further elements of a list of which none may repeat. */
const othersOf = (schema: StructuralSchema, first: unknown): ReadonlyArray<unknown> =>
  [2, 3, 4, 5, 6, 7, 8].flatMap((n) => {
    const other = differing(schema, first, n)
    return other === undefined ? [] : [other]
  })

const differing = (schema: StructuralSchema, value: unknown, n: number): unknown => {
  if (schema.enum !== undefined) return schema.enum.filter((one) => one !== value)[n - 2]
  if (typeof value === "string") return `${value}-${n}`
  if (typeof value === "number") return value + (n - 1) * (schema.multipleOf ?? 1)
  if (typeof value === "boolean") return n === 2 ? !value : undefined
  if (!isMembers(value)) return undefined
  const names = schema["x-kubernetes-list-map-keys"] ?? Object.keys(value)
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const of = schema.properties?.[name]
      return [name, of !== undefined && names.includes(name) ? (differing(of, one, n) ?? one) : one]
    })
  )
}

const objects = (schema: StructuralSchema): ReadonlyArray<unknown> => {
  const additional = additionalOf(schema)
  if (additional !== undefined) {
    const first = full(additional)
    return [{}, { first }, { first, second: differing(additional, first, 2) ?? first }]
  }
  const branches = (schema.oneOf ?? []).map((branch) => sampleOf({ ...schema, oneOf: [branch] }))
  return [...branches, sampleOf(schema), full(schema)]
}

/** A sample that has its optional fields too. */
export const full = (schema: StructuralSchema): unknown => {
  if (schema.default !== undefined) return schema.default
  if (schema.type === "array") return [full(schema.items ?? {})]
  if (schema.type !== "object" || schema.oneOf !== undefined) return sampleOf(schema)
  const additional = additionalOf(schema)
  if (additional !== undefined) return { first: full(additional) }
  return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, property]) => [name, full(property)]))
}
