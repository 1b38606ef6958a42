/**
 * ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding, and the match conditions of webhooks: their structure, and that their expressions
 * compile. Source: pkg/apis/admissionregistration/validation.
 */
import * as Result from "effect/Result"
import * as environment from "../../../kube/admissionExpressions.ts"
import type { Extras, Results } from "../../../kube/admissionExpressions.ts"
import { arrayAt, at, equal, get, isObject, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as names from "../names.ts"
import { duplicate, forbidden, invalid, notSupported, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import * as rules from "./webhookRules.ts"

export const newPolicy = (errors: Errors, object: JsonObject): void => policy(errors, object, true)

/** Match conditions that are as they were are valid. */
export const policyUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const isSame = (key: string) => equal(at(object, "spec", key), at(before, "spec", key))
  policy(errors, object, !isSame("paramKind") || !isSame("matchConditions"))
}

const policy = (errors: Errors, object: JsonObject, hasConditions: boolean): void => {
  const spec = objectAt(object, "spec") ?? {}
  oneOf(errors, "spec.failurePolicy", get(spec, "failurePolicy"), ["Fail", "Ignore"])
  const kind = get(spec, "paramKind")
  if (kind !== undefined) paramKind(errors, "spec.paramKind", kind)
  const constraints = get(spec, "matchConstraints")
  if (constraints === undefined) errors.push(required("spec.matchConstraints"))
  else {
    matchResources(errors, "spec.matchConstraints", constraints)
    if (arrayAt(constraints, "resourceRules").length === 0) {
      errors.push(required("spec.matchConstraints.resourceRules"))
    }
  }
  const extras: Extras = { hasParams: kind !== undefined, hasAuthorizer: true }
  if (hasConditions) matchConditions(errors, "spec.matchConditions", arrayAt(spec, "matchConditions"), extras.hasParams)
  const compiler = environment.compiler(extras)
  for (const [index, one] of arrayAt(spec, "variables").entries()) {
    variable(errors, `spec.variables[${index}]`, one, compiler)
  }
  expressions(errors, object, spec, compiler)
}

const expressions = (errors: Errors, object: JsonObject, spec: JsonObject, compiler: environment.Compiler): void => {
  const validations = arrayAt(spec, "validations")
  const annotations = arrayAt(spec, "auditAnnotations")
  if (validations.length === 0 && annotations.length === 0) {
    const detail = "validations or auditAnnotations must contain at least one item"
    errors.push(required("spec.validations", detail), required("spec.auditAnnotations", detail))
    return
  }
  for (const [index, one] of validations.entries()) validation(errors, `spec.validations[${index}]`, one, compiler)
  if (annotations.length > mostAnnotations) {
    const detail = `must not have more than ${mostAnnotations} auditAnnotations`
    errors.push(invalid("spec.auditAnnotations", [...annotations], detail))
  }
  const keys = new Set<string>()
  for (const [index, one] of annotations.entries()) {
    const field = `spec.auditAnnotations[${index}]`
    auditAnnotation(errors, field, one, { compiler, policy: textAt(object, "metadata", "name") })
    const key = textAt(one, "key")
    if (keys.has(key)) errors.push(duplicate(`${field}.key`, key))
    keys.add(key)
  }
}

const mostAnnotations = 20

/** Bytes of the expression of an audit annotation. */
const mostExpression = 5 * 1024

/** The same, required. */
const oneOf = (errors: Errors, field: string, value: Json | undefined, supported: ReadonlyArray<string>): void => {
  if (value === undefined || value === "") errors.push(required(field))
  else if (typeof value !== "string" || !supported.includes(value)) errors.push(notSupported(field, value, supported))
}

const paramKind = (errors: Errors, field: string, kind: Json): void => {
  const apiVersion = textAt(kind, "apiVersion")
  const parts = apiVersion.split("/")
  const [group, version] = parts.length === 1 ? ["", parts[0] ?? ""] : [parts[0] ?? "", parts[1] ?? ""]
  const at = `${field}.apiVersion`
  if (apiVersion === "") errors.push(required(at))
  else if (parts.length > 2) errors.push(invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  else {
    pushJoined(errors, at, group, group === "" ? [] : formats.dnsSubdomain(group))
    if (version === "") errors.push(invalid(at, apiVersion, "version must be specified"))
    else pushJoined(errors, at, version, names.objectName({ nameRule: "service" }, version))
  }
  const name = textAt(kind, "kind")
  if (name === "") errors.push(required(`${field}.kind`))
  else {
    const details = names.objectName({ nameRule: "service" }, name.toLowerCase())
    if (details.length > 0) {
      errors.push(
        invalid(`${field}.kind`, name, `may have mixed case, but should otherwise match: ${details.join(",")}`)
      )
    }
  }
}

const pushJoined = (errors: Errors, field: string, value: string, details: ReadonlyArray<string>): void => {
  if (details.length > 0) errors.push(invalid(field, value, details.join(",")))
}

const matchResources = (errors: Errors, field: string, value: Json): void => {
  oneOf(errors, `${field}.matchPolicy`, at(value, "matchPolicy"), ["Equivalent", "Exact"])
  for (const key of ["namespaceSelector", "objectSelector"]) {
    const selector = at(value, key)
    if (selector === undefined) errors.push(required(`${field}.${key}`))
    else formats.labelSelector(errors, `${field}.${key}`, selector)
  }
  for (const key of ["resourceRules", "excludeResourceRules"]) {
    for (const [index, one] of arrayAt(value, key).entries()) namedRule(errors, `${field}.${key}[${index}]`, one)
  }
}

const namedRule = (errors: Errors, field: string, rule: Json): void => {
  const seen = new Set<Json>()
  for (const [index, name] of arrayAt(rule, "resourceNames").entries()) {
    const path = `${field}.resourceNames[${index}]`
    pushAll(errors, path, name, names.objectName({ nameRule: "path" }, typeof name === "string" ? name : ""))
    if (seen.has(name)) errors.push(duplicate(path, name))
    seen.add(name)
  }
  rules.rule(errors, field, rule)
}

/** Maximum number of match conditions of a webhook or a policy. */
const mostConditions = 64

export const matchConditions = (
  errors: Errors,
  field: string,
  conditions: ReadonlyArray<Json>,
  hasParams: boolean
): void => {
  if (conditions.length > mostConditions) {
    const message = `Too many: ${conditions.length}: must have at most ${mostConditions} items`
    errors.push({ field, reason: "FieldValueTooMany", message })
  }
  const seen = new Set<string>()
  for (const [index, one] of conditions.entries()) {
    const [name, expression] = [textAt(one, "name"), textAt(one, "expression").trim()]
    const path = `${field}[${index}]`
    if (expression === "") errors.push(required(`${path}.expression`))
    else {
      const extras = { hasParams, hasAuthorizer: true }
      compiled(errors, `${path}.expression`, expression, environment.compile(expression, extras, ["bool"]))
    }
    if (name === "") errors.push(required(`${path}.name`))
    else pushAll(errors, `${path}.name`, name, names.qualified(name))
    if (name !== "" && seen.has(name)) errors.push(duplicate(`${path}.name`, name))
    seen.add(name)
  }
}

const compiled = (errors: Errors, field: string, text: string, result: environment.Compiled): void => {
  if (Result.isFailure(result)) errors.push(invalid(field, text, result.failure))
}

const reserved: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " "
  )
)

const isIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name)

const variable = (errors: Errors, field: string, value: Json, compiler: environment.Compiler): void => {
  const [name, expression] = [textAt(value, "name"), textAt(value, "expression")]
  if (name.trim() === "") errors.push(required(`${field}.name`, "name is not specified"))
  else if (!isIdentifier(name)) errors.push(invalid(`${field}.name`, name, "must be a valid CEL identifier"))
  if (expression.trim() === "") errors.push(required(`${field}.expression`, "expression is not specified"))
  else compiled(errors, `${field}.expression`, expression, compiler.addVariable(name, expression))
}

const hasLineBreaks = (text: string): boolean => /[\n\r]/.test(text)

const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"]

const validation = (errors: Errors, field: string, value: Json, compiler: environment.Compiler): void => {
  const check = (key: string, text: string, results: Results, extras?: Partial<Extras>) =>
    compiled(errors, `${field}.${key}`, text, compiler.compile(text, results, extras))
  const [expression, made, message] = ["expression", "messageExpression", "message"].map((key) => textAt(value, key))
  if (expression === undefined || expression.trim() === "") {
    errors.push(required(`${field}.expression`, "expression is not specified"))
  } else check("expression", expression, ["bool"])
  const empty = "must be non-empty if specified"
  if (made !== undefined && made !== "") {
    if (made.trim() === "") errors.push(invalid(`${field}.messageExpression`, made, empty))
    else check("messageExpression", made, ["string"], { hasAuthorizer: false })
  }
  if (message !== undefined && message !== "") {
    if (message.trim() === "") errors.push(invalid(`${field}.message`, message, empty))
    else if (hasLineBreaks(message.trim())) {
      errors.push(invalid(`${field}.message`, message, "must not contain line breaks"))
    }
  }
  const reason = at(value, "reason")
  if (reason !== undefined && !(typeof reason === "string" && reasons.includes(reason))) {
    errors.push(notSupported(`${field}.reason`, reason, reasons))
  }
}

interface Annotated {
  readonly compiler: environment.Compiler
  /** The name of the policy. */
  readonly policy: string
}

const auditAnnotation = (errors: Errors, field: string, value: Json, { compiler, policy }: Annotated): void => {
  const key = textAt(value, "key")
  if (policy === "") errors.push(invalid(`${field}.key`, key, "requires metadata.name be non-empty"))
  else pushAll(errors, `${field}.key`, `${policy}/${key}`, names.qualified(`${policy}/${key}`))
  const text = textAt(value, "valueExpression")
  const trimmed = text.trim()
  const path = `${field}.valueExpression`
  if (trimmed === "") errors.push(required(path, "valueExpression is not specified"))
  else if (new TextEncoder().encode(trimmed).length > mostExpression) {
    errors.push(required(path, `must not exceed ${mostExpression} bytes in length`))
  } else compiled(errors, path, text, compiler.compile(trimmed, ["string", "null"]))
}

const actions = ["Audit", "Deny", "Warn"]

export const binding = (errors: Errors, object: JsonObject): void => {
  const spec = objectAt(object, "spec") ?? {}
  const name = textAt(spec, "policyName")
  if (name === "") errors.push(required("spec.policyName"))
  else pushAll(errors, "spec.policyName", name, formats.dnsSubdomain(name))
  const ref = get(spec, "paramRef")
  if (isObject(ref)) paramRef(errors, "spec.paramRef", ref)
  const match = get(spec, "matchResources")
  if (match !== undefined) matchResources(errors, "spec.matchResources", match)
  validationActions(errors, "spec.validationActions", arrayAt(spec, "validationActions"))
}

const validationActions = (errors: Errors, field: string, list: Array<Json>): void => {
  const seen = new Set<Json>()
  for (const [index, action] of list.entries()) {
    const path = `${field}[${index}]`
    if (typeof action !== "string" || !actions.includes(action)) errors.push(notSupported(path, action, actions))
    if (seen.has(action)) errors.push(duplicate(path, action))
    seen.add(action)
  }
  if (seen.has("Deny") && seen.has("Warn")) {
    const detail =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)"
    errors.push(invalid(field, list, detail))
  }
  if (list.length === 0) errors.push(required(field, "at least one validation action is required"))
}

const paramRef = (errors: Errors, field: string, ref: JsonObject): void => {
  const name = textAt(ref, "name")
  const selector = get(ref, "selector")
  const exclusive = "name and selector are mutually exclusive"
  if (name !== "") {
    pushAll(errors, `${field}.name`, name, names.objectName({ nameRule: "path" }, name))
    if (selector !== undefined) errors.push(forbidden(`${field}.name`, exclusive))
  }
  if (selector !== undefined) {
    formats.labelSelector(errors, `${field}.selector`, selector)
    if (name !== "") errors.push(forbidden(`${field}.selector`, exclusive))
  }
  if (name === "" && selector === undefined) errors.push(required(field, "one of name or selector must be specified"))
  oneOf(errors, `${field}.parameterNotFoundAction`, get(ref, "parameterNotFoundAction"), ["Deny", "Allow"])
}

/** The type warnings of a policy, which its controller writes. */
export const policyStatus = (errors: Errors, object: JsonObject): void => {
  for (const [index, one] of arrayAt(object, "status", "typeChecking", "expressionWarnings").entries()) {
    for (const key of ["warning", "fieldRef"]) {
      if (textAt(one, key).trim() === "") {
        errors.push(required(`status.typeChecking.expressionWarnings[${index}].${key}`))
      }
    }
  }
}
