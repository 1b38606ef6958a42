/**
 * A compiled ValidatingAdmissionPolicy, and its decisions about one request with one parameter. Source:
 * apiserver/pkg/admission/plugin/policy/validating: validator.go.
 */
import * as Result from "effect/Result"
import * as activation from "../cel/activation.ts"
import * as environment from "../../kube/admissionExpressions.ts"
import type { Extras } from "../../kube/admissionExpressions.ts"
import * as evaluate from "../cel/evaluate.ts"
import type { Evaluation, Expression } from "../cel/evaluate.ts"
import * as matchConditions from "../cel/matchConditions.ts"
import { arrayAt, objectAt, textAt } from "../json.ts"
import type { Json } from "../json.ts"
import type { Versioned } from "../admission/attributes.ts"

interface Validation {
  readonly expression: Expression
  readonly message: string
  readonly messageExpression: Expression | undefined
  readonly reason: string
}

interface AuditAnnotation {
  readonly key: string
  readonly value: Expression
}

export interface Validator extends matchConditions.Matched {
  readonly variables: evaluate.Variables
  readonly validations: ReadonlyArray<Validation>
  readonly auditAnnotations: ReadonlyArray<AuditAnnotation>
}

export const compile = (spec: Json | undefined): Validator => {
  const extras: Extras = { hasParams: objectAt(spec, "paramKind") !== undefined, hasAuthorizer: true }
  const compiler = environment.compiler(extras)
  const variables = new Map(
    arrayAt(spec, "variables").map((one) => {
      const name = textAt(one, "name")
      return [name, compiler.addVariable(name, textAt(one, "expression"))] as const
    })
  )
  const expression = (text: string, results: environment.Results, more?: Partial<Extras>): Expression => ({
    text,
    compiled: compiler.compile(text, results, more)
  })
  return {
    ignoresFailure: textAt(spec, "failurePolicy") === "Ignore",
    variables,
    conditions: matchConditions.compile(arrayAt(spec, "matchConditions"), extras),
    validations: arrayAt(spec, "validations").map((one) => {
      const message = textAt(one, "messageExpression")
      return {
        expression: expression(textAt(one, "expression"), ["bool"]),
        message: textAt(one, "message").trim(),
        messageExpression: message === "" ? undefined : expression(message, ["string"], { hasAuthorizer: false }),
        reason: textAt(one, "reason") || "Invalid"
      }
    }),
    auditAnnotations: arrayAt(spec, "auditAnnotations").map((one) => ({
      key: textAt(one, "key"),
      value: expression(textAt(one, "valueExpression"), ["string", "null"])
    }))
  }
}

/** Why a request is refused, where the action of the binding is Deny. */
export interface Denial {
  /** Of the validation; 0 where there is none. */
  readonly index: number
  readonly message: string
  readonly reason: string
}

export interface Decisions {
  readonly denials: ReadonlyArray<Denial>
  /** Audit annotations whose errors refuse the request, whatever the actions of the binding. */
  readonly failures: ReadonlyArray<Denial>
  /** Key and value. */
  readonly annotations: ReadonlyArray<readonly [string, string]>
}

const nothing: Decisions = { denials: [], failures: [], annotations: [] }

/** The reason of a denial that none is given for. */
const invalid = "Invalid"

/** `params` is null without a parameter, and undefined for a policy without a kind of parameters; `namespace` is null for a cluster-scoped object. */
export const validate = (
  validator: Validator,
  request: Versioned,
  params: Json | undefined,
  namespace: Json
): Decisions => {
  const failed = (message: string): Decisions =>
    validator.ignoresFailure ? nothing : { ...nothing, denials: [{ index: 0, message, reason: invalid }] }
  const bound = activation.bindings(request, { params, hasAuthorizer: true }, namespace)
  const matched = matchConditions.match(validator, { ...bound, namespaceObject: null })
  if (Result.isFailure(matched)) return failed(matched.failure)
  if (!matched.success) return nothing
  const budget = { remaining: evaluate.validationBudget }
  const validated = evaluate.all(
    validator.validations.map((one) => one.expression),
    bound,
    budget,
    validator.variables
  )
  if (Result.isFailure(validated)) return failed(validated.failure)
  const { authorizer: _authorizer, "authorizer.requestResource": _resource, ...withoutAuthorizer } = bound
  const texts = validator.validations.map((one) => one.messageExpression)
  const messages = evaluate.all(texts, withoutAuthorizer, budget, validator.variables)
  const denials = validator.validations.flatMap((one, index): ReadonlyArray<Denial> => {
    const evaluation = validated.success[index]
    if (evaluation === undefined) return []
    const error = Result.isFailure(evaluation)
      ? evaluation.failure
      : Result.isFailure(messages)
        ? `failed messageExpression: ${messages.failure}`
        : undefined
    if (error !== undefined) return validator.ignoresFailure ? [] : [{ index, message: error, reason: invalid }]
    if (Result.isSuccess(evaluation) && evaluation.success === true) return []
    const message = messageOf(one, Result.isSuccess(messages) ? messages.success[index] : undefined)
    return [{ index, message, reason: one.reason }]
  })
  return annotated(validator, denials, withoutAuthorizer, failed)
}

/** Maximum bytes of the message that an expression makes. */
const mostMessage = 5 * 1024

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** The message that the expression makes, unless it is empty, too long or has several lines; then the given one, then one with the expression. */
const messageOf = ({ expression, message }: Validation, made: Evaluation | undefined): string => {
  const value =
    made !== undefined && Result.isSuccess(made) && typeof made.success === "string" ? made.success.trim() : ""
  const isUsable = value !== "" && value.length <= mostMessage && bytesOf(value) <= mostMessage && !value.includes("\n")
  return (isUsable ? value : message) || `failed expression: ${expression.text.trim()}`
}

/** Maximum bytes of the value of an audit annotation. */
const mostValue = 10 * 1024

const annotated = (
  validator: Validator,
  denials: ReadonlyArray<Denial>,
  bindings: evaluate.Bindings,
  failed: (message: string) => Decisions
): Decisions => {
  const { auditAnnotations, ignoresFailure, variables } = validator
  if (auditAnnotations.length === 0) return { ...nothing, denials }
  const evaluated = evaluate.all(
    auditAnnotations.map((one) => one.value),
    bindings,
    { remaining: evaluate.validationBudget },
    variables
  )
  if (Result.isFailure(evaluated)) return failed(evaluated.failure)
  const failures: Array<Denial> = []
  const annotations: Array<readonly [string, string]> = []
  for (const [index, { key }] of auditAnnotations.entries()) {
    const value = evaluated.success[index]
    if (value === undefined) continue
    if (Result.isFailure(value)) {
      if (!ignoresFailure) failures.push({ index: 0, message: value.failure, reason: invalid })
    } else if (typeof value.success === "string" && value.success.trim() !== "") {
      annotations.push([key, cut(value.success.trim(), mostValue)])
    }
  }
  return { denials, failures, annotations }
}

/** The first bytes of a text, without a part of a character, which the decoder keeps back. */
const cut = (text: string, bytes: number): string => {
  const encoded = new TextEncoder().encode(text.slice(0, bytes))
  return new TextDecoder().decode(encoded.subarray(0, bytes), { stream: true })
}
