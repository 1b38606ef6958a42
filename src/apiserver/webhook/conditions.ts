/**
 * Conditions in CEL (`matchConditions`) are not evaluated here: a webhook that has some is asked as if they held. That errs on the side of
 * asking, so nothing that a webhook would refuse in a cluster gets past it here. Whoever writes such a configuration is told.
 */
import { arrayAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { Plugin } from "../admission/Admission.ts"
import { isExempt } from "./configuration.ts"

export const plugin: Plugin = {
  name: "MatchConditions",
  check: ({ object, target, context }) => {
    if (isExempt(target.kind)) context.warnings.push(...warningsOf(object))
  }
}

const warningsOf = (configuration: JsonObject): ReadonlyArray<string> =>
  arrayAt(configuration, "webhooks").flatMap((hook, index) =>
    arrayAt(hook, "matchConditions").length === 0
      ? []
      : [
          `webhooks[${index}].matchConditions: this server evaluates no CEL: ${JSON.stringify(textAt(hook, "name"))} is called whatever they say`
        ]
  )
