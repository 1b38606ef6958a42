/**
 * Reading and writing objects by a Schema: an error is one sentence with the path to it, and writing keeps what the Schema
 * does not know. It knows nothing of resources: it is given the Schema of an object's parts (`spec`, `status`).
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { linear } from "./linear.ts"
import { overlay } from "./overlay.ts"
import { at } from "./place.ts"

/** Any Schema that needs no services: it must be decodable wherever an object turns up. */
export type AnySchema = Schema.ConstraintCodec<unknown, unknown>

/** What keeps a value from being read or written: where, and what was expected there. */
export interface Flaw {
  /** `spec.members[0].name`; empty for the whole. */
  readonly path: string
  /** `Expected a value between 1 and 3`. */
  readonly expected: string
}

export interface Codec<T> {
  readonly decode: (input: unknown) => Result.Result<T, Flaw>
  /** `onto`: the value that the decoded one came from; may be one that cannot be decoded, then all that is not written over stays. */
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

/** The first one, in the Schema's order. */
const flaw = (error: Schema.SchemaError): Flaw => {
  const [first] = format(error.issue).issues
  const path = (first?.path ?? []).map((part) => (typeof part === "object" ? part.key : part))
  return { path: at(path), expected: first?.message ?? error.message }
}
