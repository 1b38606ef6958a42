/** The spec of an object, or an empty object: validation has to accept any JSON. */
import { objectAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"

const nothing: JsonObject = {}

export const specOf = (object: JsonObject): JsonObject => objectAt(object, "spec") ?? nothing
