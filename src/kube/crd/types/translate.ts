/**
 * Translates a structural schema into an expression of a Schema, whose definition is that structural schema again. Each keyword is either
 * expressed by the Schema and removed from what is left, or it is left: what is left becomes a check by keywords. So nothing that validates,
 * prunes or fills in defaults is lost, known to this file or not. Objects with fields become constants of their own.
 */
import { canonical } from "../../structural/lists.ts"
import { compile } from "../../structural/pattern.ts"
import type { StructuralSchema } from "../../structural/StructuralSchema.ts"
import { call, data, type Declaration, type Expression, fields, list, literal, method, name } from "./Expression.ts"
import { type Keywords, tidy } from "./tidy.ts"

/** What the translation of one version writes to. */
export interface Target {
  /** Adds a constant for the Schema of the objects at a path, and returns its name. */
  readonly declare: (path: ReadonlyArray<string>, value: Expression, type: Declaration["type"]) => Expression
  /** A field that the type cannot have. */
  readonly warn: (field: string, message: string) => void
}

/** Where a schema is: by the names of fields, and as the API server writes the path of a field in a schema. */
export interface Place {
  readonly path: ReadonlyArray<string>
  readonly field: string
}

/** The Schema of a value without its default, which only a field can have. */
export const translate = (schema: StructuralSchema, place: Place, target: Target): Expression => {
  const left = tidy(schema)
  const { checks, isWhole = false, of, type } = baseOf(left, place, target)
  const isNullable = !isWhole && take(left, "nullable") === true
  const annotations = isWhole ? [] : annotationsOf(left)
  const annotated = (one: Expression): Expression =>
    annotations.length === 0 ? one : method(one, "annotate", fields(annotations))
  const checked = (one: Expression, all: ReadonlyArray<Expression>): Expression =>
    all.length === 0 ? one : method(one, "check", ...all)
  // Members that every object has, such as `constructor`, would give the literals in them another type.
  const others = Object.keys(left).length === 0 ? [] : [call("Crd.keywords", isWhole ? literal(left) : data(left))]
  const declared = (one: Expression): Expression => (type === undefined ? one : target.declare(place.path, one, type))
  // The check by keywords sees null too, as the API server does.
  return isNullable
    ? checked(annotated(call("Schema.NullOr", declared(checked(of, checks)))), others)
    : declared(checked(annotated(of), [...checks, ...others]))
}

/** A Schema that the checks and annotations are added to. */
interface Base {
  readonly of: Expression
  readonly checks: ReadonlyArray<Expression>
  /** Whether everything is left, annotations too, so that the check by keywords is the whole schema. */
  readonly isWhole?: true
  /** Set for a Schema that becomes a constant of its own. */
  readonly type?: Declaration["type"]
}

/** Takes one keyword, so that it is no longer left. */
const take = <K extends keyof Keywords>(left: Keywords, key: K): Keywords[K] => {
  const value = left[key]
  delete left[key]
  return value
}

const baseOf = (left: Keywords, place: Place, target: Target): Base => {
  if (left["x-kubernetes-int-or-string"] === true) return intOrString(left)
  const values = enumeration(left)
  if (values !== undefined) return { of: values, checks: [] }
  switch (left.type) {
    case "string":
      delete left.type
      return { of: name("Schema.String"), checks: ofString(left) }
    case "integer":
    case "number": {
      const of = take(left, "type") === "integer" ? "Schema.Int" : "Schema.Finite"
      return { of: name(of), checks: ofNumber(left) }
    }
    case "boolean":
      delete left.type
      return { of: name("Schema.Boolean"), checks: [] }
    case "array": {
      delete left.type
      const items = translate(take(left, "items") ?? {}, { ...place, field: `${place.field}.items` }, target)
      return { of: call("Schema.Array", items), checks: sizes(left, "minItems", "maxItems", "Length") }
    }
    case "object":
      return objectOf(left, place, target)
    default:
      return untyped(left)
  }
}

const untyped = (left: Keywords): Base => {
  delete left["x-kubernetes-preserve-unknown-fields"]
  return { of: name(take(left, "nullable") === true ? "Schema.Unknown" : "Crd.AnyValue"), checks: [] }
}

const integerOrString = canonical([{ type: "integer" }, { type: "string" }])

const intOrString = (left: Keywords): Base => {
  delete left["x-kubernetes-int-or-string"]
  if (canonical(left.anyOf ?? null) === integerOrString) delete left.anyOf
  const withChecks = (of: string, checks: ReadonlyArray<Expression>): Expression =>
    checks.length === 0 ? name(of) : method(name(of), "check", ...checks)
  const alternatives = [withChecks("Schema.Int", ofNumber(left)), withChecks("Schema.String", ofString(left))]
  return { of: call("Schema.Union", list(alternatives)), checks: [] }
}

/** The values as literals, where a Schema of literals has the same type and the same values. */
const enumeration = (left: Keywords): Expression | undefined => {
  const { enum: values = [], nullable, type } = left
  const [first, ...others] = values
  if (first === undefined || nullable === true || new Set(values).size < values.length) return undefined
  const kind = type === "integer" ? "number" : type
  if (!values.every((value) => typeof value === kind && kind !== "object")) return undefined
  if (kind === "number" && values.every(Number.isSafeInteger) !== (type === "integer")) return undefined
  delete left.enum
  delete left.type
  return others.length === 0 ? call("Schema.Literal", data(first)) : call("Schema.Literals", data(values))
}

const ofString = (left: Keywords): ReadonlyArray<Expression> => {
  const { pattern } = left
  const counts = sizes(left, "minLength", "maxLength", "CodePoints")
  if (pattern === undefined || !isSame(pattern)) return counts
  delete left.pattern
  return [...counts, call("Schema.isPattern", { _tag: "Pattern", source: pattern })]
}

/**
 * Whether a literal of JavaScript can have this expression of RE2, and means the same, as far as its syntax shows: with common escapes only,
 * without slashes, flags, named groups, POSIX classes and repeated assertions.
 */
const isSame = (pattern: string): boolean =>
  compile(pattern).problem === undefined &&
  /^[ -.0-~]+$/.test(pattern) &&
  !/\\(?:$|[^dDsSwWbnrtfv\\^$.*+?()[\]{}|\- ])/.test(pattern.replaceAll("\\\\", "")) &&
  !/\(\?(?!:)|\[\[:|(?:\^|\$|\\b)[*+?{]/.test(pattern)

type Minimum = "minLength" | "minItems" | "minProperties"
type Maximum = "maxLength" | "maxItems" | "maxProperties"

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0

/** Checks of a length or a number of members: `isMinLength`, `isMaxLength`, and so on. */
const sizes = (left: Keywords, least: Minimum, most: Maximum, what: string): ReadonlyArray<Expression> => {
  const checks: Array<Expression> = []
  for (const [key, which] of [
    [least, "Min"],
    [most, "Max"]
  ] as const) {
    const value = left[key]
    if (!isCount(value)) continue
    delete left[key]
    checks.push(call(`Schema.is${which}${what}`, data(value)))
  }
  return checks
}

const ofNumber = (left: Keywords): ReadonlyArray<Expression> => {
  const checks: Array<Expression> = []
  if (left.minimum !== undefined) {
    const isExclusive = take(left, "exclusiveMinimum") === true
    checks.push(
      call(isExclusive ? "Schema.isGreaterThan" : "Schema.isGreaterThanOrEqualTo", data(take(left, "minimum")))
    )
  }
  if (left.maximum !== undefined) {
    const isExclusive = take(left, "exclusiveMaximum") === true
    checks.push(call(isExclusive ? "Schema.isLessThan" : "Schema.isLessThanOrEqualTo", data(take(left, "maximum"))))
  }
  if (isCount(left.multipleOf) && left.multipleOf > 0) {
    checks.push(call("Schema.isMultipleOf", data(take(left, "multipleOf"))))
  }
  return checks
}

const anyRecord = call("Schema.Record", name("Schema.String"), name("Schema.Unknown"))

const objectOf = (left: Keywords, place: Place, target: Target): Base => {
  const inherited = Object.keys(left.properties ?? {}).find((name) => name in Object.prototype)
  if (inherited !== undefined) {
    const why = "every object in JavaScript has a member of this name, so the type of the object around it is unknown"
    target.warn(`${place.field}.properties[${inherited}]`, why)
    left["x-kubernetes-preserve-unknown-fields"] ??= false
    return { of: name(left.nullable === true ? "Schema.Unknown" : "Crd.AnyValue"), checks: [], isWhole: true }
  }
  delete left.type
  const known = fieldsOf(left, place, target)
  const counts = sizes(left, "minProperties", "maxProperties", "Properties")
  if (known.length > 0) {
    const struct = call("Schema.Struct", fields(known))
    if (left["x-kubernetes-preserve-unknown-fields"] !== true) return { of: struct, checks: counts, type: "struct" }
    delete left["x-kubernetes-preserve-unknown-fields"]
    return { of: call("Schema.StructWithRest", struct, list([anyRecord])), checks: counts, type: "schema" }
  }
  const { additionalProperties } = left
  if (typeof additionalProperties === "object") {
    delete left.additionalProperties
    const value = translate(additionalProperties, { ...place, field: `${place.field}.additionalProperties` }, target)
    return { of: call("Schema.Record", name("Schema.String"), closed(value)), checks: counts }
  }
  if (left["x-kubernetes-preserve-unknown-fields"] === true && additionalProperties === undefined) {
    delete left["x-kubernetes-preserve-unknown-fields"]
    return { of: anyRecord, checks: counts }
  }
  return { of: call("Schema.Struct", fields([])), checks: counts }
}

/** A record of `Schema.Unknown` would preserve unknown fields instead of having members of any type. */
const closed = (value: Expression): Expression => {
  if (value._tag === "Name" && value.name === "Schema.Unknown") return name("Schema.Json")
  return value._tag === "Call" && value.name === "annotate" && value.of !== undefined
    ? { ...value, of: closed(value.of) }
    : value
}

/** The fields of a struct. A required field that is not one of them is left. */
const fieldsOf = (left: Keywords, place: Place, target: Target): ReadonlyArray<readonly [string, Expression]> => {
  const properties = Object.entries(take(left, "properties") ?? {})
  const required = new Set(take(left, "required"))
  const found = properties.map(([key, schema]) => {
    const inner = { path: [...place.path, key], field: `${place.field}.properties[${key}]` }
    const field = fieldOf(schema, required.has(key), inner, target)
    required.delete(key)
    return [key, field] as const
  })
  if (required.size > 0) left.required = [...required]
  return found
}

/** A field with a default is never missing, whether it is required or not. A default of null is none. */
export const fieldOf = (schema: StructuralSchema, isRequired: boolean, place: Place, target: Target): Expression => {
  const { default: fallback, ...rest } = schema
  if (fallback === undefined || fallback === null || !isDecodable(fallback)) {
    const value = translate(fallback === null ? rest : schema, place, target)
    return isRequired && (fallback === undefined || fallback === null) ? value : call("Schema.optionalKey", value)
  }
  const value = translate(rest, place, target)
  const isLiteral = typeof fallback === "object" || (schema.enum !== undefined && schema.nullable !== true)
  const succeed = call("Effect.succeed", isLiteral ? literal(fallback) : data(fallback))
  return method(value, "pipe", call("Schema.withDecodingDefaultKey", succeed))
}

/** Whether the default is a value that every Schema of its type decodes: not an integer beyond what JavaScript can represent exactly. */
const isDecodable = (value: unknown): boolean => {
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value)
  if (typeof value !== "object" || value === null) return true
  return Object.entries(value).every(([name, one]) => !(name in Object.prototype) && isDecodable(one))
}

const annotationKeys = [
  "title",
  "description",
  "format",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-validations"
] as const

const annotationsOf = (left: Keywords): ReadonlyArray<readonly [string, Expression]> =>
  annotationKeys.flatMap((key) => {
    const value = take(left, key)
    return value === undefined ? [] : [[key, data(value)] as const]
  })
