/**
 * The macros: calls that stand for comprehensions and presence tests. They are those of the API server: the standard ones, of optional values
 * and of two variables. Source: cel-go parser/macro.go, cel/library.go, ext/comprehensions.go.
 */
import type { Expr, Factory } from "./Expr.ts"

/** The name that an expression cannot write. */
export const accumulator = "@result"

type Expand = (on: On, args: ReadonlyArray<Expr>) => Expr

/** The expansion of a call; undefined for a call that is no macro. */
export const expand = (
  factory: Factory,
  at: number,
  name: string,
  target: Expr | undefined,
  args: ReadonlyArray<Expr>
): Expr | undefined => {
  if (target === undefined) return name === "has" && args.length === 1 ? has(factory, at, args) : undefined
  return macros.get(`${name}/${args.length}`)?.(new On(factory, at, name, target), args)
}

const has = (factory: Factory, at: number, [tested]: ReadonlyArray<Expr>): Expr =>
  tested?.kind === "select" && !tested.isTest
    ? factory.make(at, { kind: "select", operand: tested.operand, field: tested.field, isTest: true })
    : factory.fail(tested?.at ?? at, "invalid argument to has() macro")

/** What an expansion is built from. */
class On {
  readonly factory: Factory
  readonly at: number
  private readonly name: string
  readonly target: Expr

  constructor(factory: Factory, at: number, name: string, target: Expr) {
    this.factory = factory
    this.at = at
    this.name = name
    this.target = target
  }

  call = (name: string, ...args: ReadonlyArray<Expr>): Expr =>
    this.factory.make(this.at, { kind: "call", name, target: undefined, args })

  method = (target: Expr, name: string, ...args: ReadonlyArray<Expr>): Expr =>
    this.factory.make(this.at, { kind: "call", name, target, args })

  ident = (name: string): Expr => this.factory.make(this.at, { kind: "ident", name })
  literal = (value: bigint | boolean): Expr => this.factory.make(this.at, { kind: "literal", value })
  list = (...elements: ReadonlyArray<Expr>): Expr =>
    this.factory.make(this.at, { kind: "list", elements, optionals: new Set() })
  map = (): Expr => this.factory.make(this.at, { kind: "map", entries: [] })
  accumulated = (): Expr => this.ident(accumulator)
  increased = (): Expr => this.call("_+_", this.accumulated(), this.literal(1n))
  appended = (element: Expr): Expr => this.call("_+_", this.accumulated(), this.list(element))
  where = (condition: Expr, step: Expr): Expr => this.call("_?_:_", condition, step, this.accumulated())

  /** Runs over the target with the variables that the arguments name. */
  fold = (variables: ReadonlyArray<Expr>, parts: Parts): Expr => {
    const names: Array<string> = []
    for (const variable of variables) {
      if (variable.kind !== "ident" || variable.name.startsWith(".")) {
        return this.factory.fail(variable.at, "argument must be a simple name")
      }
      if (variable.name === accumulator || variable.name === "__result__") {
        return this.factory.fail(variable.at, "iteration variable overwrites accumulator variable")
      }
      if (names.includes(variable.name)) {
        return this.factory.fail(variable.at, `duplicate variable name: ${variable.name}`)
      }
      names.push(variable.name)
    }
    const [variable = "", second] = names
    return this.factory.make(this.at, {
      kind: "comprehension",
      range: this.target,
      variable,
      second,
      accumulator,
      init: parts.init,
      condition: parts.condition ?? this.literal(true),
      step: parts.step,
      result: parts.result ?? this.accumulated()
    })
  }

  /** The value of an expression with the content of the optional target under a name. */
  withContent = (variable: Expr, body: Expr): Expr => {
    if (variable.kind !== "ident") {
      return this.factory.fail(variable.at, `${this.name}() variable name must be a simple identifier`)
    }
    return this.bind(variable.name, this.method(this.target, "value"), body)
  }

  /** The value of an expression with another one under a name. */
  bind = (name: string, init: Expr, body: Expr): Expr =>
    this.factory.make(this.at, {
      kind: "comprehension",
      range: this.list(),
      variable: "#unused",
      second: undefined,
      accumulator: name,
      init,
      condition: this.literal(false),
      step: this.ident(name),
      result: body
    })
}

interface Parts {
  readonly init: Expr
  /** As long as it holds; absent for always. */
  readonly condition?: Expr
  readonly step: Expr
  readonly result?: Expr
}

/** The last argument is the test, those before it are variables. */
const split = (args: ReadonlyArray<Expr>, count: number): readonly [ReadonlyArray<Expr>, ReadonlyArray<Expr>] => [
  args.slice(0, count),
  args.slice(count)
]

const tested =
  (name: "all" | "exists", variables: number): Expand =>
  (on, args) => {
    const [names, [test]] = split(args, variables)
    if (test === undefined) return on.target
    const isAll = name === "all"
    const accumulated = on.accumulated()
    return on.fold(names, {
      init: on.literal(isAll),
      condition: on.call("@not_strictly_false", isAll ? accumulated : on.call("!_", accumulated)),
      step: on.call(isAll ? "_&&_" : "_||_", on.accumulated(), test)
    })
  }

const existsOne =
  (variables: number): Expand =>
  (on, args) => {
    const [names, [test]] = split(args, variables)
    if (test === undefined) return on.target
    return on.fold(names, {
      init: on.literal(0n),
      step: on.where(test, on.increased()),
      result: on.call("_==_", on.accumulated(), on.literal(1n))
    })
  }

/** With a filter where there is one more argument. */
const listed =
  (variables: number): Expand =>
  (on, args) => {
    const [names, rest] = split(args, variables)
    const last = rest.at(-1)
    if (last === undefined) return on.target
    const step = on.appended(last)
    const [filter] = rest
    return on.fold(names, {
      init: on.list(),
      step: rest.length > 1 && filter !== undefined ? on.where(filter, step) : step
    })
  }

const filter: Expand = (on, args) => {
  const [names, [test]] = split(args, 1)
  const [name] = names
  if (test === undefined || name === undefined) return on.target
  const element = name.kind === "ident" ? on.ident(name.name) : name
  return on.fold(names, { init: on.list(), step: on.where(test, on.appended(element)) })
}

const mapped =
  (isEntry: boolean): Expand =>
  (on, args) => {
    const [names, rest] = split(args, 2)
    const last = rest.at(-1)
    const [key] = names
    if (last === undefined || key === undefined) return on.target
    const named = key.kind === "ident" ? on.ident(key.name) : key
    const step = on.call("cel.@mapInsert", on.accumulated(), ...(isEntry ? [] : [named]), last)
    const [filtered] = rest
    return on.fold(names, {
      init: on.map(),
      step: rest.length > 1 && filtered !== undefined ? on.where(filtered, step) : step
    })
  }

const content =
  (isFlat: boolean): Expand =>
  (on, args) => {
    const [variable, body] = args
    if (variable === undefined || body === undefined) return on.target
    const value = on.withContent(variable, body)
    const present = isFlat ? value : on.call("optional.of", value)
    return on.call("_?_:_", on.method(on.target, "hasValue"), present, on.call("optional.none"))
  }

/** Sorts by the values of an expression of each element. */
const sortBy: Expand = (on, args) => {
  const input = "@__sortBy_input__"
  const [variable, key] = args
  if (variable === undefined || key === undefined) return on.target
  const keys = new On(on.factory, on.at, "map", on.ident(input))
  const mapped = keys.fold([variable], { init: keys.list(), step: keys.appended(key) })
  return on.bind(input, on.target, on.method(on.ident(input), "@sortByAssociatedKeys", mapped))
}

/** By name and number of arguments. */
const macros: ReadonlyMap<string, Expand> = new Map<string, Expand>([
  ["all/2", tested("all", 1)],
  ["all/3", tested("all", 2)],
  ["exists/2", tested("exists", 1)],
  ["exists/3", tested("exists", 2)],
  ["exists_one/2", existsOne(1)],
  ["existsOne/2", existsOne(1)],
  ["exists_one/3", existsOne(2)],
  ["existsOne/3", existsOne(2)],
  ["map/2", listed(1)],
  ["map/3", listed(1)],
  ["filter/2", filter],
  ["sortBy/2", sortBy],
  ["transformList/3", listed(2)],
  ["transformList/4", listed(2)],
  ["transformMap/3", mapped(false)],
  ["transformMap/4", mapped(false)],
  ["transformMapEntry/3", mapped(true)],
  ["transformMapEntry/4", mapped(true)],
  ["optMap/2", content(false)],
  ["optFlatMap/2", content(true)]
])
