/**
 * The types of CEL as its checker knows them, with the rules of assignment between them. Type parameters are bound in a `Bindings`; `dyn`
 * turns checking off for a value. Source: cel-go common/types and checker/types.go.
 */

export type Type =
  | { readonly kind: Simple }
  | { readonly kind: "type"; readonly params: readonly [Type] | readonly [] }
  | { readonly kind: "list"; readonly params: readonly [Type] }
  | { readonly kind: "map"; readonly params: readonly [Type, Type] }
  | { readonly kind: "opaque"; readonly name: string; readonly params: ReadonlyArray<Type> }
  | ObjectType
  | { readonly kind: "param"; readonly name: string }

/** An object of known fields, under their escaped names. Two are the same type when they are the same value. */
export interface ObjectType {
  readonly kind: "object"
  readonly name: string
  readonly fields: ReadonlyMap<string, Type>
}

type Simple =
  | "bool"
  | "bytes"
  | "double"
  | "duration"
  | "dyn"
  | "error"
  | "int"
  | "null"
  | "string"
  | "timestamp"
  | "uint"

const simple = (kind: Simple): Type => ({ kind })

export const bool = simple("bool")
export const bytes = simple("bytes")
export const double = simple("double")
export const duration = simple("duration")
export const dyn = simple("dyn")
export const error = simple("error")
export const int = simple("int")
export const nothing = simple("null")
export const string = simple("string")
export const timestamp = simple("timestamp")
export const uint = simple("uint")

export const list = (element: Type): Type => ({ kind: "list", params: [element] })
export const map = (key: Type, value: Type): Type => ({ kind: "map", params: [key, value] })
export const typeOf = (of: Type): Type => ({ kind: "type", params: [of] })
export const optional = (of: Type): Type => opaque("optional_type", of)
export const opaque = (name: string, ...params: ReadonlyArray<Type>): Type => ({ kind: "opaque", name, params })
export const param = (name: string): Type => ({ kind: "param", name })

/** The name that `type()` and messages give a type, without its parameters. */
export const nameOf = (type: Type): string => {
  switch (type.kind) {
    case "object":
    case "opaque":
    case "param":
      return type.name
    default:
      return type.kind
  }
}

const paramsOf = (type: Type): ReadonlyArray<Type> => ("params" in type ? type.params : [])

/** As messages show a type: `map(string, list(int))`. */
export const format = (type: Type): string => {
  if (type.kind === "error") return "!error!"
  const params = paramsOf(type)
  return params.length === 0 ? nameOf(type) : `${nameOf(type)}(${params.map(format).join(", ")})`
}

/** The type inside of an optional; undefined for any other type. */
export const unwrapped = (type: Type): Type | undefined =>
  type.kind === "opaque" && type.name === "optional_type" ? type.params[0] : undefined

export const isDyn = (type: Type): boolean => type.kind === "dyn"
const isDynOrError = (type: Type): boolean => type.kind === "dyn" || type.kind === "error"

export const equal = (one: Type, other: Type): boolean => {
  if (one === other) return true
  if (one.kind !== other.kind || one.kind === "object" || nameOf(one) !== nameOf(other)) return false
  const left = paramsOf(one)
  const right = paramsOf(other)
  return left.length === right.length && left.every((each, index) => equal(each, right[index] ?? error))
}

/** What type parameters stand for. A failed assignment leaves it as it was. */
export class Bindings {
  private bound: ReadonlyMap<string, Type> = new Map()

  assign(from: Type, to: Type): boolean {
    return this.assignAll([from], [to])
  }

  assignAll(from: ReadonlyArray<Type>, to: ReadonlyArray<Type>): boolean {
    const before = this.bound
    const isAssigned = this.listFits(from, to)
    if (!isAssigned) this.bound = before
    return isAssigned
  }

  /** The type with its parameters replaced; unbound ones become `dyn` if `free` says so. */
  substitute(type: Type, free: "dyn" | "keep"): Type {
    switch (type.kind) {
      case "param": {
        const found = this.bound.get(type.name)
        if (found !== undefined) return this.substitute(found, free)
        return free === "dyn" ? dyn : type
      }
      case "list":
        return list(this.substitute(type.params[0], free))
      case "map":
        return map(this.substitute(type.params[0], free), this.substitute(type.params[1], free))
      case "type":
        return type.params.length === 0 ? type : typeOf(this.substitute(type.params[0], free))
      case "opaque":
        return type.params.length === 0
          ? type
          : opaque(type.name, ...type.params.map((each) => this.substitute(each, free)))
      default:
        return type
    }
  }

  private listFits(from: ReadonlyArray<Type>, to: ReadonlyArray<Type>): boolean {
    return from.length === to.length && from.every((each, index) => this.fits(each, to[index] ?? error))
  }

  private fits(from: Type, to: Type): boolean {
    if (to.kind === "param") {
      const tried = this.bind(from, to)
      if (tried !== "unbound") return tried
    }
    if (from.kind === "param") return this.bind(to, from) === true
    if (isDynOrError(from) || isDynOrError(to)) return true
    if (from.kind === "null") return isNullable(to)
    if (to.kind === "null") return isNullable(from)
    if (from.kind !== to.kind) return false
    if (from.kind === "object" || to.kind === "object") return from === to
    if (from.kind === "type") return true
    return nameOf(from) === nameOf(to) && this.listFits(paramsOf(from), paramsOf(to))
  }

  /** `unbound` where the parameter cannot stand for the type, and stands for nothing yet. */
  private bind(type: Type, parameter: Type & { readonly kind: "param" }): boolean | "unbound" {
    if (equal(type, parameter)) return true
    const found = this.bound.get(parameter.name)
    if (found !== undefined) {
      if (equal(type, found)) return true
      if (!this.fits(type, found)) return false
      const general = mostGeneral(type, found)
      if (!this.occurs(parameter, general)) this.set(parameter, general)
      return true
    }
    if (this.occurs(parameter, type)) return "unbound"
    this.set(parameter, type)
    return true
  }

  private set(parameter: Type & { readonly kind: "param" }, type: Type): void {
    this.bound = new Map(this.bound).set(parameter.name, type)
  }

  private occurs(parameter: Type & { readonly kind: "param" }, within: Type): boolean {
    if (equal(parameter, within)) return true
    if (within.kind === "param") {
      const found = this.bound.get(within.name)
      return found !== undefined && this.occurs(parameter, found)
    }
    return paramsOf(within).some((each) => this.occurs(parameter, each))
  }
}

const isNullable = (type: Type): boolean => ["null", "opaque", "object", "duration", "timestamp"].includes(type.kind)

/** The more general of two types that are assignable to each other. */
export const mostGeneral = (one: Type, other: Type): Type => (isEqualOrLessSpecific(one, other) ? one : other)

const isEqualOrLessSpecific = (one: Type, other: Type): boolean => {
  if (isDyn(one) || one.kind === "param") return true
  if (isDyn(other) || other.kind === "param") return false
  if (one.kind !== other.kind) return false
  if (one.kind === "type") return true
  if (one.kind === "object") return one === other
  const right = paramsOf(other)
  return (
    nameOf(one) === nameOf(other) &&
    paramsOf(one).every((each, index) => isEqualOrLessSpecific(each, right[index] ?? error))
  )
}
