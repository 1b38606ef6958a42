/**
 * JSON patch (RFC 6902) with JSON pointers (RFC 6901): operations in order, all or none. Never changes the document: containers on the
 * path of an operation are copied, the rest is shared. Errors name the operation.
 */
import { equal, get, isObject, set, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as Status from "../../../kube/Status.ts"
import * as StatusError from "../../StatusError.ts"

/** Maximum number of operations, as in kube-apiserver. */
const limit = 10_000

/** Maximum bytes that copies may add: without it, each copy of the root into itself would double the object. */
const copyLimit = 3 * 1024 * 1024

const tooLarge = (message: string): StatusError.StatusError =>
  new StatusError.StatusError({ status: Status.failure({ code: 413, reason: "RequestEntityTooLarge", message }) })

export const apply = (document: Json, patch: Json): Json => {
  if (!Array.isArray(patch))
    throw StatusError.badRequest("error decoding patch: a JSON patch is an array of operations")
  if (patch.length > limit) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${limit}, got ${patch.length}`)
  }
  let copied = 0
  const spend = (value: Json): void => {
    copied += JSON.stringify(value).length
    if (copied <= copyLimit) return
    throw tooLarge(
      `Request entity too large: Unable to complete the copy, the accumulated size increase of copy is ${copied}, exceeding the limit ${copyLimit}`
    )
  }
  return patch.reduce<Json>((current, operation) => step(current, operation, spend), document)
}

const step = (document: Json, operation: Json, spend: (copied: Json) => void): Json => {
  if (!isObject(operation)) throw StatusError.badRequest("error decoding patch: an operation is an object")
  const op = textAt(operation, "op")
  const path = pointer(operation, "path")
  switch (op) {
    case "add":
      return change(
        document,
        path,
        (parent, key) => add(parent, key, value(operation)),
        () => value(operation)
      )
    case "remove":
      return remove(document, path)
    case "replace":
      find(document, path)
      return replace(document, path, value(operation))
    case "move": {
      const from = pointer(operation, "from")
      const moved = find(document, from)
      if (path.length > from.length && from.every((part, index) => part === path[index])) {
        throw StatusError.unprocessable(`move operation: cannot move ${text(from)} into itself`)
      }
      const without = remove(document, from)
      return change(
        without,
        path,
        (parent, key) => add(parent, key, moved),
        () => moved
      )
    }
    case "copy": {
      const copied = find(document, pointer(operation, "from"))
      spend(copied)
      return change(
        document,
        path,
        (parent, key) => add(parent, key, copied),
        () => copied
      )
    }
    case "test":
      if (equal(find(document, path), value(operation))) return document
      throw StatusError.unprocessable(`testing value ${text(path)} failed: test failed`)
    default:
      throw StatusError.unprocessable(`Unexpected kind: ${op || "unknown"}`)
  }
}

const value = (operation: JsonObject): Json => {
  const found = get(operation, "value")
  if (found === undefined) throw StatusError.unprocessable(`${textAt(operation, "op")} operation: missing value`)
  return found
}

const pointer = (operation: JsonObject, member: "path" | "from"): ReadonlyArray<string> => {
  const found = get(operation, member)
  if (typeof found !== "string")
    throw StatusError.unprocessable(`${textAt(operation, "op")} operation: missing ${member}`)
  if (found === "") return []
  if (!found.startsWith("/")) throw StatusError.unprocessable(`invalid JSON pointer ${JSON.stringify(found)}`)
  return found
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
}

const text = (path: ReadonlyArray<string>): string => path.map((part) => `/${part}`).join("")

const missing = (path: ReadonlyArray<string>): StatusError.StatusError =>
  StatusError.unprocessable(`doc is missing path: ${JSON.stringify(text(path))}: missing value`)

const find = (document: Json, path: ReadonlyArray<string>): Json => {
  let current: Json | undefined = document
  for (const key of path) {
    current = Array.isArray(current)
      ? current[index(key, current.length - 1)]
      : isObject(current)
        ? get(current, key)
        : undefined
    if (current === undefined) throw missing(path)
  }
  return current
}

/** An index without sign and leading zeros, at most `last`. */
const index = (key: string, last: number): number => {
  if (!/^(0|[1-9]\d*)$/.test(key)) throw StatusError.unprocessable(`invalid array index ${JSON.stringify(key)}`)
  const found = Number(key)
  if (found > last) throw StatusError.unprocessable(`unable to access invalid index: ${key}: invalid index referenced`)
  return found
}

type Container = JsonObject | Array<Json>

/** Copies the containers on the path and changes the last one; `root` is the result for the empty path. */
const change = (
  document: Json,
  path: ReadonlyArray<string>,
  edit: (parent: Container, key: string) => void,
  root: () => Json
): Json => {
  const [key, ...rest] = path
  if (key === undefined) return root()
  if (Array.isArray(document)) {
    const copy = [...document]
    if (rest.length === 0) edit(copy, key)
    else {
      const at = index(key, copy.length - 1)
      copy[at] = change(copy[at] ?? null, rest, edit, root)
    }
    return copy
  }
  if (!isObject(document)) throw missing(path)
  const copy = { ...document }
  if (rest.length === 0) edit(copy, key)
  else {
    const child = get(copy, key)
    if (child === undefined) throw missing(path)
    set(copy, key, change(child, rest, edit, root))
  }
  return copy
}

const add = (parent: Container, key: string, added: Json): void => {
  if (!Array.isArray(parent)) set(parent, key, added)
  else parent.splice(key === "-" ? parent.length : index(key, parent.length), 0, added)
}

const remove = (document: Json, path: ReadonlyArray<string>): Json => {
  find(document, path)
  return change(
    document,
    path,
    (parent, key) => {
      if (Array.isArray(parent)) parent.splice(index(key, parent.length - 1), 1)
      else delete parent[key]
    },
    () => null
  )
}

const replace = (document: Json, path: ReadonlyArray<string>, replacement: Json): Json =>
  change(
    document,
    path,
    (parent, key) => {
      if (Array.isArray(parent)) parent[index(key, parent.length - 1)] = replacement
      else set(parent, key, replacement)
    },
    () => replacement
  )
