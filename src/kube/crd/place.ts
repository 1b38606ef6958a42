/** Where a walk over a Schema is, and what it found that cannot be said: what the modules that write structural schemas share. */
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
