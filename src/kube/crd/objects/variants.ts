/**
 * Variants of a valid value that its structural schema may not allow, each with one change, at any depth: a missing field, another type,
 * a bound exceeded. The caller has to check that a variant is really invalid.
 */
import type { StructuralSchema } from "../../structural/StructuralSchema.ts"
import { additionalOf, isMembers, propertyOf } from "../../structural/StructuralSchema.ts"

export const variantsOf = (schema: StructuralSchema, value: unknown): ReadonlyArray<unknown> => [
  ...otherTypes.filter((other) => typeof other !== typeof value || Array.isArray(other) !== Array.isArray(value)),
  ...innerVariants(schema, value),
  ...beyondBounds(schema, value)
]

const otherTypes: ReadonlyArray<unknown> = [0.5, "?", true, [], {}]

/** Variants of one member or element, and the value without a required member. */
const innerVariants = (schema: StructuralSchema, value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) {
    const { items = {} } = schema
    return value.flatMap((one, at) => variantsOf(items, one).map((variant): unknown => value.with(at, variant)))
  }
  if (!isMembers(value)) return []
  return Object.keys(value).flatMap((name) => {
    const of = propertyOf(schema, name) ?? additionalOf(schema)
    const variants = of === undefined ? [] : variantsOf(of, value[name]).map((inner) => put(value, name, inner))
    return schema.required?.includes(name) === true ? variants.concat(without(value, name)) : variants
  })
}

const put = (value: object, name: string, inner: unknown): object => ({ ...value, [name]: inner })

const without = (value: object, name: string): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== name))

/** Just beyond the bounds, and a text that no enumeration has. */
const beyondBounds = (schema: StructuralSchema, value: unknown): ReadonlyArray<unknown> => {
  const { maximum, maxItems, maxLength, minimum, minItems = 0, minLength = 0, multipleOf } = schema
  if (typeof value === "number") {
    return [minimum, maximum]
      .flatMap((bound) => (bound === undefined ? [] : [bound - 1, bound, bound + 1]))
      .concat(multipleOf === undefined ? [] : [value + multipleOf / 2])
  }
  if (typeof value === "string") {
    return [...(minLength > 0 ? [""] : []), ...(maxLength === undefined ? [] : ["x".repeat(maxLength + 1)]), " !"]
  }
  if (!Array.isArray(value)) return []
  const repeated = maxItems === undefined ? 1 : maxItems - value.length + 1
  return [...(minItems > 0 ? [[]] : []), ...(value.length > 0 ? [value.concat(Array(repeated).fill(value[0]))] : [])]
}
