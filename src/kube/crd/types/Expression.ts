/**
 * The part of TypeScript that generated modules consist of, as a tree. It can be printed as source and evaluated, so that what is printed can
 * be tested without a compiler. Every text in it is data from a definition that anybody may have written; only the printer makes source of it.
 */

export type Expression =
  /** A name of the module, or a member of an imported one: `Schema.String`. */
  | { readonly _tag: "Name"; readonly name: string }
  /** JSON, printed as a literal. */
  | { readonly _tag: "Data"; readonly value: unknown; readonly isConst?: boolean }
  /** A regular expression whose source is exactly this text. */
  | { readonly _tag: "Pattern"; readonly source: string }
  | { readonly _tag: "Fields"; readonly fields: ReadonlyArray<readonly [string, Expression]> }
  | { readonly _tag: "List"; readonly items: ReadonlyArray<Expression> }
  /** `name` is a method of `of`, or of nothing: then it is a name as above. */
  | {
      readonly _tag: "Call"
      readonly of?: Expression | undefined
      readonly name: string
      readonly args: ReadonlyArray<Expression>
    }

export const name = (text: string): Expression => ({ _tag: "Name", name: text })

export const data = (value: unknown): Expression => ({ _tag: "Data", value })

/** With `as const`, so that its type is that of the value. */
export const literal = (value: unknown): Expression => ({ _tag: "Data", value, isConst: true })

export const fields = (all: ReadonlyArray<readonly [string, Expression]>): Expression => ({
  _tag: "Fields",
  fields: all
})

export const list = (items: ReadonlyArray<Expression>): Expression => ({ _tag: "List", items })

export const call = (name: string, ...args: ReadonlyArray<Expression>): Expression => ({ _tag: "Call", name, args })

export const method = (of: Expression, name: string, ...args: ReadonlyArray<Expression>): Expression => ({
  _tag: "Call",
  of,
  name,
  args
})

/** One exported or local constant of a module, and the type of the same name. */
export interface Declaration {
  readonly name: string
  readonly value: Expression
  /** What the value is: the Schema of an object whose fields are all known, another Schema, or a resource. */
  readonly type: "struct" | "schema" | "resource"
  /** Whether it is exported, and a type of the same name with it. */
  readonly isExported: boolean
}
