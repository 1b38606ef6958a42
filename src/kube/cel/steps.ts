/**
 * How the parts of an expression are evaluated: each charges its cost, and yields the first failure of its parts unless another part decides.
 * Source: cel-go interpreter/{interpretable,runtimecost}.go.
 */
import { noOverload, optionalMember } from "./access.ts"
import { costOf } from "./cost/cost.ts"
import { accepts } from "./library/define.ts"
import type { Overload } from "./library/define.ts"
import { areComparable, equals, Failure, Optional } from "./Value.ts"
import type { List, Meter, Outcome, Value } from "./Value.ts"

export interface Frame {
  readonly meter: Meter
  readonly variables: ReadonlyMap<string, Outcome>
  /** The variables of comprehensions, each in a place of its own. */
  readonly slots: Array<Value>
}

export type Run = (frame: Frame) => Outcome

export const exceeded = new Failure("operation cancelled: actual cost limit exceeded", true)

/** Charges; what it yields ends the evaluation. */
export const charge = (meter: Meter, cost: number): Failure | undefined => {
  meter.cost += cost
  return meter.isExceeded ? exceeded : undefined
}

/** A constant list is searched at no cost. */
export const membership =
  (value: Run, list: List): Run =>
  (frame) => {
    const wanted = value(frame)
    if (wanted instanceof Failure) return wanted
    const { meter } = frame
    for (let index = 0; index < list.size; index += 1) {
      const element = list.at(index)
      if (!(element instanceof Failure) && equals(wanted, element, meter)) return true
    }
    return meter.isExceeded ? exceeded : false
  }

export const failing: Run = () => new Failure("no such overload")

/** One false decides a conjunction, even where the other side fails; one true a disjunction. */
export const logical =
  (deciding: boolean, first: Run, second: Run): Run =>
  (frame) => {
    const left = first(frame)
    if (left === deciding || (left instanceof Failure && left.isFatal)) return left
    const right = second(frame)
    if (right === deciding || (right instanceof Failure && right.isFatal)) return right
    if (left instanceof Failure) return left
    if (right instanceof Failure) return right
    return typeof left === "boolean" && typeof right === "boolean"
      ? !deciding
      : noOverload(deciding ? "_||_" : "_&&_", [left, right])
  }

export const conditional =
  (condition: Run, yes: Run, no: Run): Run =>
  (frame) => {
    const value = condition(frame)
    if (value === true) return yes(frame)
    if (value === false) return no(frame)
    return value instanceof Failure ? value : noOverload("_?_:_", [value])
  }

export const notStrictlyFalse =
  (operand: Run): Run =>
  (frame) => {
    const value = operand(frame)
    if (value instanceof Failure && value.isFatal) return value
    return charge(frame.meter, 1) ?? value !== false
  }

export const binary = (
  first: Run | undefined,
  second: Run | undefined,
  apply: (a: Value, b: Value) => Outcome,
  cost: number
): Run =>
  first === undefined || second === undefined
    ? failing
    : (frame) => {
        const left = first(frame)
        if (left instanceof Failure) return left
        const right = second(frame)
        if (right instanceof Failure) return right
        const value = apply(left, right)
        // What is not there in an optional value is not read.
        const isAbsent = value === Optional.none && (apply === optionalMember || left instanceof Optional)
        return charge(frame.meter, isAbsent ? cost - 1 : cost) ?? value
      }

/** The second part is evaluated only where the optional has no content. */
export const fallback =
  (isOptional: boolean, first: Run, second: Run): Run =>
  (frame) => {
    const left = first(frame)
    if (left instanceof Failure) return left
    if (!(left instanceof Optional)) return noOverload(isOptional ? "or" : "orValue", [left])
    if (left.content === undefined) return second(frame)
    return isOptional ? left : left.content
  }

export const equality = (name: "_!=_" | "_==_", first: Run, second: Run): Run => {
  const cost = costOf(name, "")
  return (frame) => {
    const left = first(frame)
    if (left instanceof Failure) return left
    const right = second(frame)
    if (right instanceof Failure) return right
    const { meter } = frame
    const stopped = charge(meter, cost([left, right], undefined))
    if (stopped !== undefined) return stopped
    if (!areComparable(left, right)) return name === "_!=_" || new Failure("no such overload")
    const isSame = equals(left, right, meter)
    return meter.isExceeded ? exceeded : isSame === (name === "_==_")
  }
}

/** A call of a function. Which one is decided by the values, where the types leave it open. */
export const invoke = (name: string, runs: ReadonlyArray<Run>, overloads: ReadonlyArray<Overload>): Run => {
  const priced = overloads.map((overload) => ({ overload, cost: costOf(name, overload.id) }))
  return (frame) => {
    const args: Array<Value> = []
    for (const run of runs) {
      const value = run(frame)
      if (value instanceof Failure) return value
      args.push(value)
    }
    const found = priced.find(({ overload }) => overload.args.every((type, at) => accepts(type, args[at] ?? null)))
    if (found === undefined) return noOverload(name, args)
    const { meter } = frame
    if (meter.isExceeded) return exceeded
    const result = found.overload.run(args, meter)
    const stopped = charge(meter, found.cost(args, result instanceof Failure ? undefined : result))
    return stopped ?? result
  }
}
