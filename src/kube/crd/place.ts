/** Where a walk over a Schema or an object is, and what it found that cannot be said. */
import type * as SchemaAST from "effect/SchemaAST"
import type { StructuralSchema } from "../structural/StructuralSchema.ts"

/** What cannot be said in a definition, and where it is. */
export interface Refusal {
  /** `spec.members[].when`. */
  readonly path: string
  readonly why: string
}

export interface Place {
  readonly path: string
  /** The suspended schemas that are being written out: one that comes again has no end. */
  readonly inside: ReadonlyArray<SchemaAST.AST>
  readonly refuse: (path: string, why: string) => StructuralSchema
}

/** The way to a value inside an object, as people write it: `spec.members[0].name`, `metadata.labels["a.b/c"]`. Empty for the whole. */
export const at = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>((text, part) => below(text, part), "")

/** One step further: a field, or an element where the step is a number. */
export const below = (path: string, part: PropertyKey): string => {
  if (typeof part === "number") return `${path}[${part}]`
  const name = String(part)
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === "" ? name : `${path}.${name}`
}
