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

type Patched = Json | StatusError.StatusError

export const apply = (document: Json, patch: Json): Patched => {
  if (!Array.isArray(patch)) {
    return StatusError.badRequest("error decoding patch: a JSON patch is an array of operations")
  }
  if (patch.length > limit) {
    return tooLarge(`The allowed maximum operations in a JSON patch is ${limit}, got ${patch.length}`)
  }
  const copies = { size: 0 }
  let current = document
  for (const operation of patch) {
    const next = step(current, operation, copies)
    if (StatusError.isRefusal(next)) return next
    current = next
  }
  return current
}

/** What the copies of a patch have added so far, in characters. */
interface Copies {
  size: number
}

const step = (document: Json, operation: Json, copies: Copies): Patched => {
  if (!isObject(operation)) return StatusError.badRequest("error decoding patch: an operation is an object")
  const op = textAt(operation, "op")
  const path = pointer(operation, "path")
  if (StatusError.isRefusal(path)) return path
  switch (op) {
    case "add":
      return add(document, path, value(operation))
    case "remove":
      return remove(document, path)
    case "replace":
      return replace(document, path, value(operation))
    case "move":
      return move(document, path, pointer(operation, "from"))
    case "copy":
      return copy(document, path, pointer(operation, "from"), copies)
    case "test":
      return test(document, path, value(operation))
    default:
      return StatusError.unprocessable(`Unexpected kind: ${op || "unknown"}`)
  }
}

const value = (operation: JsonObject): Patched => {
  const found = get(operation, "value")
  return found === undefined ? StatusError.unprocessable(`${textAt(operation, "op")} operation: missing value`) : found
}

type Pointer = ReadonlyArray<string>

const pointer = (operation: JsonObject, member: "path" | "from"): Pointer | StatusError.StatusError => {
  const found = get(operation, member)
  if (typeof found !== "string") {
    return StatusError.unprocessable(`${textAt(operation, "op")} operation: missing ${member}`)
  }
  if (found === "") return []
  if (!found.startsWith("/")) return StatusError.unprocessable(`invalid JSON pointer ${JSON.stringify(found)}`)
  return found
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
}

const text = (path: Pointer): string => path.map((part) => `/${part}`).join("")

const missing = (path: Pointer): StatusError.StatusError =>
  StatusError.unprocessable(`doc is missing path: ${JSON.stringify(text(path))}: missing value`)

type Container = JsonObject | Array<Json>

/** What a container has at a key; undefined where it has nothing. */
const childOf = (parent: Json, key: string): Patched | undefined => {
  if (!Array.isArray(parent)) return isObject(parent) ? get(parent, key) : undefined
  const at = index(key, parent.length - 1)
  return StatusError.isRefusal(at) ? at : parent[at]
}

const find = (document: Json, path: Pointer): Patched => {
  let current = document
  for (const key of path) {
    const child = childOf(current, key)
    if (child === undefined) return missing(path)
    if (StatusError.isRefusal(child)) return child
    current = child
  }
  return current
}

/** An index without sign and leading zeros, at most `last`. */
const index = (key: string, last: number): number | StatusError.StatusError => {
  if (!/^(0|[1-9]\d*)$/.test(key)) return StatusError.unprocessable(`invalid array index ${JSON.stringify(key)}`)
  const found = Number(key)
  return found > last
    ? StatusError.unprocessable(`unable to access invalid index: ${key}: invalid index referenced`)
    : found
}

/** Copies the containers on the path and changes the last one with `edit`, which may refuse; `root` is the result for the empty path. */
const change = (
  document: Json,
  path: Pointer,
  edit: (parent: Container, key: string) => StatusError.StatusError | undefined,
  root: Patched
): Patched => {
  const [key, ...rest] = path
  if (key === undefined) return root
  if (!Array.isArray(document) && !isObject(document)) return missing(path)
  const copy = Array.isArray(document) ? [...document] : { ...document }
  if (rest.length === 0) return edit(copy, key) ?? copy
  const child = childOf(copy, key)
  if (child === undefined) return missing(path)
  const changed = StatusError.isRefusal(child) ? child : change(child, rest, edit, root)
  if (StatusError.isRefusal(changed)) return changed
  put(copy, key, changed)
  return copy
}

/** Replaces an element that exists, or sets a member. */
const put = (parent: Container, key: string, value: Json): undefined => {
  if (Array.isArray(parent)) parent[Number(key)] = value
  else set(parent, key, value)
}

const add = (document: Json, path: Pointer, added: Patched): Patched =>
  change(
    document,
    path,
    (parent, key) => {
      if (StatusError.isRefusal(added)) return added
      if (!Array.isArray(parent)) return put(parent, key, added)
      const at = key === "-" ? parent.length : index(key, parent.length)
      return StatusError.isRefusal(at) ? at : void parent.splice(at, 0, added)
    },
    added
  )

const remove = (document: Json, path: Pointer): Patched => {
  const found = find(document, path)
  if (StatusError.isRefusal(found)) return found
  const drop = (parent: Container, key: string): undefined => {
    if (Array.isArray(parent)) parent.splice(Number(key), 1)
    else delete parent[key]
  }
  return change(document, path, drop, null)
}

const replace = (document: Json, path: Pointer, replacement: Patched): Patched => {
  const found = find(document, path)
  if (StatusError.isRefusal(found)) return found
  if (StatusError.isRefusal(replacement)) return replacement
  return change(document, path, (parent, key) => put(parent, key, replacement), replacement)
}

const move = (document: Json, path: Pointer, from: Pointer | StatusError.StatusError): Patched => {
  if (StatusError.isRefusal(from)) return from
  const moved = find(document, from)
  if (StatusError.isRefusal(moved)) return moved
  if (path.length > from.length && from.every((part, index) => part === path[index])) {
    return StatusError.unprocessable(`move operation: cannot move ${text(from)} into itself`)
  }
  const without = remove(document, from)
  return StatusError.isRefusal(without) ? without : add(without, path, moved)
}

const copy = (document: Json, path: Pointer, from: Pointer | StatusError.StatusError, copies: Copies): Patched => {
  const copied = StatusError.isRefusal(from) ? from : find(document, from)
  if (StatusError.isRefusal(copied)) return copied
  copies.size += JSON.stringify(copied).length
  if (copies.size > copyLimit) {
    return tooLarge(
      `Request entity too large: Unable to complete the copy, the accumulated size increase of copy is ${copies.size}, exceeding the limit ${copyLimit}`
    )
  }
  return add(document, path, copied)
}

const test = (document: Json, path: Pointer, wanted: Patched): Patched => {
  const found = find(document, path)
  if (StatusError.isRefusal(found)) return found
  if (StatusError.isRefusal(wanted)) return wanted
  return equal(found, wanted) ? document : StatusError.unprocessable(`testing value ${text(path)} failed: test failed`)
}
