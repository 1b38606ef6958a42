/**
 * Sets of fields in their wire form, `fieldsV1`: a tree whose keys are `f:member`, `k:{…}` for an element of a list by its
 * key members and `v:…` for an element of a set. A node is in the set itself when it is empty or has the key `.`; otherwise
 * only what is below it is. The empty tree as a whole is the empty set. All operations are pure and share structure.
 * Source: structured-merge-diff, fieldpath.
 */
import { get, isObject, set } from "../json.ts"
import type { JsonObject } from "../json.ts"

export type FieldSet = JsonObject

export const empty: FieldSet = Object.freeze({})

/** A node that is in its set, with nothing below it. */
export const leaf: FieldSet = empty

export const isEmpty = (fields: FieldSet): boolean => {
  for (const _ in fields) return false
  return true
}

export const child = (fields: FieldSet, key: string): FieldSet | undefined => {
  const found = get(fields, key)
  return isObject(found) ? found : undefined
}

/** Whether a node is itself in the set. */
export const isMember = (node: FieldSet): boolean => isEmpty(node) || Object.hasOwn(node, ".")

/** The node without its own mark: what is below it. */
const below = (node: FieldSet): FieldSet => {
  if (!Object.hasOwn(node, ".")) return node
  const { ".": _itself, ...rest } = node
  return rest
}

/** A node from its own mark and what is below; undefined when there is neither. */
const node = (member: boolean, children: FieldSet): FieldSet | undefined =>
  isEmpty(children) ? (member ? leaf : undefined) : member ? { ".": leaf, ...children } : children

export const union = (a: FieldSet, b: FieldSet): FieldSet => {
  const out: FieldSet = { ...a }
  for (const key of Object.keys(b)) {
    const left = child(a, key)
    const right = child(b, key) ?? leaf
    if (left === undefined) set(out, key, right)
    else if (left !== right) {
      set(out, key, node(isMember(left) || isMember(right), union(below(left), below(right))) ?? leaf)
    }
  }
  return out
}

/** What is in both. */
export const intersection = (a: FieldSet, b: FieldSet): FieldSet => {
  const out: FieldSet = {}
  for (const key of Object.keys(a)) {
    const left = child(a, key)
    const right = child(b, key)
    if (left === undefined || right === undefined) continue
    const part = node(isMember(left) && isMember(right), intersection(below(left), below(right)))
    if (part !== undefined) set(out, key, part)
  }
  return out
}

/** What is in `a` and not in `b`. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet => {
  const out: FieldSet = {}
  for (const key of Object.keys(a)) {
    const left = child(a, key) ?? leaf
    const right = child(b, key)
    if (right === undefined) set(out, key, left)
    else {
      const part = node(isMember(left) && !isMember(right), difference(below(left), below(right)))
      if (part !== undefined) set(out, key, part)
    }
  }
  return out
}

/** Whether `b` is a part of `a`; the usual case of an update, told without making anything. */
export const contains = (a: FieldSet, b: FieldSet): boolean => {
  for (const key of Object.keys(b)) {
    const left = child(a, key)
    const right = child(b, key)
    if (left === undefined || right === undefined) return false
    if (left === right) continue
    if (isMember(right) && !isMember(left)) return false
    if (!isEmpty(right) && !contains(left, right)) return false
  }
  return true
}

/** Whether anything is in both. */
export const overlaps = (a: FieldSet, b: FieldSet): boolean => {
  for (const key of Object.keys(b)) {
    const left = child(a, key)
    const right = child(b, key)
    if (left === undefined || right === undefined) continue
    if (isMember(left) && isMember(right)) return true
    if (overlaps(left, right)) return true
  }
  return false
}

/** The members as the server prints them, `.spec.containers[name="a"].image`: sorted, what is deeper after what is not. */
export const paths = (fields: FieldSet, prefix = ""): ReadonlyArray<string> => {
  const here: Array<string> = []
  const below: Array<string> = []
  for (const key of Object.keys(fields).sort()) {
    const under = child(fields, key) ?? leaf
    const path = prefix + segment(key)
    if (isEmpty(under)) here.push(path)
    else below.push(...paths(under, path))
  }
  return [...here, ...below]
}

const segment = (key: string): string => {
  if (key === ".") return ""
  const text = key.slice(2)
  if (key.startsWith("f:")) return `.${text}`
  if (key.startsWith("v:")) return `[=${text}]`
  const members = elementMembers(text)
  if (members === undefined) return `[${text}]`
  return `[${Object.keys(members)
    .map((name) => `${name}=${JSON.stringify(members[name])}`)
    .join(",")}]`
}

/** The key of an element may come from a client, who may have sent anything. */
const elementMembers = (text: string): JsonObject | undefined => {
  try {
    const members: unknown = JSON.parse(text)
    return isObject(members) ? members : undefined
  } catch {
    return undefined // printed as it is
  }
}
