/** Paths inside a Schema or an object, and what was found there that a definition cannot express. */
import type * as SchemaAST from "effect/SchemaAST"
import type { StructuralSchema } from "../structural/StructuralSchema.ts"

/** What a definition cannot express, and where it is. */
export interface Refusal {
  /** `spec.members[].when`. */
  readonly path: string
  readonly why: string
}

export interface Place {
  readonly path: string
  /** The suspended schemas around this place: one that contains itself is recursive. */
  readonly inside: ReadonlyArray<SchemaAST.AST>
  readonly refuse: (path: string, why: string) => StructuralSchema
}

/** The path of a value inside an object: `spec.members[0].name`, `metadata.labels["a.b/c"]`. Empty for the whole. */
export const formatPath = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>((text, part) => childPath(text, part), "")

/** The path of a field, or of an element where the part is a number. */
export const childPath = (path: string, part: PropertyKey): string => {
  if (typeof part === "number") return `${path}[${part}]`
  const name = String(part)
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === "" ? name : `${path}.${name}`
}
