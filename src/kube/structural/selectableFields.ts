/**
 * The fields by which clients may select custom resources (`selectableFields` of a version): paths of members whose values are texts, integers
 * or booleans. A path has no lists and no quotes, so the name of a field in a selector is its path without the first dot. Source:
 * apiextensions-apiserver, pkg/apis/apiextensions/validation: ValidateCustomResourceSelectableFields, and KEP-4358.
 */
import * as Result from "effect/Result"
import { isMembers, member } from "./StructuralSchema.ts"
import type { Cause, StructuralSchema } from "./StructuralSchema.ts"

/** Maximum number of different fields of a version. */
const most = 8

/** Types of a selectable field; a text may have a format or an enumeration. */
const scalars = new Set(["string", "boolean", "integer"])

/** What is wrong with the paths of a version, for the field `place`; `mayExceed` allows more than eight, which an update may have found so. */
export const check = (
  paths: ReadonlyArray<string>,
  schema: StructuralSchema,
  place: string,
  mayExceed = false
): ReadonlyArray<Cause> => {
  const seen = new Set<string>()
  const causes = paths.flatMap((path, index) => causesOf(path, schema, `${place}[${index}].jsonPath`, seen))
  if (seen.size <= most || mayExceed) return causes
  const message = `Too many: ${seen.size}: must have at most ${most} items`
  return [...causes, { field: place, reason: "FieldValueTooMany", message }]
}

const causesOf = (path: string, schema: StructuralSchema, field: string, seen: Set<string>): ReadonlyArray<Cause> => {
  const invalid = (detail: string): Cause => ({
    field,
    reason: "FieldValueInvalid",
    message: `Invalid value: ${JSON.stringify(path)}: ${detail}`
  })
  if (path === "") return [{ field, reason: "FieldValueRequired", message: "Required value" }]
  const found = follow(path, schema)
  if (Result.isFailure(found)) return [invalid(`is an invalid path: ${found.failure}`)]
  const causes: Array<Cause> = []
  if (/^\.metadata(\.|$)/.test(path)) causes.push(invalid("must not point to fields in metadata"))
  if (!scalars.has(found.success.type ?? "")) {
    const types = "type string, boolean or integer. Enum string fields and strings with formats are allowed."
    causes.push(invalid(`must point to a field of ${types}`))
  }
  if (seen.has(path)) {
    causes.push({ field, reason: "FieldValueDuplicate", message: `Duplicate value: ${JSON.stringify(path)}` })
  }
  seen.add(path)
  return causes
}

/** The schema at a path, or why there is none, in the words of schema/cel: ValidFieldPath. */
const follow = (path: string, root: StructuralSchema): Result.Result<StructuralSchema, string> => {
  let schema: StructuralSchema | undefined = root
  // Delimiters and the texts between them.
  const tokens = path.match(/[.[\]]|[^.[\]]+/g) ?? []
  for (let at = 0; at < tokens.length; at += 2) {
    const [delimiter = "", name] = [tokens[at], tokens[at + 1]]
    if (delimiter === "[") return Result.fail("array notation is not allowed")
    if (delimiter !== ".") return Result.fail(`expected [ or . but got: ${delimiter}`)
    if (name === undefined) return Result.fail("unexpected end of JSON path")
    schema = childOf(schema, name)
    if (schema === undefined) return Result.fail("does not refer to a valid field")
  }
  return Result.succeed(schema)
}

const childOf = (
  { additionalProperties, properties }: StructuralSchema,
  name: string
): StructuralSchema | undefined => {
  const found = properties === undefined ? additionalProperties : member(properties, name)
  return isMembers(found) ? found : undefined
}
