/**
 * From the text of an expression to its tree, by recursive descent with a bound on the nesting, so that no text exhausts the stack. The first
 * fault ends the parse. Positions of nodes are those of cel-go: of an operator, a call or an index that of its sign.
 * Source: cel-go parser/gen/CEL.g4, parser/parser.go.
 */
import type { Entry, Expr, Factory, Fault, Literal, Shape } from "./Expr.ts"
import { integer, words } from "./lexer.ts"
import type { Token } from "./lexer.ts"
import { expand } from "./macros.ts"

/** How deeply expressions may be nested, and the tree as a whole. */
const maxNesting = 250
const maxDepth = 1000
const maxLength = 100_000

export type Parsed = { readonly faults: ReadonlyArray<Fault> } | { readonly expr: Expr }

export const parse = (text: string): Parsed => {
  const length = Array.from(text).length
  if (length > maxLength) {
    const message = `expression code point size exceeds limit: size: ${length}, limit ${maxLength}`
    return { faults: [{ at: 0, message }] }
  }
  const { fault, tokens } = words(text)
  if (fault !== undefined) return { faults: [fault] }
  const parser = new Parser(tokens)
  const expr = parser.whole()
  return parser.faults.length > 0 ? { faults: parser.faults } : { expr }
}

const reserved: ReadonlySet<string> = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" ")
)

const expected =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

class Parser implements Factory {
  readonly faults: Array<Fault> = []
  private position = 0
  private nesting = 0
  private id = 0

  private readonly tokens: ReadonlyArray<Token>

  constructor(tokens: ReadonlyArray<Token>) {
    this.tokens = tokens
  }

  whole(): Expr {
    const expr = this.expression()
    if (this.next().kind !== "end") this.unexpected("<EOF>")
    return expr
  }

  make = (at: number, shape: Shape): Expr => {
    const depth = 1 + deepest(shape)
    if (depth > maxDepth) return this.fail(at, `expression recursion limit exceeded: ${maxNesting}`)
    this.id += 1
    return { ...shape, id: this.id, at, depth }
  }

  fail = (at: number, message: string): Expr => {
    if (this.faults.length === 0) this.faults.push({ at, message })
    // What follows is not read.
    this.position = this.tokens.length - 1
    return { kind: "literal", value: null, id: 0, at, depth: 1 }
  }

  private next(): Token {
    return this.tokens[this.position] ?? { kind: "end", text: "<EOF>", at: 0 }
  }

  private unexpected(wanted: string): Expr {
    const { at, text } = this.next()
    return this.fail(at, `Syntax error: mismatched input '${text}' expecting ${wanted}`)
  }

  private is(...texts: ReadonlyArray<string>): boolean {
    const { kind, text } = this.next()
    return kind === "symbol" && texts.includes(text)
  }

  /** The token, if it is that symbol. */
  private accept(...texts: ReadonlyArray<string>): Token | undefined {
    if (!this.is(...texts)) return undefined
    const token = this.next()
    this.position += 1
    return token
  }

  private expect(text: string): void {
    if (this.accept(text) === undefined) this.unexpected(`'${text}'`)
  }

  private expression(): Expr {
    this.nesting += 1
    if (this.nesting > maxNesting) {
      return this.fail(this.next().at, `expression recursion limit exceeded: ${maxNesting}`)
    }
    const condition = this.chain("||", () => this.chain("&&", () => this.relation()))
    const mark = this.accept("?")
    if (mark === undefined) {
      this.nesting -= 1
      return condition
    }
    const yes = this.chain("||", () => this.chain("&&", () => this.relation()))
    this.expect(":")
    const no = this.expression()
    this.nesting -= 1
    return this.call(mark.at, "_?_:_", [condition, yes, no])
  }

  /** Terms of one operator, as a balanced tree. */
  private chain(operator: "&&" | "||", term: () => Expr): Expr {
    const terms = [term()]
    const marks: Array<number> = []
    for (let mark = this.accept(operator); mark !== undefined; mark = this.accept(operator)) {
      marks.push(mark.at)
      terms.push(term())
    }
    const name = `_${operator}_`
    const balanced = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2)
      const left = middle === low ? terms[low] : balanced(low, middle - 1)
      const right = middle === high ? terms[high + 1] : balanced(middle + 1, high)
      return this.call(marks[middle] ?? 0, name, [left, right].filter(isExpr))
    }
    const [first] = terms
    return marks.length === 0 && first !== undefined ? first : balanced(0, marks.length - 1)
  }

  private relation(): Expr {
    return this.leftToRight(["<", "<=", ">=", ">", "==", "!=", "in"], () => this.sum())
  }

  private sum(): Expr {
    return this.leftToRight(["+", "-"], () => this.leftToRight(["*", "/", "%"], () => this.unary()))
  }

  private leftToRight(operators: ReadonlyArray<string>, operand: () => Expr): Expr {
    let left = operand()
    for (let mark = this.accept(...operators); mark !== undefined; mark = this.accept(...operators)) {
      left = this.call(mark.at, mark.text === "in" ? "@in" : `_${mark.text}_`, [left, operand()])
    }
    return left
  }

  private unary(): Expr {
    for (const [sign, name] of signs) {
      if (!this.is(sign)) continue
      if (sign === "-" && isNumber(this.tokens[this.position + 1])) return this.member()
      const { at } = this.next()
      let count = 0
      while (this.accept(sign) !== undefined) count += 1
      const operand = this.member()
      // Two signs cancel each other.
      return count % 2 === 0 ? operand : this.call(at, name, [operand])
    }
    return this.member()
  }

  private member(): Expr {
    let operand = this.primary()
    for (;;) {
      const mark = this.accept(".", "[")
      if (mark === undefined) return operand
      const isOptional = this.accept("?") !== undefined
      if (mark.text === "[") {
        const index = this.expression()
        this.expect("]")
        operand = this.call(mark.at, isOptional ? "_[?_]" : "_[_]", [operand, index])
        continue
      }
      const name = this.next()
      if (name.kind !== "ident") return this.unexpected("IDENTIFIER")
      this.position += 1
      if (isOptional) {
        const field = this.make(name.at, { kind: "literal", value: name.text })
        operand = this.call(mark.at, "_?._", [operand, field])
        continue
      }
      const open = this.accept("(")
      operand =
        open === undefined
          ? this.make(mark.at, { kind: "select", operand, field: name.text, isTest: false })
          : this.invocation(open.at, name.text, operand)
    }
  }

  private invocation(at: number, name: string, target: Expr | undefined): Expr {
    const args: Array<Expr> = []
    if (!this.is(")")) {
      do args.push(this.expression())
      while (this.accept(",") !== undefined)
    }
    this.expect(")")
    return expand(this, at, name, target, args) ?? this.make(at, { kind: "call", name, target, args })
  }

  private primary(): Expr {
    const token = this.next()
    if (token.kind === "literal") return this.literal(token, false)
    if (token.kind === "ident") return this.name("")
    if (this.accept("-") !== undefined) return this.literal(this.next(), true)
    if (this.accept(".") !== undefined) {
      return this.next().kind === "ident" ? this.name(".") : this.unexpected("IDENTIFIER")
    }
    if (this.accept("(") !== undefined) {
      const inner = this.expression()
      this.expect(")")
      return inner
    }
    if (this.accept("[") !== undefined) return this.list(token.at)
    if (this.accept("{") !== undefined) return this.map(token.at)
    return this.unexpected(expected)
  }

  private literal(token: Token, isNegative: boolean): Expr {
    this.position += 1
    let value: Literal | undefined = token.value
    if (token.digits !== undefined) value = integer(token.digits, isNegative)
    else if (isNegative && typeof value === "number") value = -value
    if (value === undefined) return this.fail(token.at, "Syntax error: invalid int literal")
    return this.make(token.at, { kind: "literal", value })
  }

  private name(prefix: string): Expr {
    const token = this.next()
    this.position += 1
    const open = this.accept("(")
    if (open === undefined && reserved.has(token.text)) {
      return this.fail(token.at, `Syntax error: reserved identifier: ${token.text}`)
    }
    if (open !== undefined) return this.invocation(open.at, prefix + token.text, undefined)
    return this.isStruct() ? this.struct(token) : this.make(token.at, { kind: "ident", name: prefix + token.text })
  }

  /** Whether what follows is the rest of a name and a brace. */
  private isStruct(): boolean {
    let ahead = this.position
    while (this.tokens[ahead]?.text === "." && this.tokens[ahead + 1]?.kind === "ident") ahead += 2
    return this.tokens[ahead]?.kind === "symbol" && this.tokens[ahead]?.text === "{"
  }

  private struct(first: Token): Expr {
    let name = first.text
    while (this.accept(".") !== undefined) {
      name += `.${this.next().text}`
      this.position += 1
    }
    const { at } = this.next()
    this.expect("{")
    const fields: Array<readonly [string, Expr]> = []
    while (!this.is("}")) {
      this.accept("?")
      const field = this.next()
      if (field.kind !== "ident") return this.unexpected("{'}', ',', '?', IDENTIFIER}")
      this.position += 1
      this.expect(":")
      fields.push([field.text, this.expression()])
      if (this.accept(",") === undefined) break
    }
    this.expect("}")
    return this.make(at, { kind: "struct", name, fields })
  }

  private list(at: number): Expr {
    const elements: Array<Expr> = []
    const optionals = new Set<number>()
    while (!this.is("]")) {
      if (this.accept("?") !== undefined) optionals.add(elements.length)
      elements.push(this.expression())
      if (this.accept(",") === undefined) break
    }
    this.expect("]")
    return this.make(at, { kind: "list", elements, optionals })
  }

  private map(at: number): Expr {
    const entries: Array<Entry> = []
    while (!this.is("}")) {
      const isOptional = this.accept("?") !== undefined
      const key = this.expression()
      this.expect(":")
      entries.push({ key, value: this.expression(), isOptional })
      if (this.accept(",") === undefined) break
    }
    this.expect("}")
    return this.make(at, { kind: "map", entries })
  }

  private call(at: number, name: string, args: ReadonlyArray<Expr>): Expr {
    return this.make(at, { kind: "call", name, target: undefined, args })
  }
}

const signs = [
  ["!", "!_"],
  ["-", "-_"]
] as const

const isExpr = (expr: Expr | undefined): expr is Expr => expr !== undefined

const isNumber = (token: Token | undefined): boolean =>
  token !== undefined && (token.digits !== undefined || typeof token.value === "number")

const deepest = (shape: Shape): number => {
  switch (shape.kind) {
    case "literal":
    case "ident":
      return 0
    case "select":
      return shape.operand.depth
    case "call":
      return Math.max(0, shape.target?.depth ?? 0, ...shape.args.map((arg) => arg.depth))
    case "list":
      return shape.elements.reduce((most, one) => Math.max(most, one.depth), 0)
    case "map":
      return shape.entries.reduce((most, { key, value }) => Math.max(most, key.depth, value.depth), 0)
    case "struct":
      return shape.fields.reduce((most, [, one]) => Math.max(most, one.depth), 0)
    case "comprehension":
      return Math.max(shape.range.depth, shape.init.depth, shape.condition.depth, shape.step.depth, shape.result.depth)
  }
}
