/**
 * Decodes and encodes values by a Schema and its rules in CEL. An error is one sentence with the path of the value, and encoding keeps the fields that the
 * Schema does not know. The Schema is that of an object's parts (`spec`, `status`); resources are unknown here.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { evaluateRules, hasRules } from "../cel/rules/rules.ts"
import { applyDefaults } from "../structural/applyDefaults.ts"
import { whole } from "../structural/fieldErrors.ts"
import type { StructuralSchema } from "../structural/StructuralSchema.ts"
import { linear } from "./linear.ts"
import { overlay } from "./overlay.ts"
import { formatPath } from "./place.ts"
import { structural } from "./structural.ts"

/** Any Schema that needs no services, so that an object can be decoded anywhere. */
export type AnySchema = Schema.ConstraintCodec<unknown, unknown>

/** Why a value cannot be decoded or encoded: where, and what was expected there. */
export interface Flaw {
  /** `spec.members[0].name`; empty for the whole. */
  readonly path: string
  /** `Expected a value between 1 and 3`. */
  readonly expected: string
}

export interface Codec<T> {
  readonly decode: (input: unknown) => Result.Result<T, Flaw>
  /** `onto`: the value that the decoded one came from. If it cannot be decoded, all of it that is not overwritten is kept. */
  readonly encode: (value: T, onto: unknown) => Result.Result<unknown, Flaw>
}

export const make = <S extends AnySchema>(schema: S): Codec<S["Type"]> => {
  const safe = linear(schema)
  const read = Schema.decodeUnknownResult(safe)
  const write = Schema.encodeUnknownResult(safe)
  const rules = ruled(schema)
  return {
    decode: (input) =>
      Result.flatMap(Result.mapError(read(input), flaw), (value) => Result.map(rules(input, undefined), () => value)),
    encode: (value, onto) =>
      Result.flatMap(Result.mapError(write(value), flaw), (next) => {
        const written = overlay(onto, Result.getOrUndefined(Result.flatMap(read(onto), write)), next)
        return Result.map(rules(written, onto), () => written)
      })
  }
}

/** Checks a value in wire form, with the one before it, by the rules in CEL; those of a Schema that no definition can express never fail. */
const ruled = (schema: AnySchema) => {
  let known: StructuralSchema | "none" | undefined
  return (value: unknown, old: unknown): Result.Result<void, Flaw> => {
    known ??= rulesOf(schema)
    if (known === "none") return Result.void
    const before = old === undefined ? undefined : applyDefaults(known, old)
    const [cause] = evaluateRules(known, applyDefaults(known, value), before)
    if (cause === undefined) return Result.void
    const path = cause.field === whole ? "" : cause.field
    return Result.fail({ path, expected: cause.message.replace(/^(?:Invalid value|Forbidden|Required value): /, "") })
  }
}

const rulesOf = (schema: AnySchema): StructuralSchema | "none" => {
  const found = structural(schema)
  return Result.isSuccess(found) && hasRules(found.success, true) ? found.success : "none"
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The first issue, in the Schema's order. */
const flaw = (error: Schema.SchemaError): Flaw => {
  const [first] = format(error.issue).issues
  const path = (first?.path ?? []).map((part) => (typeof part === "object" ? part.key : part))
  return { path: formatPath(path), expected: first?.message ?? error.message }
}
