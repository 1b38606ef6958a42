/**
 * Objects of custom kinds: the schema of their definition. An update may leave what it does not touch as it is, though a schema that has
 * become stricter would refuse it now. Source: apiextensions-apiserver, registry/customresource, and its ratcheting.
 */
import * as Definition from "../../apiextensions/Definition.ts"
import { equal } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import type { ResourceDefinition } from "../../scheme/ResourceDefinition.ts"
import type { Errors } from "./field.ts"

export const check = (
  errors: Errors,
  resource: ResourceDefinition,
  object: JsonObject,
  before: JsonObject | undefined
): void => {
  const { customResource: custom } = resource
  if (custom === undefined) return
  const found = Definition.faultsOf(resource, custom, object)
  if (found.length === 0) return
  const old = before === undefined ? [] : Definition.faultsOf(resource, custom, before)
  for (const cause of found) {
    const isOld = old.some((one) => one.field === cause.field && one.message === cause.message)
    const isUntouched =
      isOld &&
      before !== undefined &&
      equal(Definition.valueAt(object, cause.field), Definition.valueAt(before, cause.field))
    if (!isUntouched) errors.push(cause)
  }
}
