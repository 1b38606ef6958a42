/**
 * What an expression may cost at worst, before it is evaluated: with values of the greatest sizes that their schemas allow. The API server
 * refuses rules whose estimate is too large, so the figures have to be its own. Source: cel-go checker/cost.go, apiserver
 * pkg/cel/library/cost.go, apiextensions-apiserver schema/cel/compilation.go.
 */
import type { Checked } from "../check.ts"
import { costOfCall } from "./estimateCalls.ts"
import type { Argument } from "./estimateCalls.ts"
import { listCost, mapCost } from "./cost.ts"
import type { Declared } from "../declare.ts"
import type { Call, Comprehension, Expr } from "../syntax/Expr.ts"
import { accumulator } from "../syntax/macros.ts"
import * as range from "./range.ts"
import type { Range } from "./range.ts"
import type * as Type from "../Type.ts"
import { codePoints } from "../Value.ts"

/** Sizes of the keys and values of a list or a map that an expression makes. */
interface EntrySizes {
  readonly kind: "list" | "map"
  readonly key: Range
  readonly value: Range
}

/** A variable of a comprehension. */
interface Local {
  readonly node: Declared | undefined
  readonly size: Range | undefined
  readonly entries: EntrySizes | undefined
}

/** `roots` are what the schemas say of the variables. */
export const estimate = (expr: Expr, checked: Checked, roots: ReadonlyMap<string, Declared>): Range =>
  new Estimator(checked, roots).cost(expr)

class Estimator {
  private readonly costs = new Map<number, Range>()
  private readonly sizes = new Map<number, Range>()
  private readonly entries = new Map<number, EntrySizes>()
  private readonly nodes = new Map<number, Declared>()
  private readonly locals = new Map<string, Array<Local>>()
  private readonly checked: Checked
  private readonly roots: ReadonlyMap<string, Declared>

  constructor(checked: Checked, roots: ReadonlyMap<string, Declared>) {
    this.checked = checked
    this.roots = roots
  }

  cost(expr: Expr): Range {
    // Macros may use a part twice.
    const known = this.costs.get(expr.id)
    if (known !== undefined) return known
    const cost = this.costOf(expr)
    this.costs.set(expr.id, cost)
    return cost
  }

  private costOf(expr: Expr): Range {
    switch (expr.kind) {
      case "literal":
        return range.fixed(0)
      case "ident": {
        const name = this.checked.names.get(expr.id) ?? expr.name
        const local = this.local(name)
        this.place(expr, local === undefined ? (this.roots.get(name) ?? this.roots.get("self")) : local.node)
        return range.fixed(1)
      }
      case "select":
        return this.select(expr.id, expr)
      case "call":
        return this.call(expr)
      case "list": {
        const costs = expr.elements.map((element) => this.cost(element))
        const value = this.union(expr.elements)
        this.entries.set(expr.id, { kind: "list", key: range.fixed(1), value })
        return range.sum([...costs, range.fixed(listCost)])
      }
      case "map": {
        const costs = expr.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)])
        const key = this.union(expr.entries.map((entry) => entry.key))
        const value = this.union(expr.entries.map((entry) => entry.value))
        this.entries.set(expr.id, { kind: "map", key, value })
        return range.sum([...costs, range.fixed(mapCost)])
      }
      case "struct":
        return range.fixed(0)
      case "comprehension":
        return isBinding(expr) ? this.binding(expr) : this.comprehension(expr)
    }
  }

  private select(id: number, { field, isTest, operand }: Expr & { readonly kind: "select" }): Range {
    // A name of several parts, such as a type. Names without a schema have the size of the whole, as in the server.
    if (this.checked.names.has(id)) {
      this.placeAt(id, this.roots.get("self"))
      return range.fixed(1)
    }
    const cost = this.cost(operand)
    if (isTest) return cost
    this.placeAt(id, this.node(operand)?.fields?.get(field))
    const { kind } = this.type(operand)
    return kind === "map" || kind === "object" || kind === "dyn" ? range.add(cost, range.fixed(1)) : cost
  }

  private call(expr: Call): Range {
    const isNamespaced = this.checked.names.has(expr.id)
    const name = this.checked.names.get(expr.id) ?? expr.name
    const target = isNamespaced ? undefined : expr.target
    const [first] = expr.args
    if (name === "dyn" && first !== undefined) {
      const cost = this.cost(first)
      this.copySizes(expr, first)
      return range.add(cost, range.fixed(1))
    }
    const costs = expr.args.map((arg) => this.cost(arg))
    const before = target === undefined ? range.fixed(0) : this.cost(target)
    const own = this.callCost(expr, name, target, costs)
    return range.add(before, own)
  }

  /** Of the overloads that may be meant, the worst. */
  private callCost(expr: Call, name: string, target: Expr | undefined, costs: ReadonlyArray<Range>): Range {
    const [first, second, third] = expr.args
    if (name === "_&&_" || name === "_||_") {
      const [left = range.fixed(0), right = range.fixed(0)] = costs
      return { min: left.min, max: range.add(left, right).max }
    }
    if (name === "_?_:_" && second !== undefined && third !== undefined) {
      const [condition = range.fixed(0), yes = range.fixed(0), no = range.fixed(0)] = costs
      this.sizes.set(expr.id, range.union(this.sizeOr(second), this.sizeOr(third)))
      this.uniteEntries(expr, second, third)
      return range.add(condition, range.union(yes, no))
    }
    const of = target === undefined ? undefined : this.argument(target)
    const args = expr.args.map((arg) => this.argument(arg))
    let cost: Range | undefined
    let size: Range | undefined
    for (const { id } of this.checked.overloads.get(expr.id) ?? [{ id: "" }]) {
      const found = costOfCall(name, id, of, args)
      cost = cost === undefined ? found.cost : range.union(cost, found.cost)
      if (found.size !== undefined) size = size === undefined ? found.size : range.union(size, found.size)
      if (id.startsWith("add_") && first !== undefined && second !== undefined) this.uniteEntries(expr, first, second)
      if ((id === "index_list" || id === "index_map") && first !== undefined) {
        size = this.entriesOf(first)?.value
        this.place(expr, this.node(first)?.element)
      }
      size ??= this.size(expr)
    }
    if (size !== undefined) this.sizes.set(expr.id, size)
    return range.sum([cost ?? range.fixed(0), ...costs])
  }

  private comprehension(expr: Comprehension): Range {
    const before = [this.cost(expr.range), this.cost(expr.init)]
    this.push(expr.accumulator, this.localOf(expr.init))
    this.pushElements(expr)
    const step = range.add(this.cost(expr.condition), this.cost(expr.step))
    this.pop(expr.variable)
    if (expr.second !== undefined) this.pop(expr.second)
    const result = this.cost(expr.result)
    const stepEntries = this.entriesOf(expr.step)
    this.pop(expr.accumulator)
    const count = this.sizeOr(expr.range)
    if (expr.init.kind === "literal") this.setSize(expr, this.size(expr.init))
    else if (expr.init.kind === "list" || expr.init.kind === "map") {
      this.sizes.set(expr.id, count)
      if (stepEntries !== undefined) this.entries.set(expr.id, stepEntries)
    }
    return range.sum([...before, result, range.multiply(count, step)])
  }

  private pushElements({ range: over, second, variable }: Comprehension): void {
    const entries = this.entriesOf(over)
    const isList = (entries?.kind ?? this.type(over).kind) === "list"
    const node = this.node(over)
    const local = (of: Declared | undefined, size: Range | undefined): Local => ({ node: of, size, entries: undefined })
    if (second !== undefined) {
      this.push(variable, local(isList ? undefined : node?.key, entries?.key))
      this.push(second, local(node?.element, entries?.value))
    } else if (isList) this.push(variable, local(node?.element, entries?.value))
    else this.push(variable, local(node?.key, entries?.key))
  }

  /** A value under a name: it is computed once. */
  private binding(expr: Comprehension): Range {
    const before = [this.cost(expr.range), this.cost(expr.init)]
    this.push(expr.accumulator, this.localOf(expr.init))
    const result = this.cost(expr.result)
    const size = this.size(expr.result)
    const entries = this.entriesOf(expr.result)
    this.pop(expr.accumulator)
    this.setSize(expr, size)
    if (entries !== undefined) this.entries.set(expr.id, entries)
    return range.sum([...before, result])
  }

  private localOf(expr: Expr): Local {
    return { node: this.node(expr), size: this.size(expr), entries: this.entriesOf(expr) }
  }

  private push(name: string, local: Local): void {
    const stack = this.locals.get(name)
    if (stack === undefined) this.locals.set(name, [local])
    else stack.push(local)
  }

  private pop(name: string): void {
    this.locals.get(name)?.pop()
  }

  private local(name: string): Local | undefined {
    return this.locals.get(name)?.at(-1)
  }

  private argument(expr: Expr): Argument {
    const node = this.node(expr)
    const isHidden = expr.kind === "ident" && expr.name === accumulator
    return { type: this.type(expr), size: this.sizeOr(expr), element: isHidden ? undefined : node?.element, expr }
  }

  private type(expr: Expr): Type.Type {
    return this.checked.types.get(expr.id) ?? { kind: "dyn" }
  }

  private place(expr: Expr, node: Declared | undefined): void {
    this.placeAt(expr.id, node)
  }

  private placeAt(id: number, node: Declared | undefined): void {
    if (node !== undefined) this.nodes.set(id, node)
  }

  private node(expr: Expr): Declared | undefined {
    const local = expr.kind === "ident" ? this.local(expr.name) : undefined
    return local === undefined ? this.nodes.get(expr.id) : local.node
  }

  private setSize(expr: Expr, size: Range | undefined): void {
    if (size !== undefined) this.sizes.set(expr.id, size)
  }

  private sizeOr(expr: Expr): Range {
    return this.size(expr) ?? range.unknown
  }

  private size(expr: Expr): Range | undefined {
    const known = this.sizes.get(expr.id) ?? writtenSize(expr)
    if (known !== undefined) return known
    const node = this.node(expr)
    if (node !== undefined) return { min: 0, max: node.most }
    if (isScalar(this.type(expr))) return range.fixed(1)
    return expr.kind === "ident" ? this.local(expr.name)?.size : undefined
  }

  private union(exprs: ReadonlyArray<Expr>): Range {
    const [first, ...rest] = exprs.map((expr) => this.sizeOr(expr))
    return first === undefined ? range.fixed(0) : rest.reduce(range.union, first)
  }

  private entriesOf(expr: Expr): EntrySizes | undefined {
    const known = this.entries.get(expr.id)
    return known ?? (expr.kind === "ident" ? this.local(expr.name)?.entries : undefined)
  }

  private uniteEntries(expr: Expr, one: Expr, other: Expr): void {
    const left = this.entriesOf(one)
    const right = this.entriesOf(other)
    if (left === undefined || right === undefined) return
    const key = range.union(left.key, right.key)
    this.entries.set(expr.id, { kind: left.kind, key, value: range.union(left.value, right.value) })
  }

  private copySizes(to: Expr, from: Expr): void {
    this.setSize(to, this.size(from))
    const entries = this.entriesOf(from)
    if (entries !== undefined) this.entries.set(to.id, entries)
  }
}

const isBinding = ({ accumulator: name, condition, range: over }: Comprehension): boolean =>
  over.kind === "list" &&
  over.elements.length === 0 &&
  condition.kind === "literal" &&
  condition.value === false &&
  name !== accumulator

const writtenSize = (expr: Expr): Range | undefined => {
  if (expr.kind === "list") return range.fixed(expr.elements.length)
  if (expr.kind === "map") return range.fixed(expr.entries.length)
  if (expr.kind !== "literal") return undefined
  const { value } = expr
  if (typeof value === "string") return range.fixed(codePoints(value))
  return range.fixed(value instanceof Uint8Array ? value.length : 1)
}

const isScalar = (type: Type.Type): boolean => {
  if (type.kind === "opaque" && type.name === "optional_type") return type.params.every(isScalar)
  return ["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind)
}
