/**
 * The checks of a Schema as keywords of a structural schema. A built-in check is recognised by its `representation`. One without a
 * keyword is refused, unless it is annotated with CEL rules that express it; with an empty list of rules only the Schema checks it.
 * Lengths of strings: the API server counts characters, `isMinLength` and its kin count UTF-16 units, which differs outside of the basic
 * plane; `isMinCodePoints` and its kin count characters too.
 */
import * as Result from "effect/Result"
import type * as SchemaAST from "effect/SchemaAST"
import { compile } from "../structural/pattern.ts"
import type { StructuralSchema } from "../structural/StructuralSchema.ts"

/** The keywords of all checks of a node of this type; fails if a check has none. */
export const keywords = (
  type: StructuralSchema["type"],
  checks: SchemaAST.Checks | undefined
): Result.Result<StructuralSchema, string> => {
  let props: StructuralSchema = {}
  for (const check of withoutGroups(checks ?? [])) {
    const translated = keyword(type, check)
    if (Result.isFailure(translated)) return translated
    const both = intersect(props, translated.success)
    if (Result.isFailure(both)) return both
    props = both.success
  }
  return Result.succeed(props)
}

/** The checks inside of groups. A group with CEL rules stays one check, which the rules express. */
const withoutGroups = (checks: ReadonlyArray<SchemaAST.Check<never>>): ReadonlyArray<SchemaAST.Check<never>> =>
  checks.flatMap((check) =>
    check._tag === "FilterGroup" && check.annotations?.["x-kubernetes-validations"] === undefined
      ? withoutGroups(check.checks)
      : [check]
  )

const keyword = (
  type: StructuralSchema["type"],
  { annotations }: SchemaAST.Check<never>
): Result.Result<StructuralSchema, string> => {
  if (annotations?.structuralKeywords !== undefined) return Result.succeed(annotations.structuralKeywords)
  const representation = annotations?.representation as Representation | undefined
  const id = representation?.id.replace("effect/schema/", "") ?? ""
  const payload = representation?.payload ?? {}
  // `structural` collects the rules, with the node's other annotations. A type is never expressed by rules.
  if (annotations?.["x-kubernetes-validations"] !== undefined && id !== "isInt") return Result.succeed({})
  if (id === "isPattern" && payload.source !== undefined) return patternKeyword(payload.source, payload.flags ?? "")
  const translated = keywordOfCheck[id]?.(payload, type)
  if (translated !== undefined) return Result.succeed(translated)
  const exact = annotations?.toJsonSchema?.({ type: undefined, schemas: [] })
  if (exact !== undefined && "pattern" in exact && typeof exact["pattern"] === "string")
    return patternKeyword(exact["pattern"], "")
  const what = annotations?.expected ?? (id === "" ? "a check of its own" : id)
  return Result.fail(
    `the check "${what}" cannot be said in a definition; annotate it with CEL rules ("x-kubernetes-validations")`
  )
}

interface Representation {
  readonly id: string
  readonly payload?: Payload
}

/** The union of all payloads; each check has its own part of it. */
interface Payload {
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number | boolean
  readonly exclusiveMaximum?: number | boolean
  readonly divisor?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minCodePoints?: number
  readonly maxCodePoints?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly source?: string
  readonly flags?: string
}

type KeywordOf = (payload: Payload, type: StructuralSchema["type"]) => StructuralSchema | undefined

const lengths = (
  minimum: number | undefined,
  maximum: number | undefined,
  type: StructuralSchema["type"]
): StructuralSchema | undefined => {
  if (type === "string") return defined({ minLength: minimum, maxLength: maximum })
  return type === "array" ? defined({ minItems: minimum, maxItems: maximum }) : undefined
}

const defined = (props: OptionalKeywords): StructuralSchema =>
  Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined))

const bounds = ({ exclusiveMaximum, exclusiveMinimum, maximum, minimum }: Payload): StructuralSchema =>
  defined({
    minimum: finite(minimum),
    exclusiveMinimum: exclusiveMinimum === true ? true : undefined,
    maximum: finite(maximum),
    exclusiveMaximum: exclusiveMaximum === true ? true : undefined
  })

const keywordOfCheck: Readonly<Record<string, KeywordOf>> = {
  // JSON has no other numbers.
  isFinite: () => ({}),
  isInt: (_, type) => (type === "number" || type === "integer" ? { type: "integer" } : undefined),
  isBetween: bounds,
  isGreaterThan: ({ exclusiveMinimum }) => defined({ minimum: finite(exclusiveMinimum), exclusiveMinimum: true }),
  isGreaterThanOrEqualTo: ({ minimum }) => defined({ minimum: finite(minimum) }),
  isLessThan: ({ exclusiveMaximum }) => defined({ maximum: finite(exclusiveMaximum), exclusiveMaximum: true }),
  isLessThanOrEqualTo: ({ maximum }) => defined({ maximum: finite(maximum) }),
  isMultipleOf: ({ divisor }) => defined({ multipleOf: divisor }),
  isMinLength: ({ minLength }, type) => lengths(minLength, undefined, type),
  isNonEmpty: (_, type) => lengths(1, undefined, type),
  isMaxLength: ({ maxLength }, type) => lengths(undefined, maxLength, type),
  isBetweenLength: ({ maximum, minimum }, type) => lengths(minimum, maximum, type),
  isMinCodePoints: ({ minCodePoints }) => defined({ minLength: minCodePoints }),
  isMaxCodePoints: ({ maxCodePoints }) => defined({ maxLength: maxCodePoints }),
  isBetweenCodePoints: ({ maximum, minimum }) => defined({ minLength: minimum, maxLength: maximum }),
  isMinProperties: ({ minProperties }) => defined({ minProperties }),
  isMaxProperties: ({ maxProperties }) => defined({ maxProperties }),
  isUnique: (_, type) => (type === "array" ? { "x-kubernetes-list-type": "set" } : undefined),
  isBetweenProperties: ({ maximum, minimum }) => defined({ minProperties: minimum, maxProperties: maximum })
}

/** An infinite bound is text in the payload; it excludes no number that JSON can hold. */
const finite = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

/** The API server's expressions are RE2: no lookahead, no lookbehind, no backreferences, and here no flags. */
const patternKeyword = (source: string, flags: string): Result.Result<StructuralSchema, string> =>
  isUnsupportedByRe2(source) || flags.replace(/[dguv]/g, "") !== ""
    ? Result.fail(
        `the pattern /${source}/${flags} cannot be said in a definition: the API server reads RE2 without flags`
      )
    : Result.succeed({ pattern: source })

/** Only newer API servers read named groups in JavaScript's spelling, `(?<name>…)`. */
const isUnsupportedByRe2 = (source: string): boolean =>
  compile(source).problem !== undefined || /\(\?<[A-Za-z_$]/.test(source)

/** The keywords of both: the narrower bound, and in `allOf` what a schema can have once only. */
export const intersect = (a: StructuralSchema, b: StructuralSchema): Result.Result<StructuralSchema, string> => {
  if (a.multipleOf !== undefined && b.multipleOf !== undefined && a.multipleOf !== b.multipleOf)
    return Result.fail("two divisors cannot be said in a definition")
  const twice = Object.keys(b.properties ?? {}).find((name) => Object.hasOwn(a.properties ?? {}, name))
  if (twice !== undefined) return Result.fail(`two schemas of the field ${JSON.stringify(twice)}`)
  const second = once.filter((key) => a[key] !== undefined && b[key] !== undefined).map((key) => ({ [key]: b[key] }))
  const all = [...(a.allOf ?? []), ...(b.allOf ?? []), ...second]
  return Result.succeed(
    defined({
      ...a,
      ...b,
      ...Object.fromEntries(once.map((key) => [key, a[key] ?? b[key]])),
      allOf: all.length > 0 ? all : undefined,
      properties: a.properties === undefined ? b.properties : { ...a.properties, ...b.properties },
      required: b.required === undefined ? a.required : [...new Set([...(a.required ?? []), ...b.required])].sort(),
      ...lowerBound(a, b),
      ...upperBound(a, b),
      ...tightest(a, b, ["minLength", "minItems", "minProperties"], Math.max),
      ...tightest(a, b, ["maxLength", "maxItems", "maxProperties"], Math.min)
    })
  )
}

const once = ["pattern", "enum", "anyOf", "oneOf", "not"] as const

type OptionalKeywords = { readonly [K in keyof StructuralSchema]: StructuralSchema[K] | undefined }

type Count = "minLength" | "minItems" | "minProperties" | "maxLength" | "maxItems" | "maxProperties"

const tightest = (
  a: StructuralSchema,
  b: StructuralSchema,
  keys: ReadonlyArray<Count>,
  pick: (x: number, y: number) => number
): StructuralSchema =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const both = [a[key], b[key]].filter((value) => value !== undefined)
      return both.length === 0 ? [] : [[key, both.reduce((x, y) => pick(x, y))]]
    })
  )

const lowerBound = (a: StructuralSchema, b: StructuralSchema): OptionalKeywords => {
  if (a.minimum === undefined || b.minimum === undefined) return {}
  const isA = a.minimum > b.minimum || (a.minimum === b.minimum && a.exclusiveMinimum === true)
  const { exclusiveMinimum, minimum } = isA ? a : b
  return { minimum, exclusiveMinimum }
}

const upperBound = (a: StructuralSchema, b: StructuralSchema): OptionalKeywords => {
  if (a.maximum === undefined || b.maximum === undefined) return {}
  const isA = a.maximum < b.maximum || (a.maximum === b.maximum && a.exclusiveMaximum === true)
  const { exclusiveMaximum, maximum } = isA ? a : b
  return { maximum, exclusiveMaximum }
}
