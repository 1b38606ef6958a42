/**
 * Match conditions of webhooks and of policies. One that is false decides: the request does not match, whatever the others are. Otherwise an error
 * counts as the failure policy says: it refuses the request, or the request does not match. Source: apiserver/pkg/admission/plugin/webhook/
 * matchconditions.
 */
import * as Result from "effect/Result"
import { textAt } from "../json.ts"
import type { Json } from "../json.ts"
import * as environment from "../../kube/admissionExpressions.ts"
import * as evaluate from "./evaluate.ts"

export interface Condition extends evaluate.Expression {
  readonly name: string
}

export const compile = (conditions: ReadonlyArray<Json>, extras: environment.Extras): ReadonlyArray<Condition> =>
  conditions.map((one) => {
    const text = textAt(one, "expression")
    return { name: textAt(one, "name"), text, compiled: environment.compile(text, extras, ["bool"]) }
  })

export interface Matched {
  readonly conditions: ReadonlyArray<Condition>
  readonly ignoresFailure: boolean
}

/** Whether all conditions hold; fails with the reason for which the request has to be refused. */
export const match = (
  { conditions, ignoresFailure }: Matched,
  bindings: evaluate.Bindings
): Result.Result<boolean, string> => {
  const evaluated = evaluate.all(conditions, bindings, { remaining: evaluate.matchBudget })
  const failed = (why: string) => (ignoresFailure ? Result.succeed(false) : Result.fail(why))
  if (Result.isFailure(evaluated)) return failed(evaluated.failure)
  const errors = new Set<string>()
  for (const one of evaluated.success) {
    if (one === undefined) continue
    if (Result.isFailure(one)) errors.add(one.failure)
    else if (one.success === false) return Result.succeed(false)
  }
  if (errors.size === 0) return Result.succeed(true)
  const joined = [...errors].join(", ")
  return failed(errors.size === 1 ? joined : `[${joined}]`)
}
