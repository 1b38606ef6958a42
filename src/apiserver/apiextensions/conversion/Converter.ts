/**
 * What a definition with the strategy `Webhook` says of its conversion: whom to ask, and what the forms of its objects are. Objects are
 * kept in the storage version of the time at which they were written, and are read in the version that a path names. Pure.
 */
import { addressOf } from "../../webhook/call.ts"
import { arrayAt, at, numberAt, objectAt, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import type { Converter } from "../../scheme/ResourceDefinition.ts"

/** Seconds that a webhook has. Source: the reference server, which says so in the address. */
export const timeoutSeconds = 30

/** The version that objects are written in from now on. */
export const storageVersionOf = (definition: JsonObject): string =>
  textAt(
    arrayAt(definition, "spec", "versions").find((one) => at(one, "storage") === true),
    "name"
  )

/** Undefined where versions differ in their name alone. */
export const of = (definition: JsonObject): Converter | undefined => {
  const conversion = objectAt(definition, "spec", "conversion")
  if (textAt(conversion, "strategy") !== "Webhook") return undefined
  const understood = arrayAt(conversion, "webhook", "conversionReviewVersions")
  return {
    id: `${textAt(definition, "metadata", "uid")}/${numberAt(definition, "metadata", "generation")}`,
    group: textAt(definition, "spec", "group"),
    kind: textAt(definition, "spec", "names", "kind"),
    storageVersion: storageVersionOf(definition),
    schemas: new Map(
      arrayAt(definition, "spec", "versions").map((one) => [
        textAt(one, "name"),
        objectAt(one, "schema", "openAPIV3Schema") ?? {}
      ])
    ),
    reviewVersion: understood.find((one) => one === "v1" || one === "v1beta1"),
    address: addressOf(objectAt(conversion, "webhook", "clientConfig"), timeoutSeconds)
  }
}
