/**
 * The types of an expression: every name and every call is resolved, and each misuse is a fault in the words of the API server.
 * Source: cel-go checker/checker.go, cel/validator.go.
 */
import { qualifiedName } from "./syntax/Expr.ts"
import type { Call, Comprehension, Expr, Fault } from "./syntax/Expr.ts"
import { functions, typeNames } from "./library/library.ts"
import type { Overload } from "./library/define.ts"
import { literalFaults } from "./syntax/literals.ts"
import * as Type from "./Type.ts"
import { Uint } from "./Value.ts"

/** What the checker found, by the identity of nodes. */
export interface Checked {
  readonly type: Type.Type
  readonly types: ReadonlyMap<number, Type.Type>
  /** The functions that a call may mean; several where types are known only at run time. */
  readonly overloads: ReadonlyMap<number, ReadonlyArray<Overload>>
  /** Selections and calls that are names: `a.b` as one variable, `optional.of` as one function. */
  readonly names: ReadonlyMap<number, string>
  /** The variables that are read. */
  readonly variables: ReadonlySet<string>
}

export const check = (
  expr: Expr,
  variables: ReadonlyMap<string, Type.Type>
): Checked | { readonly faults: ReadonlyArray<Fault> } => {
  const checker = new Checker(variables)
  checker.check(expr)
  if (checker.faults.length > 0) return { faults: checker.faults }
  const result = checker.result(expr)
  const faults = literalFaults(expr, result.types)
  return faults.length > 0 ? { faults } : result
}

class Checker {
  readonly faults: Array<Fault> = []
  private readonly types = new Map<number, Type.Type>()
  private readonly overloads = new Map<number, ReadonlyArray<Overload>>()
  private readonly names = new Map<number, string>()
  private readonly used = new Set<string>()
  private readonly bindings = new Type.Bindings()
  private fresh = 0
  private scopes: Array<ReadonlyMap<string, Type.Type>>

  constructor(variables: ReadonlyMap<string, Type.Type>) {
    this.scopes = [variables]
  }

  result(expr: Expr): Checked {
    const types = new Map([...this.types].map(([id, type]) => [id, this.bindings.substitute(type, "dyn")] as const))
    const { names, overloads, used } = this
    return { type: types.get(expr.id) ?? Type.dyn, types, overloads, names, variables: used }
  }

  check(expr: Expr): void {
    // Macros may use a part twice.
    if (this.types.has(expr.id)) return
    this.types.set(expr.id, this.typeOf(expr))
  }

  private typeOf(expr: Expr): Type.Type {
    switch (expr.kind) {
      case "literal":
        return literalType(expr.value)
      case "ident":
        return this.ident(expr.id, expr.name) ?? this.undeclared(expr, expr.name)
      case "select": {
        const name = qualifiedName(expr)
        const found = name === undefined ? undefined : this.ident(expr.id, name)
        if (found !== undefined) return found
        const type = this.field(expr, expr.operand, expr.field, false)
        return expr.isTest ? Type.bool : type
      }
      case "call":
        return this.call(expr)
      case "list": {
        let element: Type.Type | undefined
        for (const [index, one] of expr.elements.entries()) {
          element = this.join(element, this.checked(one, expr.optionals.has(index)))
        }
        return Type.list(element ?? this.variable())
      }
      case "map": {
        let key: Type.Type | undefined
        let value: Type.Type | undefined
        for (const entry of expr.entries) {
          key = this.join(key, this.checked(entry.key, false))
          value = this.join(value, this.checked(entry.value, entry.isOptional))
        }
        return Type.map(key ?? this.variable(), value ?? this.variable())
      }
      case "struct":
        return this.undeclared(expr, expr.name)
      case "comprehension":
        return this.comprehension(expr)
    }
  }

  private fault(expr: Expr, message: string): Type.Type {
    this.faults.push({ at: expr.at, message })
    return Type.error
  }

  private undeclared(expr: Expr, name: string): Type.Type {
    return this.fault(expr, `undeclared reference to '${name}' (in container '')`)
  }

  private mismatch(expr: Expr, wanted: Type.Type, found: Type.Type): Type.Type {
    return this.fault(expr, `expected type '${Type.format(wanted)}' but found '${Type.format(found)}'`)
  }

  private variable(): Type.Type {
    this.fresh += 1
    return Type.param(`_var${this.fresh}`)
  }

  private known(expr: Expr): Type.Type {
    return this.types.get(expr.id) ?? Type.error
  }

  private ident(id: number, written: string): Type.Type | undefined {
    const isGlobal = written.startsWith(".")
    const name = isGlobal ? written.slice(1) : written
    for (const [index, scope] of [...this.scopes.entries()].toReversed()) {
      const found = isGlobal && index > 0 ? undefined : scope.get(name)
      if (found === undefined) continue
      if (index === 0) this.used.add(name)
      this.names.set(id, name)
      return found
    }
    const type = typeNames.get(name)
    if (type === undefined) return undefined
    this.names.set(id, name)
    return Type.typeOf(type)
  }

  /** The type of an element or entry, of which the content counts if it is optional. */
  private checked(expr: Expr, isOptional: boolean): Type.Type {
    this.check(expr)
    const type = this.known(expr)
    if (!isOptional) return type
    const content = Type.unwrapped(type)
    if (content === undefined && !Type.isDyn(type)) this.mismatch(expr, Type.optional(type), type)
    return content ?? type
  }

  /** Elements of several types make a list of dyn here; `literals` refuses it. */
  private join(before: Type.Type | undefined, type: Type.Type): Type.Type {
    if (before === undefined) return type
    return this.bindings.assign(before, type) ? Type.mostGeneral(before, type) : Type.dyn
  }

  private field(expr: Expr, operand: Expr, name: string, isOptional: boolean): Type.Type {
    this.check(operand)
    const type = this.bindings.substitute(this.known(operand), "keep")
    const content = Type.unwrapped(type)
    const found = this.fieldOf(expr, content ?? type, name)
    return this.bindings.substitute(content !== undefined || isOptional ? Type.optional(found) : found, "keep")
  }

  private fieldOf(expr: Expr, type: Type.Type, name: string): Type.Type {
    switch (type.kind) {
      case "map":
        return type.params[1]
      case "object":
        return type.fields.get(name) ?? this.fault(expr, `undefined field '${name}'`)
      case "param":
        this.bindings.assign(Type.dyn, type)
        return Type.dyn
      case "dyn":
      case "error":
        return Type.dyn
      default:
        this.fault(expr, `type '${Type.format(type)}' does not support field selection`)
        return Type.dyn
    }
  }

  private call(expr: Call): Type.Type {
    if (expr.name === "_?._") return this.optionalField(expr)
    for (const arg of expr.args) this.check(arg)
    const { target } = expr
    if (target !== undefined) {
      const prefix = qualifiedName(target)
      const name = `${prefix}.${expr.name}`
      const overloads = prefix === undefined ? undefined : functions.get(name)
      if (overloads !== undefined) {
        this.names.set(expr.id, name)
        return this.resolve(expr, name, overloads, undefined)
      }
      this.check(target)
    }
    const name = expr.name.replace(/^\./, "")
    const overloads = functions.get(name)
    if (overloads === undefined) return this.undeclared(expr, name)
    return this.resolve(expr, name, overloads, target)
  }

  private optionalField(expr: Call): Type.Type {
    const [operand, field] = expr.args
    if (operand === undefined || field?.kind !== "literal" || typeof field.value !== "string") return Type.error
    this.check(field)
    return this.field(expr, operand, field.value, true)
  }

  private resolve(expr: Call, name: string, overloads: ReadonlyArray<Overload>, target: Expr | undefined): Type.Type {
    const args = [...(target === undefined ? [] : [target]), ...expr.args]
    const types = args.map((arg) => this.known(arg))
    if (name === "_&&_" || name === "_||_") {
      this.overloads.set(expr.id, overloads)
      const wrong = args.filter((arg, index) => !this.bindings.assign(types[index] ?? Type.error, Type.bool) && arg)
      for (const arg of wrong) this.mismatch(arg, Type.bool, this.known(arg))
      return wrong.length > 0 ? Type.error : Type.bool
    }
    const found: Array<Overload> = []
    let result: Type.Type | undefined
    for (const overload of overloads) {
      if (overload.isMember !== (target !== undefined)) continue
      const fresh = this.instance(overload)
      if (!this.bindings.assignAll(types, fresh.args)) continue
      found.push(overload)
      const type = this.bindings.substitute(fresh.result, "keep")
      if (result === undefined) result = type
      else if (!Type.isDyn(result) && !Type.equal(result, type)) result = Type.dyn
    }
    if (result === undefined) {
      const shown = types.map((type) => Type.format(this.bindings.substitute(type, "dyn")))
      const [first = ""] = shown
      const signature = target === undefined ? `(${shown.join(", ")})` : `${first}.(${shown.slice(1).join(", ")})`
      return this.fault(expr, `found no matching overload for '${name}' applied to '${signature}'`)
    }
    this.overloads.set(expr.id, found)
    return result
  }

  /** The types of a function with parameters of its own. */
  private instance({ args, result }: Overload): {
    readonly args: ReadonlyArray<Type.Type>
    readonly result: Type.Type
  } {
    const renamed = new Map<string, Type.Type>()
    const rename = (type: Type.Type): Type.Type => {
      switch (type.kind) {
        case "param": {
          const known = renamed.get(type.name) ?? this.variable()
          renamed.set(type.name, known)
          return known
        }
        case "list":
          return Type.list(rename(type.params[0]))
        case "map":
          return Type.map(rename(type.params[0]), rename(type.params[1]))
        case "type":
          return type.params.length === 0 ? type : Type.typeOf(rename(type.params[0]))
        case "opaque":
          return type.params.length === 0 ? type : Type.opaque(type.name, ...type.params.map(rename))
        default:
          return type
      }
    }
    return { args: args.map(rename), result: rename(result) }
  }

  private comprehension(expr: Comprehension): Type.Type {
    this.check(expr.range)
    this.check(expr.init)
    const accumulated = this.known(expr.init)
    const range = this.bindings.substitute(this.known(expr.range), "keep")
    this.scopes.push(new Map([[expr.accumulator, accumulated]]))
    const [first, second] = this.elements(expr, range)
    const variables = new Map([[expr.variable, first]])
    if (expr.second !== undefined) variables.set(expr.second, second)
    this.scopes.push(variables)
    this.check(expr.condition)
    this.assert(expr.condition, Type.bool)
    this.check(expr.step)
    this.assert(expr.step, accumulated)
    this.scopes.pop()
    this.check(expr.result)
    this.scopes.pop()
    return this.bindings.substitute(this.known(expr.result), "keep")
  }

  /** The types of the variables of a comprehension. */
  private elements({ range, second }: Comprehension, type: Type.Type): readonly [Type.Type, Type.Type] {
    switch (type.kind) {
      case "list":
        return second === undefined ? [type.params[0], Type.error] : [Type.int, type.params[0]]
      case "map":
        return [type.params[0], type.params[1]]
      case "dyn":
      case "error":
      case "param":
        this.bindings.assign(Type.dyn, type)
        return [Type.dyn, Type.dyn]
      default: {
        const shown = Type.format(type)
        const message = `expression of type '${shown}' cannot be range of a comprehension (must be list, map, or dynamic)`
        this.fault(range, message)
        return [Type.error, Type.error]
      }
    }
  }

  private assert(expr: Expr, type: Type.Type): void {
    if (!this.bindings.assign(type, this.known(expr))) this.mismatch(expr, type, this.known(expr))
  }
}

const literalType = (
  value: Expr extends infer One ? (One extends { value: infer V } ? V : never) : never
): Type.Type => {
  if (value === null) return Type.nothing
  if (typeof value === "bigint") return Type.int
  if (typeof value === "number") return Type.double
  if (typeof value === "boolean") return Type.bool
  if (typeof value === "string") return Type.string
  return value instanceof Uint ? Type.uint : Type.bytes
}
