/**
 * A checked expression as functions that evaluate it, each of which charges its cost before it goes on: an evaluation ends when it has spent
 * its limit. The depth of calls is that of the tree, which the parser bounds. Source: cel-go interpreter/{planner,runtimecost}.go.
 */
import { all, conversions, memberOf, noOverload, optionalMember, zip } from "./access.ts"
import type { Checked } from "./check.ts"
import { listCost, mapCost } from "./cost/cost.ts"
import type { Call, Comprehension, Expr, Select } from "./syntax/Expr.ts"
import { accepts } from "./library/define.ts"
import type { Overload } from "./library/define.ts"
import { typeNames } from "./library/library.ts"
import {
  binary,
  charge,
  conditional,
  equality,
  exceeded,
  failing,
  fallback,
  invoke,
  logical,
  membership,
  notStrictlyFalse
} from "./steps.ts"
import type { Run } from "./steps.ts"
import type * as Type from "./Type.ts"
import { Entries, Failure, Items, List, Mapping, Meter, Optional, TypeValue } from "./Value.ts"
import type { Value } from "./Value.ts"

export interface Plan {
  readonly run: Run
  readonly slots: number
}

export const plan = (expr: Expr, checked: Checked): Plan => {
  const planner = new Planner(checked)
  return { run: planner.plan(expr), slots: planner.slots }
}

class Planner {
  slots = 0
  private scope: ReadonlyMap<string, number> = new Map()
  private readonly planned = new Map<number, Run>()

  private readonly checked: Checked

  constructor(checked: Checked) {
    this.checked = checked
  }

  plan(expr: Expr): Run {
    const known = this.planned.get(expr.id)
    if (known !== undefined) return known
    const run = this.planOne(expr)
    this.planned.set(expr.id, run)
    return run
  }

  private planOne(expr: Expr): Run {
    switch (expr.kind) {
      case "literal": {
        const { value } = expr
        return () => value
      }
      case "ident":
        return this.ident(this.checked.names.get(expr.id) ?? expr.name, expr.name.startsWith("."))
      case "select": {
        const name = this.checked.names.get(expr.id)
        return name === undefined ? this.select(expr) : this.ident(name, false)
      }
      case "call":
        return this.call(expr)
      case "list":
        return this.list(expr.elements, expr.optionals)
      case "map":
        return this.map(expr)
      case "struct":
        return () => new Failure(`unknown type: ${expr.name}`)
      case "comprehension":
        return this.comprehension(expr)
    }
  }

  private ident(name: string, isGlobal: boolean): Run {
    const slot = isGlobal ? undefined : this.scope.get(name)
    if (slot !== undefined) return ({ meter, slots }) => charge(meter, 1) ?? slots[slot] ?? null
    const type = typeNames.get(name)
    const missing = new Failure(`no such attribute(s): ${name}`)
    if (type !== undefined && !this.checked.variables.has(name)) {
      const value = new TypeValue(runtimeName(name, type))
      return () => value
    }
    return ({ meter, variables }) => {
      const value = variables.get(name)
      return charge(meter, 1) ?? (value === undefined ? missing : value)
    }
  }

  private select({ field, isTest, operand }: Select): Run {
    const of = this.plan(operand)
    if (isTest) {
      return (frame) => {
        const value = of(frame)
        if (value instanceof Failure) return value
        const content = value instanceof Optional ? value.content : value
        if (content === undefined) return false
        return content instanceof Mapping ? content.get(field) !== undefined : noOverload("has", [content])
      }
    }
    const cost = isAttribute(operand) ? 1 : 2
    return (frame) => {
      const value = of(frame)
      if (value instanceof Failure) return value
      const isAbsent = value instanceof Optional && optionalMember(value, field) === Optional.none
      return charge(frame.meter, isAbsent ? cost - 1 : cost) ?? memberOf(value, field)
    }
  }

  /** A variable or a field in a branch costs one less. */
  private branch(expr: Expr | undefined, run: Run): Run {
    return expr !== undefined && isAttribute(expr)
      ? (frame) => {
          frame.meter.cost -= 1
          return run(frame)
        }
      : run
  }

  private list(elements: ReadonlyArray<Expr>, optionals: ReadonlySet<number>): Run {
    const constants = optionals.size > 0 ? undefined : all(elements.map((element) => this.constant(element)))
    if (constants !== undefined) return () => new Items(constants.slice())
    const runs = elements.map((element) => this.plan(element))
    return (frame) => {
      const values: Array<Value> = []
      for (const [index, run] of runs.entries()) {
        const value = run(frame)
        if (value instanceof Failure) return value
        if (!optionals.has(index)) values.push(value)
        else if (!(value instanceof Optional)) return new Failure("cannot initialize optional list element")
        else if (value.content !== undefined) values.push(value.content)
      }
      return charge(frame.meter, listCost) ?? new Items(values)
    }
  }

  /** The value of an expression that does not depend on variables; it is computed once, and costs nothing. */
  private constant(expr: Expr): Value | undefined {
    if (expr.kind === "literal") return expr.value
    if (expr.kind === "list") {
      const elements = expr.optionals.size > 0 ? undefined : all(expr.elements.map((element) => this.constant(element)))
      return elements === undefined ? undefined : new Items(elements)
    }
    if (expr.kind === "map") {
      const keys = all(expr.entries.map(({ isOptional, key }) => (isOptional ? undefined : this.constant(key))))
      const values = all(expr.entries.map(({ value }) => this.constant(value)))
      const map = keys === undefined || values === undefined ? undefined : zip(keys, values)
      return map instanceof Failure ? undefined : map
    }
    if (expr.kind !== "call" || expr.target !== undefined || !conversions.has(expr.name)) return undefined
    const args = all(expr.args.map((arg) => this.constant(arg)))
    const overload = args === undefined ? undefined : overloadFor(this.checked.overloads.get(expr.id) ?? [], args)
    const value = overload?.run(args ?? [], new Meter(0))
    return value instanceof Failure ? undefined : value
  }

  private map(expr: Expr & { readonly kind: "map" }): Run {
    const { entries } = expr
    if (this.constant(expr) !== undefined) return () => this.constant(expr) ?? null
    const runs = entries.map(({ isOptional, key, value }) => [this.plan(key), this.plan(value), isOptional] as const)
    return (frame) => {
      const pairs: Array<readonly [Value, Value]> = []
      for (const [runKey, runValue, isOptional] of runs) {
        const key = runKey(frame)
        if (key instanceof Failure) return key
        const value = runValue(frame)
        if (value instanceof Failure) return value
        if (!isOptional) pairs.push([key, value])
        else if (!(value instanceof Optional)) return new Failure("cannot initialize optional map entry")
        else if (value.content !== undefined) pairs.push([key, value.content])
      }
      return charge(frame.meter, mapCost) ?? Entries.of(pairs)
    }
  }

  private call(expr: Call): Run {
    const name = this.checked.names.get(expr.id) ?? expr.name.replace(/^\./, "")
    const isNamespaced = this.checked.names.has(expr.id)
    const constant = this.constant(expr)
    if (constant !== undefined) return () => constant
    const parts = [...(expr.target === undefined || isNamespaced ? [] : [expr.target]), ...expr.args]
    const runs = parts.map((part) => this.plan(part))
    const [first, second, third] = runs
    const [, list] = expr.args
    const elements = name === "@in" && list?.kind === "list" ? this.constant(list) : undefined
    if (elements instanceof List && first !== undefined) return membership(first, elements)
    switch (name) {
      case "_&&_":
      case "_||_":
        return first !== undefined && second !== undefined ? logical(name === "_||_", first, second) : failing
      case "_?_:_":
        return first !== undefined && second !== undefined && third !== undefined
          ? conditional(first, this.branch(expr.args[1], second), this.branch(expr.args[2], third))
          : failing
      case "@not_strictly_false":
        return first === undefined ? failing : notStrictlyFalse(first)
      case "_[_]":
        return binary(first, second, memberOf, accessCost(expr.args))
      case "_?._":
      case "_[?_]":
        return binary(first, second, optionalMember, accessCost(expr.args))
      case "_==_":
      case "_!=_":
        return first === undefined || second === undefined ? failing : equality(name, first, second)
    }
    if ((name === "or" || name === "orValue") && first !== undefined && second !== undefined && runs.length === 2) {
      return fallback(name === "or", first, second)
    }
    return invoke(name, runs, this.checked.overloads.get(expr.id) ?? [])
  }

  private comprehension(expr: Comprehension): Run {
    const range = this.plan(expr.range)
    const init = this.plan(expr.init)
    const outer = this.scope
    const accumulator = this.slot()
    const first = this.slot()
    const second = this.slot()
    const withResult = new Map(outer).set(expr.accumulator, accumulator)
    this.scope = new Map(withResult).set(expr.variable, first)
    if (expr.second !== undefined) this.scope = new Map(this.scope).set(expr.second, second)
    const condition = this.plan(expr.condition)
    const step = this.plan(expr.step)
    this.scope = withResult
    const result = this.plan(expr.result)
    this.scope = outer
    const isPair = expr.second !== undefined
    return (frame) => {
      const over = range(frame)
      if (over instanceof Failure) return over
      const { meter, slots } = frame
      let accumulated = init(frame)
      const isMapping = over instanceof Mapping
      if (!isMapping && !(over instanceof List)) return noOverload("comprehension", [over])
      const keys = isMapping ? over.keys : []
      const size = isMapping ? keys.length : over.size
      for (let index = 0; index < size; index += 1) {
        const key = isMapping ? (keys[index] ?? null) : BigInt(index)
        const isKeyOnly = isMapping && !isPair
        const value = isKeyOnly ? key : ((isMapping ? over.get(key) : over.at(index)) ?? null)
        if (value instanceof Failure) return value
        slots[first] = isPair ? key : value
        slots[second] = value
        // A failure that an operator may still absorb is kept in the place of the value.
        slots[accumulator] = accumulated as Value
        const isOn = condition(frame)
        if (isOn instanceof Failure) return isOn
        if (isOn !== true) break
        accumulated = step(frame)
        if (accumulated instanceof Failure && accumulated.isFatal) return accumulated
        // Steps that cost nothing count too.
        meter.work += 1
        if (meter.isExceeded) return exceeded
      }
      slots[accumulator] = accumulated as Value
      return result(frame)
    }
  }

  private slot(): number {
    this.slots += 1
    return this.slots - 1
  }
}

/** Variables, fields and elements are read as one attribute. */
const isAttribute = (expr: Expr): boolean =>
  expr.kind === "ident" ||
  (expr.kind === "select" && !expr.isTest) ||
  (expr.kind === "call" && ["_[_]", "_?._", "_[?_]"].includes(expr.name))

/** An index that is an attribute is part of the access; what is not an attribute becomes one. */
const accessCost = ([operand, index]: ReadonlyArray<Expr>): number =>
  1 + (operand !== undefined && !isAttribute(operand) ? 1 : 0) - (index !== undefined && isAttribute(index) ? 1 : 0)

const overloadFor = (overloads: ReadonlyArray<Overload>, args: ReadonlyArray<Value>): Overload | undefined =>
  overloads.find((overload) => overload.args.every((type, at) => accepts(type, args[at] ?? null)))

const runtimeName = (name: string, type: Type.Type): string => (type.kind === "null" ? "null_type" : name)
