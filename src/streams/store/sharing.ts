/**
 * Equal parts of objects are kept once. The pods of one owner differ in a few fields, and two states of one object in fewer, but a parser makes all of each.
 * What an object takes from another one in place of its own is garbage while it is young, which costs less than to keep it.
 */
import type * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"

/**
 * A function that replaces parts of an object, before others can read it, by equal ones of its previous state, or else of an object with the same owner, or
 * without an owner as it has none: nodes have their capacity and images in common. Both are looked up in the objects that it is given.
 */
export const make = () => {
  /** A key for each owner, and one for none. */
  const ofOwner = new Map<string | undefined, Key.Key>()
  return <A extends KubeObject>(among: ReadonlyMap<Key.Key, A>, key: Key.Key, object: A): void => {
    const owner = object.metadata.ownerReferences?.[0]?.uid
    const alike = among.get(key) ?? among.get(ofOwner.get(owner) ?? key)
    if (alike !== undefined) return void share(alike, object)
    // Owners of the past are forgotten all at once.
    if (ofOwner.size > 1000 + 2 * among.size) ofOwner.clear()
    ofOwner.set(owner, key)
  }
}

/** Objects that are nested deeper than this are left as they are: the API server accepts more levels than the stack has room for. */
const deepest = 200

/** V8 shares shorter strings while it parses. */
const shortest = 11

type Fields = Record<string, unknown>

/**
 * `after` with the parts of `before` where both are equal, or `before` itself if all is equal. Only values of JSON are compared. It writes to `after`, and
 * not to `before`.
 */
export const share = <T>(before: unknown, after: T): T => shared(before, after, 0) as T

const shared = (before: unknown, after: unknown, depth: number): unknown => {
  if (before === after) return before
  if (!isNested(before) || !isNested(after) || depth > deepest || Object.isFrozen(after)) return after
  if (Array.isArray(after)) return Array.isArray(before) ? sharedItems(before, after, depth) : after
  // A transform may have added values that are more than their fields, as it may have frozen some.
  return isPlain(before) && isPlain(after) ? sharedFields(before as Fields, after as Fields, depth) : after
}

const sharedItems = (before: ReadonlyArray<unknown>, after: Array<unknown>, depth: number): ReadonlyArray<unknown> => {
  let isEqual = before.length === after.length
  for (let i = 0; i < after.length && i < before.length; i++) {
    const part = shared(before[i], after[i], depth + 1)
    if (part !== after[i]) after[i] = part
    if (part !== before[i]) isEqual = false
  }
  return isEqual ? before : after
}

const sharedFields = (before: Fields, after: Fields, depth: number): Fields => {
  let isEqual = true
  let names = 0
  for (const name in after) {
    names++
    const value = after[name]
    // Another name that every object inherits leads to a function, which no value of JSON is equal to.
    const known = name === "__proto__" ? undefined : before[name]
    if (value === known) continue
    const part = isNested(value) ? shared(known, value, depth + 1) : value
    if (part !== value) after[name] = part
    if (part !== known) isEqual = false
  }
  if (isEqual && names === countNames(before)) return before
  for (const name in after) {
    const value = after[name]
    if (typeof value === "string" && value.length >= shortest && value === before[name]) after[name] = before[name]
  }
  return after
}

/** Without the array that `Object.keys` makes: this runs for every part of every object. */
const countNames = (fields: Fields): number => {
  let names = 0
  for (const _ in fields) names++
  return names
}

const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null
