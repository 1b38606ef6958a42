/**
 * Rules in CEL as checks of the Schemas of a kind. They are in the CustomResourceDefinition as `x-kubernetes-validations`, and the kind's
 * descriptor evaluates them as the API server does, when it decodes an object and when it encodes one.
 */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type { Rule } from "./Extensions.ts"

/** What the API server says of a value that a rule refuses, and where. */
export interface Options {
  /** The message, in place of `failed rule: …`; needed for a rule of several lines. */
  readonly message?: string
  /** An expression of which the value is the message: `'zone ' + self.zone + ' is not known'`. */
  readonly messageExpression?: string
  /** The reason of the cause in the Status; `FieldValueInvalid` without one. */
  readonly reason?: "FieldValueDuplicate" | "FieldValueForbidden" | "FieldValueInvalid" | "FieldValueRequired"
  /** The field that the error names, below the value: `.max`. */
  readonly fieldPath?: string
  /** Whether a rule that reads `oldSelf` runs for new values too, with `oldSelf` as an optional. */
  readonly optionalOldSelf?: boolean
}

/**
 * A check of a Schema by a rule in CEL, in which `self` is the value in wire form: `Cel.rule("self.min <= self.max")`. A rule that reads
 * `oldSelf` compares with the value before an update. It is evaluated by the descriptor that `Resource.make` yields and by API servers; the
 * Schema alone does not evaluate it.
 *
 * @example
 * import { Cel, Resource } from "effect-controller-manager"
 * import * as Result from "effect/Result"
 * import * as Schema from "effect/Schema"
 *
 * const Pool = Resource.make({
 *   group: "example.com",
 *   version: "v1",
 *   kind: "Pool",
 *   plural: "pools",
 *   spec: Schema.Struct({ min: Schema.Int, max: Schema.Int }).check(
 *     Cel.rule("self.min <= self.max", { message: "min must not exceed max", fieldPath: ".min" })
 *   )
 * })
 *
 * const refused = Pool.decode({ metadata: { name: "blue" }, spec: { min: 5, max: 3 } })
 * Result.isFailure(refused) // => true
 */
export const rule = <T>(expression: string, options: Options = {}): SchemaAST.Filter<T> => {
  const rule: Rule = { rule: expression, ...options }
  return Schema.makeFilter<T>(() => true, { "x-kubernetes-validations": [rule] })
}
