/**
 * What the checks of a Schema are in a structural schema. Each built-in check says by its representation what it is; one that a
 * definition cannot say is refused, unless its annotation has CEL rules that say the same (or an empty list of rules: then only this side
 * checks it). Lengths of strings are counted in characters by the API server and in UTF-16 units by `isMinLength` and its kin, which
 * differs outside of the basic plane; `isMinCodePoints` and its kin count alike.
 */
import * as Result from "effect/Result"
import type * as SchemaAST from "effect/SchemaAST"
import { compile } from "../structural/pattern.ts"
import type { StructuralSchema } from "../structural/StructuralSchema.ts"

/** The keywords of all checks of a node of this type; fails with what cannot be said. */
export const keywords = (
  type: StructuralSchema["type"],
  checks: SchemaAST.Checks | undefined
): Result.Result<StructuralSchema, string> => {
  let props: StructuralSchema = {}
  for (const check of flat(checks ?? [])) {
    const said = keyword(type, check)
    if (Result.isFailure(said)) return said
    const both = narrow(props, said.success)
    if (Result.isFailure(both)) return both
    props = both.success
  }
  return Result.succeed(props)
}

/** Groups are only names for what is in them, except that one of 32 bits has a format. */
const flat = (checks: ReadonlyArray<SchemaAST.Check<never>>): ReadonlyArray<SchemaAST.Check<never>> =>
  checks.flatMap((check) =>
    check._tag === "FilterGroup" && check.annotations?.["x-kubernetes-validations"] === undefined
      ? flat(check.checks)
      : [check]
  )

const keyword = (
  type: StructuralSchema["type"],
  { annotations }: SchemaAST.Check<never>
): Result.Result<StructuralSchema, string> => {
  // Rules are gathered with the node's other annotations.
  if (annotations?.["x-kubernetes-validations"] !== undefined) return Result.succeed({})
  const representation = annotations?.representation as Representation | undefined
  const id = representation?.id.replace("effect/schema/", "") ?? ""
  const payload = representation?.payload ?? {}
  if (id === "isPattern" && payload.source !== undefined) return patterned(payload.source, payload.flags ?? "")
  const said = table[id]?.(payload, type)
  if (said !== undefined) return Result.succeed(said)
  const exact = annotations?.toJsonSchema?.({ type: undefined, schemas: [] })
  if (exact !== undefined && "pattern" in exact && typeof exact["pattern"] === "string")
    return patterned(exact["pattern"], "")
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

type Say = (payload: Payload, type: StructuralSchema["type"]) => StructuralSchema | undefined

const lengths = (
  minimum: number | undefined,
  maximum: number | undefined,
  type: StructuralSchema["type"]
): StructuralSchema | undefined => {
  if (type === "string") return defined({ minLength: minimum, maxLength: maximum })
  return type === "array" ? defined({ minItems: minimum, maxItems: maximum }) : undefined
}

const defined = (props: Maybe): StructuralSchema =>
  Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined))

const bounds = ({ exclusiveMaximum, exclusiveMinimum, maximum, minimum }: Payload): StructuralSchema =>
  defined({
    minimum: finite(minimum),
    exclusiveMinimum: exclusiveMinimum === true ? true : undefined,
    maximum: finite(maximum),
    exclusiveMaximum: exclusiveMaximum === true ? true : undefined
  })

const table: Readonly<Record<string, Say>> = {
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

/** Bounds beyond all numbers are written as text, and bound nothing that JSON can hold. */
const finite = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

/** The API server's expressions are RE2: they look neither ahead nor behind, do not remember, and have no flags here. */
const patterned = (source: string, flags: string): Result.Result<StructuralSchema, string> =>
  isBeyondRe2(source) || flags.replace(/[dguv]/g, "") !== ""
    ? Result.fail(
        `the pattern /${source}/${flags} cannot be said in a definition: the API server reads RE2 without flags`
      )
    : Result.succeed({ pattern: source })

/** Groups with names in this platform's spelling are read by the newer servers only. */
const isBeyondRe2 = (source: string): boolean => compile(source).problem !== undefined || /\(\?<[A-Za-z_$]/.test(source)

/** Both are asked for: the narrower bound holds. Two patterns stand side by side. */
const narrow = (a: StructuralSchema, b: StructuralSchema): Result.Result<StructuralSchema, string> => {
  if (a.multipleOf !== undefined && b.multipleOf !== undefined && a.multipleOf !== b.multipleOf)
    return Result.fail("two divisors cannot be said in a definition")
  if (a.pattern !== undefined && b.pattern !== undefined)
    return Result.succeed({ ...a, allOf: [...(a.allOf ?? []), { pattern: b.pattern }] })
  return Result.succeed(
    defined({
      ...a,
      ...b,
      ...lower(a, b),
      ...upper(a, b),
      ...tighter(a, b, ["minLength", "minItems", "minProperties"], Math.max),
      ...tighter(a, b, ["maxLength", "maxItems", "maxProperties"], Math.min)
    })
  )
}

type Maybe = { readonly [K in keyof StructuralSchema]: StructuralSchema[K] | undefined }

type Count = "minLength" | "minItems" | "minProperties" | "maxLength" | "maxItems" | "maxProperties"

const tighter = (
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

const lower = (a: StructuralSchema, b: StructuralSchema): Maybe => {
  if (a.minimum === undefined || b.minimum === undefined) return {}
  const isA = a.minimum > b.minimum || (a.minimum === b.minimum && a.exclusiveMinimum === true)
  const { exclusiveMinimum, minimum } = isA ? a : b
  return { minimum, exclusiveMinimum }
}

const upper = (a: StructuralSchema, b: StructuralSchema): Maybe => {
  if (a.maximum === undefined || b.maximum === undefined) return {}
  const isA = a.maximum < b.maximum || (a.maximum === b.maximum && a.exclusiveMaximum === true)
  const { exclusiveMaximum, maximum } = isA ? a : b
  return { maximum, exclusiveMaximum }
}
