/**
 * Shard selectors: which objects have a namespace, or a uid, whose hash is in one of some ranges. The query form is an expression in CEL, of which only the
 * syntax is used; an unparsable one is a value (`Result`), because it may come from a user. Source: apiserver pkg/sharding, apimachinery pkg/sharding.
 */
import * as Result from "effect/Result"
import { qualifiedName } from "./cel/syntax/Expr.ts"
import type { Expr } from "./cel/syntax/Expr.ts"
import { parse as parseExpression } from "./cel/syntax/parser.ts"
import * as Fnv64 from "./fnv64.ts"

export interface ShardSelector {
  /** The member of the metadata that is hashed; absent is as empty. */
  readonly field: Field
  /** They may overlap. */
  readonly ranges: ReadonlyArray<Range>
}

export type Field = "namespace" | "uid"

/** The hashes from `start` on and below `end`. */
export interface Range {
  readonly start: Fnv64.Hash
  readonly end: Fnv64.Hash
}

export const matches = ({ field, ranges }: ShardSelector, metadata: Readonly<Record<Field, string>>): boolean => {
  const hash = Fnv64.of(metadata[field])
  return ranges.some(({ end, start }) => !Fnv64.isBelow(hash, start) && Fnv64.isBelow(hash, end))
}

/** The query form, as servers return it in the metadata of a list. */
export const format = ({ field, ranges }: ShardSelector): string =>
  ranges
    .map(({ end, start }) => `shardRange(${prefix}${field}, '0x${Fnv64.hex(start)}', '0x${Fnv64.hex(end)}')`)
    .join(" || ")

const prefix = "object.metadata."

/** From the query form: `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || …`. The messages are those of kube-apiserver. */
export const parse = (text: string): Result.Result<ShardSelector, string> => {
  const trimmed = text.trim()
  if (trimmed === "") return Result.fail("empty shard selector is not allowed; omit the parameter for unfiltered lists")
  const parsed = parseExpression(trimmed)
  if ("faults" in parsed) return Result.fail(`CEL parse error: ${parsed.faults[0]?.message}`)
  return Result.flatMap(Result.all(termsOf(parsed.expr).map(requirement)), joined)
}

const termsOf = (expr: Expr): ReadonlyArray<Expr> =>
  expr.kind === "call" && expr.name === "_||_" ? expr.args.flatMap(termsOf) : [expr]

interface Requirement extends Range {
  readonly field: Field
}

const joined = (requirements: ReadonlyArray<Requirement>): Result.Result<ShardSelector, string> => {
  const field = requirements[0]?.field ?? "uid"
  const other = requirements.find((one) => one.field !== field)
  return other === undefined
    ? Result.succeed({ field, ranges: requirements.map(({ end, start }) => ({ start, end })) })
    : Result.fail(`all shard ranges must use the same field, got "${prefix}${field}" and "${prefix}${other.field}"`)
}

const requirement = (expr: Expr): Result.Result<Requirement, string> => {
  if (expr.kind !== "call") {
    return Result.fail(`unexpected expression kind ${expr.kind}; expected shardRange() call or || operator`)
  }
  if (expr.name !== "shardRange") {
    return Result.fail(`unsupported function ${JSON.stringify(expr.name)}; only shardRange() and || are allowed`)
  }
  const [path, from, to, ...rest] = expr.args
  if (path === undefined || from === undefined || to === undefined || rest.length > 0) {
    return Result.fail(`shardRange() requires exactly 3 arguments, got ${expr.args.length}`)
  }
  return Result.gen(function* () {
    const field = yield* fieldOf(path)
    const start = yield* bound("hexStart", from)
    const end = yield* bound("hexEnd", to)
    if (Fnv64.isBelow(start, end)) return { field, start, end }
    return yield* Result.fail(`shard range start 0x${Fnv64.hex(start)} must be less than end 0x${Fnv64.hex(end)}`)
  })
}

const fieldOf = (expr: Expr): Result.Result<Field, string> => {
  const path = qualifiedName(expr)
  if (path === undefined) {
    return Result.fail(
      `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind ${expr.kind}`
    )
  }
  if (path === "object.metadata.uid") return Result.succeed("uid")
  if (path === "object.metadata.namespace") return Result.succeed("namespace")
  return Result.fail(
    `unsupported field path ${JSON.stringify(path)}; supported: object.metadata.uid, object.metadata.namespace`
  )
}

const bound = (name: string, expr: Expr): Result.Result<Fnv64.Hash, string> => {
  if (expr.kind !== "literal") {
    return Result.fail(`${name} must be a string literal (e.g. '0xff'), got expression kind ${expr.kind}`)
  }
  const { value } = expr
  if (typeof value !== "string") return Result.fail(`${name} must be a string literal, got ${typeof value}`)
  const fault = boundFault(value)
  return fault === undefined
    ? Result.succeed({ high: Number.parseInt(value.slice(2, -8), 16), low: Number.parseInt(value.slice(-8), 16) })
    : Result.fail(`${name}${fault}`)
}

/** What is wrong with a bound, as the rest of a sentence. */
const boundFault = (text: string): string | undefined => {
  const got = JSON.stringify(text)
  if (!text.startsWith("0x")) return ` must have '0x' prefix, got ${got}`
  const hex = text.slice(2)
  if (hex === "") return ": hex value is required after '0x'"
  if (hex.length > 17) return `: hex value too long (${hex.length} chars, max 17): ${JSON.stringify(hex)}`
  const strange = /[^\da-f]/u.exec(hex)
  if (strange !== null) return `: invalid hex character ${JSON.stringify(strange[0])} in ${got}`
  if (hex.length === 17) {
    return text === "0x10000000000000000"
      ? undefined
      : `: 17-digit hex value must be '0x10000000000000000' (2^64), got ${got}`
  }
  if (hex.length === 16) return undefined
  return ` must be a 0x-prefixed 16-digit hex value, got ${got} (did you mean "0x${hex.padStart(16, "0")}"?)`
}
