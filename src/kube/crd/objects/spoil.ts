/**
 * What can be done to a good value so that its structural schema may no longer allow it, one thing at a time: a field that is missing, another
 * type, a bound overstepped, at any depth. Proposals only: whoever asks looks whether a value is really refused.
 */
import type { StructuralSchema } from "../../structural/StructuralSchema.ts"
import { additionalOf, isMembers, propertyOf } from "../../structural/StructuralSchema.ts"

export const spoiled = (schema: StructuralSchema, value: unknown): ReadonlyArray<unknown> => [
  ...otherTypes.filter((other) => typeof other !== typeof value || Array.isArray(other) !== Array.isArray(value)),
  ...inside(schema, value),
  ...beyond(schema, value)
]

const otherTypes: ReadonlyArray<unknown> = [0.5, "?", true, [], {}]

/** A member or an element that is spoiled, or a member that is gone. */
const inside = (schema: StructuralSchema, value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) {
    const { items = {} } = schema
    return value.flatMap((one, at) => spoiled(items, one).map((bad): unknown => value.with(at, bad)))
  }
  if (!isMembers(value)) return []
  return Object.keys(value).flatMap((name) => {
    const of = propertyOf(schema, name) ?? additionalOf(schema)
    const bad = of === undefined ? [] : spoiled(of, value[name]).map((inner) => put(value, name, inner))
    return schema.required?.includes(name) === true ? bad.concat(without(value, name)) : bad
  })
}

const put = (value: object, name: string, inner: unknown): object => ({ ...value, [name]: inner })

const without = (value: object, name: string): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== name))

/** Just over the bounds, and besides the lists of values. */
const beyond = (schema: StructuralSchema, value: unknown): ReadonlyArray<unknown> => {
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
