/** Defaults of webhooks. Source: admissionregistration/v1 defaults of the reference server. */
import { objectAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import { absent, objects } from "./fill.ts"

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
