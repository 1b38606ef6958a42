/**
 * ValidatingWebhookConfiguration and MutatingWebhookConfiguration. Source: pkg/apis/admissionregistration/validation, as for
 * objects created in v1.
 */
import { arrayAt, equal, get, isObject, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { matchConditions } from "./admissionPolicies.ts"
import * as clients from "./webhookClients.ts"
import { duplicate, invalid, notSupported, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import * as rules from "./webhookRules.ts"

export const validatingWebhooks = (errors: Errors, object: JsonObject): void => each(errors, object, () => {})

export const mutatingWebhooks = (errors: Errors, object: JsonObject): void =>
  each(errors, object, (hook, path) =>
    oneOf(errors, `${path}.reinvocationPolicy`, get(asObject(hook), "reinvocationPolicy"), ["IfNeeded", "Never"])
  )

export const newConditions = (errors: Errors, object: JsonObject): void => {
  for (const [index, hook] of arrayAt(object, "webhooks").entries()) {
    matchConditions(errors, `webhooks[${index}].matchConditions`, arrayAt(hook, "matchConditions"), false)
  }
}

/** Match conditions that are as they were are valid. */
export const changedConditions = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const of = (one: JsonObject): Json => arrayAt(one, "webhooks").map((hook) => arrayAt(hook, "matchConditions"))
  if (!equal(of(object), of(before))) newConditions(errors, object)
}

const asObject = (value: Json): JsonObject => (isObject(value) ? value : {})

const each = (errors: Errors, object: JsonObject, own: (hook: Json, path: string) => void): void => {
  const seen = new Set<string>()
  for (const [index, hook] of arrayAt(object, "webhooks").entries()) {
    const path = `webhooks[${index}]`
    webhook(errors, path, asObject(hook))
    own(hook, path)
    clients.client(errors, `${path}.clientConfig`, objectAt(hook, "clientConfig") ?? {})
    reviewVersions(errors, `${path}.admissionReviewVersions`, arrayAt(hook, "admissionReviewVersions"))
    const name = textAt(hook, "name")
    if (name !== "" && seen.has(name)) errors.push(duplicate(`${path}.name`, name))
    seen.add(name)
  }
}

const webhook = (errors: Errors, path: string, hook: JsonObject): void => {
  qualifiedName(errors, `${path}.name`, textAt(hook, "name"))
  for (const [index, rule] of arrayAt(hook, "rules").entries()) rules.rule(errors, `${path}.rules[${index}]`, rule)
  oneOf(errors, `${path}.failurePolicy`, get(hook, "failurePolicy"), ["Fail", "Ignore"])
  oneOf(errors, `${path}.matchPolicy`, get(hook, "matchPolicy"), ["Equivalent", "Exact"])
  const effects = get(hook, "sideEffects")
  if (effects === undefined) errors.push(required(`${path}.sideEffects`, "must specify one of None, NoneOnDryRun"))
  else oneOf(errors, `${path}.sideEffects`, effects, ["None", "NoneOnDryRun"])
  const seconds = get(hook, "timeoutSeconds")
  if (typeof seconds === "number" && (seconds < 1 || seconds > 30)) {
    const detail = "the timeout value must be between 1 and 30 seconds"
    errors.push(invalid(`${path}.timeoutSeconds`, seconds, detail))
  }
  for (const selector of ["namespaceSelector", "objectSelector"]) {
    formats.labelSelector(errors, `${path}.${selector}`, get(hook, selector))
  }
}

const oneOf = (errors: Errors, field: string, value: Json | undefined, supported: ReadonlyArray<string>): void => {
  if (value === undefined || (typeof value === "string" && supported.includes(value))) return
  errors.push(notSupported(field, value, supported))
}

const qualifiedName = (errors: Errors, field: string, name: string): void => {
  if (name === "") {
    errors.push(required(field))
    return
  }
  const details = formats.dnsSubdomain(name)
  pushAll(errors, field, name, details)
  if (details.length === 0 && name.split(".").length < 3) {
    errors.push(invalid(field, name, "should be a domain with at least three segments separated by dots"))
  }
}

const reviewVersions = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  if (list.length === 0) errors.push(required(field, `must specify one of ${clients.known.join(", ")}`))
  else clients.reviewVersions(errors, field, list)
}
