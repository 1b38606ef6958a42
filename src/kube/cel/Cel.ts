/**
 * Expressions in CEL as the API server of Kubernetes compiles and evaluates them: types are checked before anything runs, and every
 * evaluation is bounded by a budget of cost, so that expressions of untrusted authors can be run. Pure and synchronous.
 * Source: apiserver pkg/cel, cel-go.
 */
import * as Result from "effect/Result"
import type { StructuralSchema } from "../structural/StructuralSchema.ts"
import { check } from "./check.ts"
import type { Checked } from "./check.ts"
import { declare, fromJson, fromSchema, withMetadata } from "./declare.ts"
import type { Declared } from "./declare.ts"
import { estimate } from "./cost/estimate.ts"
import { display } from "./syntax/Expr.ts"
import type { Expr } from "./syntax/Expr.ts"
import { parse } from "./syntax/parser.ts"
import { plan } from "./plan.ts"
import type { Plan } from "./plan.ts"
import * as Type from "./Type.ts"
import { Duration, Failure, List, Mapping, Meter, Opaque, Optional, Timestamp, TypeValue, Uint } from "./Value.ts"
import type { Outcome } from "./Value.ts"

/** What is known of a variable: its type, or the schema of its value. */
export type Declaration = SchemaDeclaration | Type.Type

export interface SchemaDeclaration {
  readonly schema: StructuralSchema
  /** Whether apiVersion, kind and the names in metadata are there besides: for objects of the API as a whole. */
  readonly isResource?: boolean
  /** The name of the type in messages; the name of the variable without one. */
  readonly typeName?: string
  /** Whether the variable is an optional of that type, absent where it is bound to undefined. */
  readonly isOptional?: boolean
}

export interface Program {
  readonly text: string
  /** The type of the value. */
  readonly type: Type.Type
  /** The names of variables that the expression reads. */
  readonly variables: ReadonlySet<string>
  readonly expr: Expr
  readonly checked: Checked
  readonly declared: ReadonlyMap<string, Declaration>
  readonly plan: Plan
}

/** The cost that is left; an evaluation takes from it what it spends. Below zero nothing further may run. */
export interface Budget {
  remaining: number
}

/** What one evaluation may cost, whatever the budget. */
export const perCallLimit = 1_000_000

/** What all rules of one request may cost. */
export const requestBudget = 10_000_000

export interface CelError {
  /** `evaluation`: the expression has no value. `call`: it spent its own limit. `budget`: it spent what was left for all. */
  readonly reason: "budget" | "call" | "evaluation"
  readonly message: string
}

/**
 * Compiles an expression. The failure is the server's text: `compilation failed: ERROR: <input>:1:5: undefined field 'x' …`. A result type, if
 * given, has to be that of the expression.
 */
export const compile = (
  text: string,
  variables: Readonly<Record<string, Declaration>>,
  result?: "bool" | "string"
): Result.Result<Program, string> => {
  const failed = (faults: Parameters<typeof display>[1]) => Result.fail(`compilation failed: ${display(text, faults)}`)
  const parsed = parse(text)
  if ("faults" in parsed) return failed(parsed.faults)
  const declared = new Map(Object.entries(variables))
  const types = new Map([...declared].map(([name, of]) => [name, typeOf(name, of)] as const))
  const checked = check(parsed.expr, types)
  if ("faults" in checked) return failed(checked.faults)
  if (result !== undefined && checked.type.kind !== result) return Result.fail(`must evaluate to ${result}`)
  return Result.succeed({
    text,
    type: checked.type,
    variables: checked.variables,
    expr: parsed.expr,
    checked,
    declared,
    plan: plan(parsed.expr, checked)
  })
}

/**
 * What an evaluation may cost at worst, with values as large as their schemas allow. Source: cel-go checker.Cost, with the estimator of
 * apiextensions-apiserver.
 */
export const worstCost = ({ checked, declared, expr }: Program): number => {
  const roots = new Map<string, Declared>()
  for (const [name, of] of declared) {
    const root = "kind" in of ? undefined : declaredOf(name, of)
    if (root !== undefined) roots.set(name, root)
  }
  return estimate(expr, checked, roots).max
}

const declarations = new WeakMap<SchemaDeclaration, Declared | undefined>()

/** What a declaration by schema says; undefined for a schema whose values cannot be read. */
export const declaredOf = (name: string, declaration: SchemaDeclaration): Declared | undefined => {
  if (declarations.has(declaration)) return declarations.get(declaration)
  const { isResource = false, schema, typeName = name } = declaration
  const declared = declare(schema, typeName, isResource)
  declarations.set(declaration, declared)
  return declared
}

const typeOf = (name: string, declaration: Declaration): Type.Type => {
  if ("kind" in declaration) return declaration
  const type = declaredOf(name, declaration)?.type ?? Type.dyn
  return declaration.isOptional === true ? Type.optional(type) : type
}

/**
 * Evaluates. A binding is JSON, converted as its declaration says, or a value of CEL; an unbound variable fails where it is read. The result
 * is a value of CEL: a bigint for an `int`.
 */
export const evaluate = (
  { declared, plan: { run, slots } }: Program,
  bindings: Readonly<Record<string, unknown>>,
  budget: Budget,
  limit = perCallLimit
): Result.Result<unknown, CelError> => {
  const meter = new Meter(Math.min(limit, Math.max(0, budget.remaining)))
  const variables = new Map<string, Outcome>()
  for (const [name, declaration] of declared) {
    const value = bound(bindings[name], declaration)
    if (value !== undefined) variables.set(name, value)
  }
  const value = run({ meter, variables, slots: Array.from({ length: slots }, () => null) })
  const isOverBudget = meter.cost > budget.remaining
  budget.remaining -= meter.cost
  if (!(value instanceof Failure)) return Result.succeed(value)
  if (!value.isFatal) return Result.fail({ reason: "evaluation", message: value.message })
  return Result.fail({ reason: isOverBudget ? "budget" : "call", message: value.message })
}

const bound = (value: unknown, declaration: Declaration): Outcome | undefined => {
  if ("kind" in declaration) {
    if (value === undefined) return undefined
    return isValue(value) ? value : fromJson(value)
  }
  const { isOptional = false, isResource = false, schema } = declaration
  if (value === undefined) return isOptional ? Optional.none : undefined
  const converted = fromSchema(value, isResource ? withMetadata(schema) : schema)
  return isOptional && !(converted instanceof Failure) ? new Optional(converted) : converted
}

const isValue = (value: unknown): value is Extract<Outcome, object> =>
  [List, Mapping, Opaque, Optional, Uint, Timestamp, Duration, TypeValue, Uint8Array].some(
    (kind) => value instanceof kind
  )

export { Authorizer, authorizerType, requestResource, resourceCheckType } from "./kubernetes/authorizer.ts"
export type { Answer, Decide, Question } from "./kubernetes/authorizer.ts"
/** For variables that are computed when an expression reads them: an object type and its value. */
export { Fields } from "./Value.ts"
