/**
 * Whether the API server accepts the rules of a schema when its CustomResourceDefinition is written: they compile, their worst costs are
 * within the limits, each alone and all together, and they read an old value only where there can be one.
 * Source: apiextensions-apiserver pkg/apis/apiextensions/validation ValidateCustomResourceDefinitionOpenAPISchema, cel_validation.go.
 */
import * as Result from "effect/Result"
import * as fieldErrors from "../../structural/fieldErrors.ts"
import { additionalOf } from "../../structural/StructuralSchema.ts"
import type { Cause, StructuralSchema } from "../../structural/StructuralSchema.ts"
import * as Cel from "../Cel.ts"
import { declare } from "../declare.ts"
import { compileRules, rulesOf } from "./rules.ts"
import type { Compiled, Rule } from "./rules.ts"

/** The worst cost of one expression, times how often its value can be there, and of all expressions of a definition. */
const expressionLimit = 10_000_000
const definitionLimit = 100_000_000

/** The largest request. */
const request = 3 * 1024 * 1024

interface Place {
  readonly path: string
  readonly isResource: boolean
  /** How many such values an object can have; undefined where there is no bound. */
  readonly count: number | undefined
  /** The part of the schema inside of which values have no old ones. */
  readonly uncorrelated: string | undefined
}

interface Found {
  readonly schema: Array<Cause>
  readonly rules: Array<Cause>
  readonly costs: Array<{ readonly field: string; readonly cost: number }>
  /** Of one expression. */
  readonly limit: number
}

/**
 * The errors of all rules of a schema that is structural. An expression of a schema that an update does not change may cost more than its limit:
 * an older server may have accepted it.
 */
export const checkRules = (schema: StructuralSchema, path: string, isUnchanged = false): ReadonlyArray<Cause> => {
  const found: Found = { schema: [], rules: [], costs: [], limit: isUnchanged ? Infinity : expressionLimit }
  visit(schema, { path, isResource: true, count: 1, uncorrelated: undefined }, found)
  const total = found.costs.reduce((sum, { cost }) => sum + cost, 0)
  const causes = [...found.schema, ...found.rules]
  if (total <= definitionLimit) return causes
  const expensive = found.costs.filter(({ cost }) => cost >= definitionLimit / 100).toSorted((a, b) => b.cost - a.cost)
  for (const { field } of expensive.slice(0, 4)) {
    causes.push(
      fieldErrors.forbidden(
        field,
        "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
      )
    )
  }
  const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
  causes.push(fieldErrors.forbidden(path, tooExpensive(what, total, definitionLimit)))
  return causes
}

const visit = (schema: StructuralSchema, place: Place, found: Found): void => {
  const before = found.schema.length
  const { path, uncorrelated } = place
  const count = multiplied(place.count, mostElements(schema))
  const below = (of: StructuralSchema, name: string, without = uncorrelated): void => {
    const isResource = of["x-kubernetes-embedded-resource"] === true
    visit(of, { path: `${path}.${name}`, isResource, count, uncorrelated: without }, found)
  }
  const additional = additionalOf(schema)
  if (additional !== undefined) below(additional, "additionalProperties")
  for (const [name, of] of Object.entries(schema.properties ?? {})) below(of, `properties[${name}]`)
  // Elements have old ones only in lists that are maps.
  const isMap = schema["x-kubernetes-list-type"] === "map"
  if (schema.items !== undefined) below(schema.items, "items", isMap ? uncorrelated : (uncorrelated ?? path))
  const rules = rulesOf(schema)
  if (rules.length === 0) return
  for (const [index, rule] of rules.entries()) {
    found.schema.push(...textCauses(rule, `${path}.x-kubernetes-validations[${index}]`))
  }
  const compiled = compileRules(schema, place.isResource)
  for (const [index, { field, rule }] of compiled.entries()) {
    if (rule.fieldPath === "" || field !== undefined) continue
    const at = `${path}.x-kubernetes-validations[${index}].fieldPath`
    found.schema.push(fieldErrors.invalid(at, rule.fieldPath, "must be a valid path"))
  }
  // Rules are compiled only where the schema is in order.
  if (found.schema.length > before) return
  const declared = declare(schema, "selfType", place.isResource)
  if (declared === undefined) {
    const detail = "internal error: failed to retrieve type information for x-kubernetes-validations"
    found.rules.push({
      field: `${path}.x-kubernetes-validations`,
      reason: "InternalError",
      message: `Internal error: ${detail}`
    })
    return
  }
  const times = place.count ?? Math.floor(request / (declared.least + 1))
  for (const [index, rule] of compiled.entries()) {
    ruleCauses(rule, { ...place, path: `${path}.x-kubernetes-validations[${index}]`, count: times }, found)
  }
}

/** By how much a schema multiplies the values inside of it. */
const mostElements = (schema: StructuralSchema): number | undefined => {
  if (schema.type === "array") return schema.maxItems
  return schema.type === "object" && schema.additionalProperties !== undefined ? schema.maxProperties : 1
}

const multiplied = (count: number | undefined, by: number | undefined): number | undefined =>
  count === undefined || by === undefined ? undefined : count * Math.max(0, by)

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"]

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text)

/** What is wrong with the texts of a rule. */
const textCauses = (rule: Rule, path: string): ReadonlyArray<Cause> => {
  const causes: Array<Cause> = []
  const message = rule.message.trim()
  const text = rule.rule.trim()
  if (text === "") causes.push(fieldErrors.required(`${path}.rule`, "rule is not specified"))
  else if (rule.message !== "" && message === "") {
    causes.push(fieldErrors.invalid(`${path}.message`, rule.message, "must be non-empty if specified"))
  } else if (hasLineBreak(message)) {
    causes.push(fieldErrors.invalid(`${path}.message`, rule.message, "must not contain line breaks"))
  } else if (hasLineBreak(text) && message === "") {
    const detail = "message must be specified if rule contains line breaks"
    causes.push(fieldErrors.required(`${path}.message`, detail))
  }
  if (rule.messageExpression !== "" && rule.messageExpression.trim() === "") {
    const detail = "messageExpression must be non-empty if specified"
    causes.push(fieldErrors.required(`${path}.messageExpression`, detail))
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    causes.push(fieldErrors.notSupported(`${path}.reason`, rule.reason, reasons))
  }
  if (rule.fieldPath !== "" && rule.fieldPath.trim() === "") {
    causes.push(fieldErrors.invalid(`${path}.fieldPath`, rule.fieldPath, "must be non-empty if specified"))
  }
  if (hasLineBreak(rule.fieldPath)) {
    causes.push(fieldErrors.invalid(`${path}.fieldPath`, rule.fieldPath, "must not contain line breaks"))
  }
  return causes
}

const ruleCauses = (
  { isTransition, message, program, rule }: Compiled,
  { count, path, uncorrelated }: Place,
  { costs, limit, rules }: Found
): void => {
  const field = `${path}.rule`
  if (program === undefined) return
  if (Result.isFailure(program)) {
    rules.push(invalidRule(field, rule, program.failure))
    return
  }
  const cost = Cel.worstCost(program.success) * (count ?? 1)
  if (cost > limit) {
    rules.push(fieldErrors.forbidden(field, tooExpensive("estimated rule cost", cost, expressionLimit)))
  }
  costs.push({ field, cost })
  if (message !== undefined && Result.isFailure(message)) {
    rules.push(invalidRule(`${path}.messageExpression`, rule, message.failure))
  } else if (message !== undefined) {
    const at = `${path}.messageExpression`
    const of = Cel.worstCost(message.success)
    if (of > limit) {
      rules.push(fieldErrors.forbidden(at, tooExpensive("estimated messageExpression cost", of, expressionLimit)))
    }
    costs.push({ field: at, cost: of })
  }
  if (isTransition && uncorrelated !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`
    rules.push(fieldErrors.invalid(field, rule.rule, detail))
  } else if (!isTransition && rule.optionalOldSelf !== undefined) {
    const detail = "may not be set if oldSelf is not used in rule"
    rules.push(fieldErrors.invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, detail))
  }
}

/** The server shows the rule with the names of its own type, in Go's JSON. */
const invalidRule = (field: string, rule: Rule, detail: string): Cause => {
  const shown = JSON.stringify({
    Rule: rule.rule,
    Message: rule.message,
    MessageExpression: rule.messageExpression,
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath,
    OptionalOldSelf: rule.optionalOldSelf ?? null
  }).replaceAll(/[&<>]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)
  return { field, reason: "FieldValueInvalid", message: `Invalid value: ${shown}: ${detail}` }
}

const tooExpensive = (what: string, cost: number, limit: number): string => {
  const times = cost / limit
  const factor = times > 100 ? "more than 100x" : times < 1.5 ? `${times.toFixed(6)}x` : `${times.toFixed(1)}x`
  const advice =
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
  return `${what} exceeds budget by factor of ${factor} ${advice}`
}
