/**
 * Decodes and encodes values by a Schema. An error is one sentence with the path of the value, and encoding keeps the fields that the
 * Schema does not know. The Schema is that of an object's parts (`spec`, `status`); resources are unknown here.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { linear } from "./linear.ts"
import { overlay } from "./overlay.ts"
import { formatPath } from "./place.ts"

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
  return {
    decode: (input) => Result.mapError(read(input), flaw),
    encode: (value, onto) =>
      Result.map(Result.mapError(write(value), flaw), (next) =>
        overlay(onto, Result.getOrUndefined(Result.flatMap(read(onto), write)), next)
      )
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The first issue, in the Schema's order. */
const flaw = (error: Schema.SchemaError): Flaw => {
  const [first] = format(error.issue).issues
  const path = (first?.path ?? []).map((part) => (typeof part === "object" ? part.key : part))
  return { path: formatPath(path), expected: first?.message ?? error.message }
}
