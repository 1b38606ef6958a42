/**
 * Sets of fields in their wire form, `fieldsV1`: a tree whose keys are `f:member`, `k:{…}` for a list element by its key members and
 * `v:…` for a set element. A node is itself in the set when it is empty or has the key `.`; otherwise only its descendants are. The
 * empty tree is the empty set. All operations are pure and share structure. Source: structured-merge-diff: fieldpath.
 */
import { get, isObject, set } from "../json.ts"
import type { JsonObject } from "../json.ts"

export type FieldSet = JsonObject

export const empty: FieldSet = Object.freeze({})

/** A node that is in the set, without descendants. */
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

/** The descendants of a node, without the key `.` of the node itself. */
const below = (node: FieldSet): FieldSet => {
  if (!Object.hasOwn(node, ".")) return node
  const { ".": _itself, ...rest } = node
  return rest
}

/** A node from its membership and its descendants; undefined when it has neither. */
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

/** Whether `b` is a subset of `a`: the usual case of an update, decided without allocation. */
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

/** Whether the intersection is not empty. */
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

/** The paths as kube-apiserver prints them, `.spec.containers[name="a"].image`: sorted, descendants last. */
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

/** A client may have sent any text as the key of an element. */
const elementMembers = (text: string): JsonObject | undefined => {
  try {
    const members: unknown = JSON.parse(text)
    return isObject(members) ? members : undefined
  } catch {
    return undefined // the caller prints the text unchanged
  }
}
