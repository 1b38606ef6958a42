/**
 * Whether a value is one that a schema allows, in the words in which the reference server refuses it: people and tests match on these
 * texts. Total: any JSON can be asked of any schema, and every fault found is told. Rules in CEL are not evaluated. Work
 * is in proportion to the value, times the alternatives of `anyOf` and its like.
 * Source: apiextensions-apiserver validation, on kube-openapi.
 */
import { repeated } from "./lists.ts"
import type { Cause, StructuralSchema } from "./StructuralSchema.ts"
import { faults } from "./faults.ts"

/**
 * Every way in which the value breaks the schema, none for a good one. The path is empty for a whole object, of which apiVersion, kind and
 * metadata are somebody else's to look at.
 */
export const validate = (schema: StructuralSchema, value: unknown, path = ""): ReadonlyArray<Cause> => {
  const found = faults(schema, value, path)
  return [...found, ...repeated(schema, value, path)]
}
