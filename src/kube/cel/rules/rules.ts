/**
 * The rules of a schema, `x-kubernetes-validations`, compiled once for each schema, and evaluated on a value with the API server's errors. A
 * transition rule, which reads `oldSelf`, runs where there is an old value to compare with. A value that does not change is not refused: its
 * schema may have become stricter. All rules of one object share a budget. A schema without rules costs one look-up.
 * Source: apiextensions-apiserver pkg/apiserver/schema/cel/{compilation,validation}.go, apiserver pkg/cel/common/equality.go.
 */
import * as Result from "effect/Result"
import * as fieldErrors from "../../structural/fieldErrors.ts"
import { canonical } from "../../structural/lists.ts"
import { additionalOf, isMembers, member, propertyOf } from "../../structural/StructuralSchema.ts"
import type { Cause, StructuralSchema } from "../../structural/StructuralSchema.ts"
import * as Cel from "../Cel.ts"
import { declare, withMetadata } from "../declare.ts"
import { fieldPath } from "./fieldPath.ts"

/** A rule as a schema has it. Members of other types are ignored. */
export interface Rule {
  readonly rule: string
  readonly message: string
  readonly messageExpression: string
  readonly reason: string | undefined
  readonly fieldPath: string
  readonly optionalOldSelf: boolean | undefined
}

export interface Compiled {
  readonly rule: Rule
  /** Absent for an empty rule. */
  readonly program: Result.Result<Cel.Program, string> | undefined
  readonly message: Result.Result<Cel.Program, string> | undefined
  readonly isTransition: boolean
  /** Where errors are reported, below the value: `.spec.size`. */
  readonly field: string | undefined
}

export const rulesOf = (schema: StructuralSchema): ReadonlyArray<Rule> =>
  (schema["x-kubernetes-validations"] ?? []).map((rule) => {
    const text = (name: string): string => {
      const value = member(rule, name)
      return typeof value === "string" ? value : ""
    }
    const flag = member(rule, "optionalOldSelf")
    const reason = member(rule, "reason")
    return {
      rule: text("rule"),
      message: text("message"),
      messageExpression: text("messageExpression"),
      reason: typeof reason === "string" ? reason : undefined,
      fieldPath: text("fieldPath"),
      optionalOldSelf: typeof flag === "boolean" ? flag : undefined
    }
  })

/** The name of the type of `self` in messages; the server's has a number of its own for each compilation. */
const selfType = "selfType"

/** Compiles the rules of one value. */
export const compileRules = (schema: StructuralSchema, isResource: boolean): ReadonlyArray<Compiled> =>
  rulesOf(schema).map((rule) => {
    const self: Cel.SchemaDeclaration = { schema, isResource, typeName: selfType }
    const variables = { self, oldSelf: { ...self, isOptional: rule.optionalOldSelf === true } }
    const program = rule.rule.trim() === "" ? undefined : ruleOf(Cel.compile(rule.rule, variables))
    const isValid = program !== undefined && Result.isSuccess(program)
    const hasMessage = isValid && rule.messageExpression !== ""
    return {
      rule,
      program,
      message: hasMessage ? messageOf(Cel.compile(rule.messageExpression, variables)) : undefined,
      isTransition: isValid && program.success.variables.has("oldSelf"),
      field: rule.fieldPath === "" ? undefined : fieldPath(rule.fieldPath, schema)
    }
  })

const ruleOf = (program: Result.Result<Cel.Program, string>): Result.Result<Cel.Program, string> =>
  Result.isSuccess(program) && program.success.type.kind !== "bool"
    ? Result.fail("cel expression must evaluate to a bool")
    : program

const messageOf = (program: Result.Result<Cel.Program, string>): Result.Result<Cel.Program, string> => {
  if (Result.isFailure(program)) return Result.fail(`messageExpression ${program.failure}`)
  return program.success.type.kind === "string" ? program : Result.fail("messageExpression must evaluate to a string")
}

/** The rules of a value and of the values inside of it; absent where there are none. */
interface Validator {
  readonly schema: StructuralSchema
  readonly rules: ReadonlyArray<Compiled>
  readonly properties: ReadonlyMap<string, Validator>
  readonly element: Validator | undefined
}

type Known = WeakMap<StructuralSchema, Validator | "none">

const ofObjects: Known = new WeakMap()
const ofValues: Known = new WeakMap()

const validatorOf = (schema: StructuralSchema, isResource: boolean): Validator | undefined => {
  const validators = isResource ? ofObjects : ofValues
  const known = validators.get(schema)
  if (known !== undefined) return known === "none" ? undefined : known
  const made = makeValidator(schema, isResource)
  validators.set(schema, made ?? "none")
  return made
}

const makeValidator = (schema: StructuralSchema, isResource: boolean): Validator | undefined => {
  const properties = new Map<string, Validator>()
  for (const [name, of] of Object.entries(schema.properties ?? {})) {
    const validator = makeValidator(of, of["x-kubernetes-embedded-resource"] === true)
    if (validator !== undefined) properties.set(name, validator)
  }
  const inner = schema.items ?? additionalOf(schema)
  const element =
    inner === undefined ? undefined : makeValidator(inner, inner["x-kubernetes-embedded-resource"] === true)
  const hasRules = rulesOf(schema).length > 0 && declare(schema, selfType, isResource) !== undefined
  const rules = hasRules ? compileRules(schema, isResource) : []
  if (rules.length === 0 && properties.size === 0 && element === undefined) return undefined
  return { schema: isResource ? withMetadata(schema) : schema, rules, properties, element }
}

/** Whether a schema has rules at all. */
export const hasRules = (schema: StructuralSchema, isResource: boolean): boolean =>
  validatorOf(schema, isResource) !== undefined

export interface Options {
  /** Whether the value is an object of the API. */
  readonly isResource?: boolean
  readonly path?: string
  readonly budget?: Cel.Budget
}

/** The errors of all rules; `old` is the value before an update, undefined for a new one. */
export const evaluateRules = (
  schema: StructuralSchema,
  value: unknown,
  old: unknown,
  { budget = { remaining: Cel.requestBudget }, isResource = true, path = "" }: Options = {}
): ReadonlyArray<Cause> => {
  const validator = validatorOf(schema, isResource)
  if (validator === undefined) return []
  const evaluation = new Evaluation(budget)
  evaluation.visit(validator, {
    value,
    old,
    path,
    isEqual: isUnchanged(old, value, schema),
    isAncestorEqual: () => false
  })
  return evaluation.causes
}

interface Place {
  readonly value: unknown
  /** Undefined where there is none to compare with. */
  readonly old: unknown
  readonly path: string
  /** Whether the value equals the old one; undefined where they cannot be related. */
  readonly isEqual: (() => boolean) | undefined
  /** The same of the nearest value above that has an old one. */
  readonly isAncestorEqual: () => boolean
}

class Evaluation {
  readonly causes: Array<Cause> = []
  private isEnded = false
  private readonly budget: Cel.Budget

  constructor(budget: Cel.Budget) {
    this.budget = budget
  }

  visit(validator: Validator, place: Place): void {
    if (this.isEnded || place.value === null || place.value === undefined) return
    this.evaluate(validator, place)
    const { old, path, value } = place
    if (Array.isArray(value)) {
      if (validator.element === undefined) return
      const find = oldElements(validator.schema, old)
      for (const [index, one] of value.entries()) {
        const items = validator.schema.items ?? {}
        this.visit(validator.element, below(place, one, find(one), `${path}[${index}]`, items))
      }
    } else if (isMembers(value)) {
      const olds = isMembers(old) ? old : {}
      for (const name of Object.keys(value)) {
        const property = validator.properties.get(name)
        const of = propertyOf(validator.schema, name) ?? additionalOf(validator.schema) ?? {}
        const next = property ?? (propertyOf(validator.schema, name) === undefined ? validator.element : undefined)
        if (next === undefined) continue
        const isKnown = property !== undefined
        const at = isKnown ? (path === "" ? name : `${path}.${name}`) : `${path}[${name}]`
        this.visit(next, below(place, value[name], member(olds, name), at, of))
      }
    }
  }

  private evaluate({ rules, schema }: Validator, place: Place): void {
    if (rules.length === 0) return
    const field = place.path === "" ? fieldErrors.whole : place.path
    const type = schema.type ?? ""
    const refuse = (detail: string): void => {
      this.causes.push(fieldErrors.invalid(field, type, detail))
    }
    if (this.budget.remaining <= 0) {
      refuse(outOfBudget)
      this.isEnded = true
      return
    }
    for (const compiled of rules) {
      const { isTransition, program, rule } = compiled
      if (program === undefined) continue
      if (Result.isFailure(program)) {
        refuse(`rule compile error: ${program.failure}`)
        continue
      }
      if (isTransition && place.old === undefined && rule.optionalOldSelf !== true) continue
      const bindings = { self: place.value, oldSelf: place.old ?? undefined }
      const result = Cel.evaluate(program.success, bindings, this.budget)
      if (Result.isFailure(result)) {
        const { message, reason } = result.failure
        const named = rule.message === "" ? rule.rule.trim() : rule.message.trim()
        if (reason === "budget") refuse(outOfBudget)
        else if (reason === "call") {
          refuse(
            `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${named}`
          )
        } else if (message.startsWith("no such overload")) {
          refuse(
            `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${named}`
          )
        } else refuse(`${message} evaluating rule: ${named}`)
        this.isEnded = reason !== "evaluation"
      } else if (result.success !== true) this.refuted(compiled, place, type, bindings)
      if (this.isEnded) return
    }
  }

  /** A rule that is not met. */
  private refuted(
    { field, isTransition, message, rule }: Compiled,
    { isAncestorEqual, isEqual, path, value }: Place,
    type: string,
    bindings: Readonly<Record<string, unknown>>
  ): void {
    if (!isTransition && (isEqual ?? isAncestorEqual)()) return
    const where = field === undefined ? path : (path + field).replace(/^\./, "")
    const at = where === "" ? fieldErrors.whole : where
    const said =
      message === undefined || Result.isFailure(message)
        ? undefined
        : this.message(message.success, rule.messageExpression, bindings)
    if (typeof said === "object") {
      this.causes.push(fieldErrors.invalid(at, type, said.problem))
      this.isEnded = true
      return
    }
    const detail = said ?? (rule.message === "" ? `failed rule: ${rule.rule.trim()}` : rule.message.trim())
    const shown = typeof value === "object" ? undefined : value
    this.causes.push(causeOf(rule.reason, at, shown, detail))
  }

  /** What the expression of the message yields; undefined where it is no message, an object where nothing further may run. */
  private message(
    program: Cel.Program,
    text: string,
    bindings: Readonly<Record<string, unknown>>
  ): string | { readonly problem: string } | undefined {
    const result = Cel.evaluate(program, bindings, this.budget)
    if (Result.isFailure(result)) {
      if (result.failure.reason === "evaluation") return undefined
      return {
        problem:
          result.failure.reason === "budget"
            ? "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run"
            : `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(text)}`
      }
    }
    const trimmed = typeof result.success === "string" ? result.success.trim() : ""
    const isTooLong = new TextEncoder().encode(trimmed).length > 5 * 1024
    return trimmed === "" || isTooLong || trimmed.includes("\n") ? undefined : trimmed
  }
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

/** A value that is an object or a list is not shown. */
const causeOf = (reason: string | undefined, field: string, shown: unknown, detail: string): Cause => {
  const omitted = (cause: Cause, name: string): Cause =>
    shown === undefined
      ? { ...cause, message: detail === "" || name !== "Invalid value" ? name : `${name}: ${detail}` }
      : cause
  switch (reason) {
    case "FieldValueForbidden":
      return fieldErrors.forbidden(field, detail)
    case "FieldValueRequired":
      return fieldErrors.required(field, detail)
    case "FieldValueDuplicate":
      return omitted(fieldErrors.duplicate(field, shown), "Duplicate value")
    default:
      return omitted(fieldErrors.invalid(field, shown, detail), "Invalid value")
  }
}

const below = (above: Place, value: unknown, old: unknown, path: string, schema: StructuralSchema): Place => ({
  value,
  old: old ?? undefined,
  path,
  isEqual: old === undefined || above.isEqual === undefined ? undefined : isUnchanged(old, value, schema),
  isAncestorEqual: above.isEqual ?? above.isAncestorEqual
})

/** The element of the old list with the same key; only lists that are maps have one. */
const oldElements = (schema: StructuralSchema, old: unknown): ((element: unknown) => unknown) => {
  const keys = schema["x-kubernetes-list-map-keys"] ?? []
  if (schema["x-kubernetes-list-type"] !== "map" || keys.length === 0 || !Array.isArray(old)) return () => undefined
  const keyOf = (element: unknown): string | undefined => {
    const values = isMembers(element) ? keys.map((key) => member(element, key)) : []
    return values.length === 0 || values.includes(undefined) ? undefined : canonical(values)
  }
  const known = new Map<string | undefined, unknown>()
  for (const element of old) {
    const key = keyOf(element)
    if (key !== undefined && !known.has(key)) known.set(key, element)
  }
  return (element) => known.get(keyOf(element))
}

/** Whether two values are equal, computed once, when it is first needed. */
const isUnchanged = (old: unknown, value: unknown, schema: StructuralSchema): (() => boolean) => {
  let known: boolean | undefined
  return () => {
    known ??= isSame(old, value, schema)
    return known
  }
}

/** Elements of lists that are maps are compared by key. */
const isSame = (old: unknown, value: unknown, schema: StructuralSchema): boolean => {
  if (Array.isArray(old) && Array.isArray(value)) {
    if (old.length !== value.length) return false
    if (schema["x-kubernetes-list-type"] !== "map") return canonical(old) === canonical(value)
    const find = oldElements(schema, old)
    return value.every((one) => {
      const before = find(one)
      return before !== undefined && isSame(before, one, schema.items ?? {})
    })
  }
  if (!isMembers(old) || !isMembers(value)) return canonical(old) === canonical(value)
  const names = Object.keys(value)
  return (
    names.length === Object.keys(old).length &&
    names.every((name) => {
      const of = propertyOf(schema, name) ?? additionalOf(schema)
      return Object.hasOwn(old, name) && isSame(old[name], value[name], of ?? {})
    })
  )
}
