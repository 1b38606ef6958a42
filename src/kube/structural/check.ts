/**
 * Whether a schema is one that the API server accepts for a custom resource: structural, and without what it forbids. What is wrong is
 * told in the server's words, with the path inside of the CustomResourceDefinition. Total: a schema may be any JSON.
 * Source: apiextensions-apiserver, schema and apis/apiextensions/validation.
 */
import { forbidden } from "./check/forbidden.ts"
import { malformed } from "./check/malformed.ts"
import { structure } from "./check/structure.ts"
import type { Cause, StructuralSchema } from "./StructuralSchema.ts"

/** Everything that the server would refuse; none for a schema it takes. The path is where the schema stands. */
export const check = (schema: unknown, path: string): ReadonlyArray<Cause> => {
  const wrong = malformed(schema, path)
  if (wrong.length > 0) return wrong
  const read = schema as StructuralSchema
  const strange = forbidden(read, path)
  // What is not of the API is not asked whether it is structural.
  return strange.length > 0 ? strange : structure(read, path)
}
