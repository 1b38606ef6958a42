/** The spec of an object, empty where there is none: rules are total. */
import { objectAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"

const nothing: JsonObject = {}

export const specOf = (object: JsonObject): JsonObject => objectAt(object, "spec") ?? nothing
