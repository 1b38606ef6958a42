/** How functions are declared: a name, the types of its arguments and its result, and what computes it. */
import type * as Type from "../Type.ts"
import { Duration, List, Mapping, Opaque, Optional, Timestamp, TypeValue, Uint } from "../Value.ts"
import type { Meter, Outcome, Value } from "../Value.ts"

export interface Overload {
  /** By which costs are counted: `starts_with_string`. */
  readonly id: string
  /** Called on its first argument: `text.size()`. */
  readonly isMember: boolean
  readonly args: ReadonlyArray<Type.Type>
  readonly result: Type.Type
  readonly run: (args: ReadonlyArray<Value>, meter: Meter) => Outcome
}

export interface Definition extends Overload {
  readonly name: string
}

const definition =
  (isMember: boolean) =>
  <Args extends ReadonlyArray<Meter | Value>>(
    name: string,
    id: string,
    args: ReadonlyArray<Type.Type>,
    result: Type.Type,
    run: (...args: Args) => Outcome
  ): Definition => ({
    name,
    id,
    isMember,
    args,
    result,
    // Called only with arguments that the types accept; a function that bounds its work takes the meter besides.
    run: (given, meter) => run(...([...given, meter] as unknown as Args))
  })

/** `name(argument, …)`. */
export const fn = definition(false)

/** `argument.name(…)`. */
export const method = definition(true)

/** Whether a function for the type can be called with the value. */
export const accepts = (type: Type.Type, value: Value): boolean => {
  switch (type.kind) {
    case "bool":
      return typeof value === "boolean"
    case "bytes":
      return value instanceof Uint8Array
    case "double":
      return typeof value === "number"
    case "duration":
      return value instanceof Duration
    case "int":
      return typeof value === "bigint"
    case "list":
      return value instanceof List
    case "map":
    case "object":
      return value instanceof Mapping
    case "null":
      return value === null
    case "opaque":
      return type.name === "optional_type"
        ? value instanceof Optional
        : value instanceof Opaque && value.typeName === type.name
    case "string":
      return typeof value === "string"
    case "timestamp":
      return value instanceof Timestamp
    case "type":
      return value instanceof TypeValue
    case "uint":
      return value instanceof Uint
    default:
      return true
  }
}
