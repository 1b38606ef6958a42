/**
 * The syntax tree of an expression, with macros already expanded into comprehensions, and the faults of an expression as the API server
 * reports them. Every node has an identity, by which the checker records what it found. Source: cel-go common/ast, common/errors.go.
 */
import type { Uint } from "../Value.ts"

export type Literal = bigint | boolean | null | number | string | Uint | Uint8Array

interface Node {
  readonly id: number
  /** The offset in the text, in UTF-16 units. */
  readonly at: number
  /** How deeply the tree below is nested; bounds every recursion over it. */
  readonly depth: number
}

export interface Ident extends Node {
  readonly kind: "ident"
  readonly name: string
}

export interface Select extends Node {
  readonly kind: "select"
  readonly operand: Expr
  readonly field: string
  /** Whether the field is there, instead of its value: `has(a.b)`. */
  readonly isTest: boolean
}

export interface Call extends Node {
  readonly kind: "call"
  readonly name: string
  readonly target: Expr | undefined
  readonly args: ReadonlyArray<Expr>
}

export interface Entry {
  readonly key: Expr
  readonly value: Expr
  readonly isOptional: boolean
}

export interface Comprehension extends Node {
  readonly kind: "comprehension"
  readonly range: Expr
  readonly variable: string
  /** In a comprehension of two variables the second, which has the value; the first has the index or the key. */
  readonly second: string | undefined
  readonly accumulator: string
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

export type Expr =
  | (Node & { readonly kind: "literal"; readonly value: Literal })
  | Ident
  | Select
  | Call
  | (Node & {
      readonly kind: "list"
      readonly elements: ReadonlyArray<Expr>
      readonly optionals: ReadonlySet<number>
    })
  | (Node & { readonly kind: "map"; readonly entries: ReadonlyArray<Entry> })
  | (Node & { readonly kind: "struct"; readonly name: string; readonly fields: ReadonlyArray<readonly [string, Expr]> })
  | Comprehension

/** What is wrong, and where. */
export interface Fault {
  readonly at: number
  readonly message: string
}

/** A node before it is made. */
export type Shape = Expr extends infer One ? (One extends Expr ? Omit<One, "at" | "depth" | "id"> : never) : never

/** Makes nodes, with a bound on their nesting. */
export interface Factory {
  readonly make: (at: number, shape: Shape) => Expr
  readonly fail: (at: number, message: string) => Expr
}

/** `a.b.c` as one name, if the tree is nothing else. */
export const qualifiedName = (expr: Expr): string | undefined => {
  if (expr.kind === "ident") return expr.name
  if (expr.kind !== "select" || expr.isTest) return undefined
  const operand = qualifiedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}

/** How many faults are shown. */
const limit = 100

/** The text of all faults, each with the line it is in and a mark below the column. */
export const display = (text: string, faults: ReadonlyArray<Fault>): string => {
  const sorted = [...faults].sort((one, other) => one.at - other.at)
  const shown = sorted.slice(0, limit).map((fault) => displayOne(text, fault))
  if (sorted.length > limit) shown.push(`${sorted.length - limit} more errors were truncated`)
  return shown.join("\n")
}

const displayOne = (text: string, { at, message }: Fault): string => {
  const before = text.slice(0, at).split("\n")
  const start = at - (before.at(-1) ?? "").length
  const end = text.indexOf("\n", start)
  const line = text.slice(start, end === -1 ? undefined : end)
  const column = Array.from(text.slice(start, at)).length
  const marks = Array.from(text.slice(start, at), (one) => (one.charCodeAt(0) < 128 ? "." : "．")).join("")
  return `ERROR: <input>:${before.length}:${column + 1}: ${message}\n | ${line.replaceAll("\t", " ")}\n | ${marks}^`
}
