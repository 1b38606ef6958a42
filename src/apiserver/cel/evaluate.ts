/**
 * Evaluates the compiled expressions of admission over one request, within one budget of cost. The variables of a policy are evaluated when they
 * are first read, once per list of expressions, and what they cost is taken from the same budget. Source: apiserver/pkg/admission/plugin/cel:
 * condition.go, activation.go, composition.go.
 */
import * as Result from "effect/Result"
import * as Cel from "../../kube/cel/Cel.ts"
import { Failure } from "../../kube/cel/Value.ts"
import type { Outcome } from "../../kube/cel/Value.ts"
import type { Compiled } from "../../kube/admissionExpressions.ts"

/** Costs of all validations and messages of one policy with one parameter, and of all its audit annotations. */
export const validationBudget = 10_000_000

/** Costs of all match conditions of a webhook or a policy. */
export const matchBudget = 2_500_000

/** The values of the variables by name; one that is missing fails where it is read. */
export type Bindings = Readonly<Record<string, unknown>>

export interface Expression {
  readonly text: string
  readonly compiled: Compiled
}

/** The variables of a policy, in their order. */
export type Variables = ReadonlyMap<string, Compiled>

/** The value of an expression, or why it has none. */
export type Evaluation = Result.Result<unknown, string>

export const outOfBudget =
  "validation failed due to running out of cost budget, no further validation rules will be run"

/**
 * The evaluation of each expression, undefined where there is none; fails where the budget does not suffice for all of them. What is spent is taken
 * from the budget.
 */
export const all = (
  expressions: ReadonlyArray<Expression | undefined>,
  bindings: Bindings,
  budget: Cel.Budget,
  variables?: Variables
): Result.Result<ReadonlyArray<Evaluation | undefined>, string> => {
  if (expressions.every((one) => one === undefined)) return Result.succeed(expressions.map(() => undefined))
  const composition: Composition = { budget: { remaining: 0 }, depth: 0 }
  const bound =
    variables === undefined ? bindings : { ...bindings, variables: lazily(variables, bindings, composition) }
  const evaluations: Array<Evaluation | undefined> = []
  for (const expression of expressions) {
    const evaluation = expression === undefined ? undefined : one(expression, bound, budget, composition)
    if (evaluation === "budget") return Result.fail(outOfBudget)
    evaluations.push(evaluation)
  }
  return Result.succeed(evaluations)
}

interface Composition {
  /** Of the variables that the present expression reads. */
  budget: Cel.Budget
  /** Levels of the variables that are being evaluated. */
  depth: number
}

const one = (
  { compiled, text }: Expression,
  bindings: Bindings,
  budget: Cel.Budget,
  composition: Composition
): Evaluation | "budget" => {
  if (Result.isFailure(compiled)) return Result.fail(`compilation error: ${compiled.failure}`)
  const own = { remaining: budget.remaining }
  composition.budget = { remaining: budget.remaining }
  const value = Cel.evaluate(compiled.success, bindings, own)
  const spent = budget.remaining - own.remaining + (budget.remaining - composition.budget.remaining)
  budget.remaining -= spent
  if (budget.remaining < 0) return "budget"
  return Result.mapError(value, ({ message }) => `expression '${text}' resulted in error: ${message}`)
}

/** How deeply the expressions of variables that read each other may be nested together: each level takes some of the stack. */
const deepest = 4000

/** Levels that reading a variable adds. */
const perVariable = 10

const lazily = (variables: Variables, bindings: Bindings, composition: Composition): Cel.Fields => {
  const known = new Map<string, Outcome>()
  const fields: Cel.Fields = new Cel.Fields([...variables.keys()], (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const value = read(name)
    known.set(name, value)
    return value
  })
  const read = (name: string): Outcome => {
    const compiled = variables.get(name)
    const failed = (why: string) => new Failure(`composited variable ${JSON.stringify(name)} ${why}`)
    if (compiled === undefined) return failed("does not exist")
    if (Result.isFailure(compiled)) return failed(`fails to compile: ${compiled.failure}`)
    const levels = compiled.success.expr.depth + perVariable
    if (composition.depth + levels > deepest)
      return failed("fails to evaluate: the variables that read each other are nested too deeply")
    composition.depth += levels
    const value = Cel.evaluate(compiled.success, { ...bindings, variables: fields }, composition.budget)
    composition.depth -= levels
    return Result.isSuccess(value) ? (value.success as Outcome) : failed(`fails to evaluate: ${value.failure.message}`)
  }
  return fields
}
