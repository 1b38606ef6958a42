/**
 * Defaults of webhook configurations, admission policies and CustomResourceDefinitions. Source: the defaults of admissionregistration/v1 and
 * apiextensions/v1.
 */
import { ensureObject, objectAt, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import { absent, empty, objects, specOf } from "./fill.ts"

const hook = {
  failurePolicy: "Fail",
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10
} as const

export const validatingWebhooks = (object: JsonObject): void => {
  for (const one of objects(object, "webhooks")) {
    absent(one, hook)
    for (const rule of objects(one, "rules")) absent(rule, { scope: "*" })
    const service = objectAt(one, "clientConfig", "service")
    if (service !== undefined) absent(service, { port: 443 })
  }
}

export const mutatingWebhooks = (object: JsonObject): void => {
  validatingWebhooks(object)
  for (const one of objects(object, "webhooks")) absent(one, { reinvocationPolicy: "Never" })
}

const matchResources = { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} } as const

const completeMatch = (match: JsonObject | undefined): void => {
  if (match === undefined) return
  absent(match, matchResources)
  for (const list of ["resourceRules", "excludeResourceRules"])
    for (const rule of objects(match, list)) absent(rule, { scope: "*" })
}

export const admissionPolicy = (object: JsonObject): void => {
  const spec = specOf(object)
  absent(spec, { failurePolicy: "Fail" })
  completeMatch(objectAt(spec, "matchConstraints"))
}

export const admissionPolicyBinding = (object: JsonObject): void =>
  completeMatch(objectAt(object, "spec", "matchResources"))

export const definition = (object: JsonObject): void => {
  const spec = specOf(object)
  absent(spec, { conversion: { strategy: "None" } })
  const names = ensureObject(spec, "names")
  const kind = textAt(names, "kind")
  if (kind !== "") empty(names, { listKind: `${kind}List`, singular: kind.toLowerCase() })
}
