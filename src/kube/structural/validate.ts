/**
 * Whether a value is one that a schema allows, in the words in which the API server refuses it: users and tests match on these
 * texts. Total: any JSON can be checked against any schema, and every fault is reported. Rules in CEL are not evaluated. Work
 * is in proportion to the value, times the alternatives of `anyOf` and its like.
 *
 * One walk over a value beside its schema, collecting what breaks it. Each condition looks only at values of the type
 * it is about, so that a value of the wrong type is reported once. An object's members come first and what is missing in it last, as
 * the API server has it. Source: apiextensions-apiserver pkg/apiserver/validation, kube-openapi pkg/validation/validate.
 */
import { canonical, repeated } from "./lists.ts"
import * as formats from "./formats.ts"
import { compile } from "./pattern.ts"
import { additionalOf, isMembers, propertyOf } from "./StructuralSchema.ts"
import type { Cause, Members, StructuralSchema } from "./StructuralSchema.ts"
import * as words from "./words.ts"

/**
 * Every way in which the value breaks the schema, none for a good one. The path is empty for a whole object, of which apiVersion, kind and
 * metadata are not looked at.
 */
export const validate = (schema: StructuralSchema, value: unknown, path = ""): ReadonlyArray<Cause> => {
  const found = faults(schema, value, path)
  return [...found, ...repeated(schema, value, path)]
}

/** The same without lists whose elements repeat. */
export const faults = (schema: StructuralSchema, value: unknown, path: string): ReadonlyArray<Cause> => {
  const causes: Array<Cause> = []
  look(schema, value, path, causes)
  return causes
}

const fieldOf = (path: string): string => (path === "" ? words.whole : path)

const look = (schema: StructuralSchema, value: unknown, path: string, causes: Array<Cause>): void => {
  const wrong = wrongType(schema, value)
  if (wrong !== undefined) causes.push(typeFault(path, wrong))
  if (value !== null) {
    alternatives(schema, value, path, causes)
    if (typeof value === "string") text(schema, value, path, causes)
    else if (typeof value === "number") amount(schema, value, path, causes)
    else if (Array.isArray(value)) elements(schema, value, path, causes)
  }
  if (schema.enum !== undefined && !schema.enum.some((one) => canonical(one) === canonical(value))) {
    causes.push(words.notSupported(fieldOf(path), value, schema.enum))
  }
  if (isMembers(value)) members(schema, value, path, causes)
}

/** What the value had to be, and what it is. */
interface Wrong {
  readonly wanted: string
  readonly found: string
}

const typeFault = (path: string, { found, wanted }: Wrong): Cause =>
  words.typeInvalid(fieldOf(path), found, `${path} in body must be of type ${wanted}: ${JSON.stringify(found)}`)

const typeOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number"
  return typeof value
}

const wrongType = (schema: StructuralSchema, value: unknown): Wrong | undefined => {
  const found = typeOf(value)
  if (found === "null") return nullFault(schema)
  if (schema["x-kubernetes-int-or-string"] === true) {
    return found === "integer" || found === "string" ? undefined : { wanted: "integer,string", found }
  }
  const { type } = schema
  if (type === undefined || type === found || (type === "number" && found === "integer")) return undefined
  return { wanted: type, found }
}

const nullFault = (schema: StructuralSchema): Wrong | undefined => {
  if (schema.nullable === true) return undefined
  const wanted = schema["x-kubernetes-int-or-string"] === true ? "integer,string" : schema.type
  return wanted === undefined ? undefined : { wanted, found: "null" }
}

const text = (schema: StructuralSchema, value: string, path: string, causes: Array<Cause>): void => {
  const { format, maxLength, minLength, pattern } = schema
  const field = fieldOf(path)
  if (maxLength !== undefined || minLength !== undefined) {
    const length = Array.from(value).length
    if (maxLength !== undefined && length > maxLength) causes.push(words.tooLong(field, maxLength))
    if (minLength !== undefined && length < minLength) {
      causes.push(words.invalid(field, value, `${path} in body should be at least ${minLength} chars long`))
    }
  }
  if (pattern !== undefined && !compile(pattern).test(value)) {
    causes.push(words.invalid(field, value, `${path} in body should match '${pattern}'`))
  }
  if (format !== undefined && schema.type === "string" && !formats.meets(format, value)) {
    causes.push(words.typeInvalid(field, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`))
  }
}

/** Numbers that a format allows, both included. */
const ranges: ReadonlyMap<string, readonly [number, number]> = new Map([
  ["int32", [-2_147_483_648, 2_147_483_647]],
  ["float", [-3.402_823_466_385_288_6e38, 3.402_823_466_385_288_6e38]]
])

const amount = (schema: StructuralSchema, value: number, path: string, causes: Array<Cause>): void => {
  const { format = "", maximum, minimum, multipleOf } = schema
  const wrong = (detail: string) =>
    causes.push(words.invalid(fieldOf(path), value, `${path} in body should be ${detail}`))
  const [least, most] = ranges.get(format) ?? [-Infinity, Infinity]
  if (schema.type !== undefined && (value < least || value > most)) {
    const said = `Checked value must be of type ${schema.type} with format ${format} in ${path}`
    causes.push(words.invalid(words.whole, "", said))
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) wrong(`a multiple of ${multipleOf}`)
  if (maximum !== undefined) {
    if (schema.exclusiveMaximum === true) {
      if (value >= maximum) wrong(`less than ${maximum}`)
    } else if (value > maximum) wrong(`less than or equal to ${maximum}`)
  }
  if (minimum !== undefined) {
    if (schema.exclusiveMinimum === true) {
      if (value <= minimum) wrong(`greater than ${minimum}`)
    } else if (value < minimum) wrong(`greater than or equal to ${minimum}`)
  }
}

/** The nearest multiple may be off by what floating point cannot say. */
const isMultiple = (value: number, of: number): boolean => {
  const times = of < 1 ? (1 / of) * value : value / of
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times))
}

const elements = (
  schema: StructuralSchema,
  value: ReadonlyArray<unknown>,
  path: string,
  causes: Array<Cause>
): void => {
  const { items, maxItems, minItems } = schema
  if (items !== undefined) for (const [index, one] of value.entries()) look(items, one, `${path}[${index}]`, causes)
  if (minItems !== undefined && value.length < minItems) {
    causes.push(words.invalid(fieldOf(path), value.length, `${path} in body should have at least ${minItems} items`))
  }
  if (maxItems !== undefined && value.length > maxItems) {
    causes.push(words.tooMany(fieldOf(path), value.length, maxItems))
  }
}

const members = (schema: StructuralSchema, value: Members, path: string, causes: Array<Cause>): void => {
  const { maxProperties, minProperties, required = [] } = schema
  const names = Object.keys(value)
  if (minProperties !== undefined && names.length < minProperties) {
    const detail = `${path} in body should have at least ${minProperties} properties`
    causes.push(words.invalid(fieldOf(path), names.length, detail))
    return
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    causes.push(words.tooMany(fieldOf(path), names.length, maxProperties))
    return
  }
  const below = (name: string): string => (path === "" ? name : `${path}.${name}`)
  for (const name of names) {
    const of = propertyOf(schema, name) ?? additionalOf(schema)
    if (of !== undefined) look(of, value[name], below(name), causes)
    else if (schema.additionalProperties === false) {
      causes.push(words.invalid(fieldOf(path), value, `${below(name)} in body is a forbidden property`))
    }
  }
  for (const name of required) if (!Object.hasOwn(value, name)) causes.push(words.required(below(name)))
}

/** The alternative that has the fewest errors is reported, beside the fact that none fits. */
const alternatives = (schema: StructuralSchema, value: unknown, path: string, causes: Array<Cause>): void => {
  const { allOf, anyOf, not, oneOf } = schema
  const wrong = (detail: string) => causes.push(words.invalid(words.whole, "", `"${path}" ${detail}`))
  const tried = (list: ReadonlyArray<StructuralSchema>) => list.map((one) => faults(one, value, path))
  if (anyOf !== undefined && anyOf.length > 0) {
    const found = tried(anyOf)
    if (!found.some(isEmpty)) {
      wrong("must validate at least one schema (anyOf)")
      causes.push(...fewest(found))
    }
  }
  if (oneOf !== undefined && oneOf.length > 0) {
    const found = tried(oneOf)
    const valid = found.filter(isEmpty).length
    const many = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`
    if (valid !== 1) wrong(`must validate one and only one schema (oneOf). ${many}`)
    if (valid === 0) causes.push(...fewest(found))
  }
  if (allOf !== undefined && allOf.length > 0) {
    const found = tried(allOf)
    const valid = found.filter(isEmpty).length
    causes.push(...found.flat())
    if (valid < found.length) wrong(`must validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`)
  }
  if (not !== undefined && isEmpty(faults(not, value, path))) wrong("must not validate the schema (not)")
}

const isEmpty = (causes: ReadonlyArray<Cause>): boolean => causes.length === 0

const fewest = (found: ReadonlyArray<ReadonlyArray<Cause>>): ReadonlyArray<Cause> =>
  found.reduce((best, one) => (one.length < best.length ? one : best))
