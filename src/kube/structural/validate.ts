/**
 * Whether a schema allows a value, with the API server's messages, because users and tests match on these texts. Total: any JSON can be
 * checked against any schema, and every fault is reported. Rules in CEL are evaluated separately. The work is proportional to the value, times the
 * alternatives of `anyOf` and its like.
 *
 * One walk over a value and its schema. Each condition checks only values of the type it is for, so that a value of the wrong type is
 * reported once. The faults inside of an object's members come first and its missing members last, as in the API server.
 * Source: apiextensions-apiserver pkg/apiserver/validation, kube-openapi pkg/validation/validate.
 */
import { canonical, repeated } from "./lists.ts"
import * as formats from "./formats.ts"
import { compile } from "./pattern.ts"
import { additionalOf, isMembers, propertyOf } from "./StructuralSchema.ts"
import type { Cause, Members, StructuralSchema } from "./StructuralSchema.ts"
import * as fieldErrors from "./fieldErrors.ts"

/**
 * Every way in which the value breaks the schema; empty for a valid one. The path is empty for a whole object, whose apiVersion, kind and
 * metadata are not checked.
 */
export const validate = (schema: StructuralSchema, value: unknown, path = ""): ReadonlyArray<Cause> => {
  const found = faults(schema, value, path)
  return [...found, ...repeated(schema, value, path)]
}

/** The same without lists whose elements repeat. */
export const faults = (schema: StructuralSchema, value: unknown, path: string): ReadonlyArray<Cause> => {
  const causes: Array<Cause> = []
  visit(schema, value, path, causes)
  return causes
}

const fieldOf = (path: string): string => (path === "" ? fieldErrors.whole : path)

const visit = (schema: StructuralSchema, value: unknown, path: string, causes: Array<Cause>): void => {
  const wrong = wrongType(schema, value)
  if (wrong !== undefined) causes.push(typeFault(path, wrong))
  if (value !== null) {
    validateAlternatives(schema, value, path, causes)
    if (typeof value === "string") validateString(schema, value, path, causes)
    else if (typeof value === "number") validateNumber(schema, value, path, causes)
    else if (Array.isArray(value)) validateArray(schema, value, path, causes)
  }
  if (schema.enum !== undefined && !schema.enum.some((one) => canonical(one) === canonical(value))) {
    causes.push(fieldErrors.notSupported(fieldOf(path), value, schema.enum))
  }
  if (isMembers(value)) validateObject(schema, value, path, causes)
}

/** The type that was expected, and the one that was found. */
interface Wrong {
  readonly wanted: string
  readonly found: string
}

const typeFault = (path: string, { found, wanted }: Wrong): Cause =>
  fieldErrors.typeInvalid(fieldOf(path), found, `${path} in body must be of type ${wanted}: ${JSON.stringify(found)}`)

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

const validateString = (schema: StructuralSchema, value: string, path: string, causes: Array<Cause>): void => {
  const { format, maxLength, minLength, pattern } = schema
  const field = fieldOf(path)
  if (maxLength !== undefined || minLength !== undefined) {
    const length = Array.from(value).length
    if (maxLength !== undefined && length > maxLength) causes.push(fieldErrors.tooLong(field, maxLength))
    if (minLength !== undefined && length < minLength) {
      causes.push(fieldErrors.invalid(field, value, `${path} in body should be at least ${minLength} chars long`))
    }
  }
  if (pattern !== undefined && !compile(pattern).test(value)) {
    causes.push(fieldErrors.invalid(field, value, `${path} in body should match '${pattern}'`))
  }
  if (format !== undefined && schema.type === "string" && !formats.meets(format, value)) {
    causes.push(
      fieldErrors.typeInvalid(field, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`)
    )
  }
}

/** The numbers that a format allows, bounds included. */
const ranges: ReadonlyMap<string, readonly [number, number]> = new Map([
  ["int32", [-2_147_483_648, 2_147_483_647]],
  ["float", [-3.402_823_466_385_288_6e38, 3.402_823_466_385_288_6e38]]
])

const validateNumber = (schema: StructuralSchema, value: number, path: string, causes: Array<Cause>): void => {
  const { format = "", maximum, minimum, multipleOf } = schema
  const wrong = (detail: string) =>
    causes.push(fieldErrors.invalid(fieldOf(path), value, `${path} in body should be ${detail}`))
  const [least, most] = ranges.get(format) ?? [-Infinity, Infinity]
  if (schema.type !== undefined && (value < least || value > most)) {
    const said = `Checked value must be of type ${schema.type} with format ${format} in ${path}`
    causes.push(fieldErrors.invalid(fieldErrors.whole, "", said))
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

/** Within the precision of floating point. */
const isMultiple = (value: number, of: number): boolean => {
  const times = of < 1 ? (1 / of) * value : value / of
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times))
}

const validateArray = (
  schema: StructuralSchema,
  value: ReadonlyArray<unknown>,
  path: string,
  causes: Array<Cause>
): void => {
  const { items, maxItems, minItems } = schema
  if (items !== undefined) for (const [index, one] of value.entries()) visit(items, one, `${path}[${index}]`, causes)
  if (minItems !== undefined && value.length < minItems) {
    causes.push(
      fieldErrors.invalid(fieldOf(path), value.length, `${path} in body should have at least ${minItems} items`)
    )
  }
  if (maxItems !== undefined && value.length > maxItems) {
    causes.push(fieldErrors.tooMany(fieldOf(path), value.length, maxItems))
  }
}

const validateObject = (schema: StructuralSchema, value: Members, path: string, causes: Array<Cause>): void => {
  const { maxProperties, minProperties, required = [] } = schema
  const names = Object.keys(value)
  if (minProperties !== undefined && names.length < minProperties) {
    const detail = `${path} in body should have at least ${minProperties} properties`
    causes.push(fieldErrors.invalid(fieldOf(path), names.length, detail))
    return
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    causes.push(fieldErrors.tooMany(fieldOf(path), names.length, maxProperties))
    return
  }
  const below = (name: string): string => (path === "" ? name : `${path}.${name}`)
  for (const name of names) {
    const of = propertyOf(schema, name) ?? additionalOf(schema)
    if (of !== undefined) visit(of, value[name], below(name), causes)
    else if (schema.additionalProperties === false) {
      causes.push(fieldErrors.invalid(fieldOf(path), value, `${below(name)} in body is a forbidden property`))
    }
  }
  for (const name of required) if (!Object.hasOwn(value, name)) causes.push(fieldErrors.required(below(name)))
}

/** If no alternative fits, the errors of the one with the fewest are reported too. */
const validateAlternatives = (schema: StructuralSchema, value: unknown, path: string, causes: Array<Cause>): void => {
  const { allOf, anyOf, not, oneOf } = schema
  const wrong = (detail: string) => causes.push(fieldErrors.invalid(fieldErrors.whole, "", `"${path}" ${detail}`))
  const tried = (list: ReadonlyArray<StructuralSchema>) => list.map((one) => faults(one, value, path))
  if (anyOf !== undefined && anyOf.length > 0) {
    const found = tried(anyOf)
    if (!found.some(isEmpty)) {
      wrong("must validate at least one schema (anyOf)")
      causes.push(...fewestErrors(found))
    }
  }
  if (oneOf !== undefined && oneOf.length > 0) {
    const found = tried(oneOf)
    const valid = found.filter(isEmpty).length
    const many = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`
    if (valid !== 1) wrong(`must validate one and only one schema (oneOf). ${many}`)
    if (valid === 0) causes.push(...fewestErrors(found))
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

const fewestErrors = (found: ReadonlyArray<ReadonlyArray<Cause>>): ReadonlyArray<Cause> =>
  found.reduce((best, one) => (one.length < best.length ? one : best))
