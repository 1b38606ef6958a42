/**
 * The body of a list, parsed while it arrives, in pieces of some objects: the text of a list of any length is never in memory as a whole, one string
 * may not be longer than 512 MiB, and parsing does not stop the process for seconds. `metadata.managedFields` of the objects is cut out of the bytes
 * before they are parsed. The result is that of `JSON.parse` and of removing the field, for every body whose root has one key `items`.
 *
 * Both kinds of cuts are guesses that the parser then confirms. A piece ends before text that looks like the beginning of the first object. It is right if and
 * only if the piece is JSON: at that text the parser would otherwise still be in an array or object. A field is cut from its key to the first `]`. With no
 * second `[` in between, this is the whole array, or else the `]` is in a string. In that case all quotes after it change their roles and the piece ends in
 * a string, so it is not JSON. Each cut leaves a number that no API server sends, and the piece is right if each is in the metadata of an object.
 * A piece that is not right is parsed with its managedFields, and if that fails too, once more bytes have arrived.
 */
import { isAscii } from "node:buffer"
import { withoutManagedFields } from "../../streams/watch/decode.ts"

export interface ListBody {
  /** Copies the bytes. */
  readonly push: (chunk: Uint8Array) => void
  /** Bytes so far. */
  readonly size: () => number
  /** Parses the rest, and returns the whole list. Throws like `JSON.parse`. */
  readonly end: () => unknown
}

/** Bytes of a piece: V8 then keeps its text in the heap of young objects, where it is released cheaply. */
const pieceBytes = 64 * 1024

/** In an object of a list the metadata comes first, except for its kind; for others the body is parsed as a whole. */
const maxPrefix = 512

const managedFieldsKey = Buffer.from('"managedFields":[')
/** `JSON.parse` returns `Infinity`. */
const marker = Buffer.from("1e999")

export const make = (size = pieceBytes): ListBody => {
  const items: Array<unknown> = []
  /** What has not been parsed; from the beginning of an object on, once `head` is set. */
  let held = Buffer.allocUnsafe(0)
  let length = 0
  let total = 0
  /** Bytes with which a next attempt is made. */
  let wanted = size
  /** The text up to the `[` of the items; undefined while it is not known, null if it is not that of a list. */
  let head: string | null | undefined
  /** The comma between two objects, and the beginning of the second. */
  let separator: Buffer | undefined
  const parseObjects = objectsParser()

  const reserve = (more: number): void => {
    if (length + more <= held.length) return
    const grown = Buffer.allocUnsafe(Math.max(2 * held.length, length + more))
    held.copy(grown, 0, 0, length)
    held = grown
  }

  const drop = (until: number): void => {
    held.copyWithin(0, until, length)
    length -= until
  }

  const begin = (): void => {
    const found = headOf(held.subarray(0, length))
    head = found?.head ?? null
    separator = found?.separator
    if (found !== undefined) drop(found.head.length)
  }

  const parsePiece = (): void => {
    if (separator === undefined) return
    const end = held.subarray(0, length).lastIndexOf(separator)
    const found = end <= 0 ? undefined : parseObjects(held.subarray(0, end))
    if (found === undefined) {
      wanted = 2 * length
      return
    }
    for (const item of found) items.push(item)
    drop(end + 1)
    wanted = size
  }

  return {
    push: (chunk) => {
      reserve(chunk.byteLength)
      held.set(chunk, length)
      length += chunk.byteLength
      total += chunk.byteLength
      if (length < wanted || head === null) return
      if (head === undefined) begin()
      parsePiece()
    },
    size: () => total,
    end: () => {
      const rest = textOf(held.subarray(0, length))
      if (items.length === 0) return JSON.parse(`${head ?? ""}${rest}`)
      const list = JSON.parse(`${head}${rest}`) as { items: Array<unknown> }
      for (const item of list.items) items.push(item)
      list.items = items
      return list
    }
  }
}

const textOf = (bytes: Buffer): string => bytes.toString(isAscii(bytes) ? "latin1" : "utf8")

/** The keys of a list. Others could be one that ends with `items`. */
const listKeys = new Set(["kind", "apiVersion", "metadata", "items"])

/**
 * The beginning of a body up to its items, if it is that of a list with items. Completed by the ends of an array and an object it must be a list without items,
 * so the `[` begins the items.
 */
const headOf = (bytes: Buffer): { readonly head: string; readonly separator: Buffer } | undefined => {
  const at = bytes.indexOf('"items":[')
  const start = at + '"items":['.length
  const metadata = bytes.indexOf('"metadata":{', start)
  if (at === -1 || metadata === -1 || metadata - start > maxPrefix || bytes[start] !== 0x7b) return undefined
  const head = bytes.subarray(0, start)
  if (!isAscii(head)) return undefined
  const text = head.toString("latin1")
  const list = parsed(`${text}]}`) as { readonly items?: unknown } | undefined
  const isList = list !== undefined && Array.isArray(list.items) && Object.keys(list).every((key) => listKeys.has(key))
  if (!isList) return undefined
  const first = bytes.subarray(start, metadata + '"metadata":{'.length)
  return { head: text, separator: Buffer.concat([Buffer.from(","), first]) }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Item = { metadata?: { readonly managedFields?: unknown } | null } | null

/** Parses objects without the brackets around them, without their managedFields; undefined if they are not whole objects. */
const objectsParser = (): ((bytes: Buffer) => ReadonlyArray<unknown> | undefined) => {
  let copy = Buffer.allocUnsafe(0)
  let length = 0

  const append = (bytes: Buffer): void => {
    length += bytes.copy(copy, length)
  }

  /** Copies the bytes with a marker, which is shorter, in the place of each array of managedFields, and returns their number. */
  const cut = (bytes: Buffer): number => {
    if (copy.length < bytes.length) copy = Buffer.allocUnsafe(bytes.length)
    let [count, from, end] = [0, 0, 0]
    length = 0
    for (; ; count++) {
      const key = bytes.indexOf(managedFieldsKey, end)
      const start = key + managedFieldsKey.length
      end = key === -1 ? -1 : bytes.indexOf("]", start)
      if (end - start < marker.length || bytes.subarray(start, end).includes("[")) break
      append(bytes.subarray(from, start - 1))
      append(marker)
      from = end + 1
    }
    append(bytes.subarray(from))
    return count
  }

  return (bytes) => {
    const count = cut(bytes)
    const objects = parsed(`[${textOf(copy.subarray(0, length))}]`) as ReadonlyArray<Item> | undefined
    let removed = 0
    for (const item of count === 0 ? [] : (objects ?? [])) {
      if (item?.metadata?.managedFields !== Infinity) continue
      item.metadata = withoutManagedFields(item.metadata)
      removed++
    }
    return removed === count ? objects : (parsed(`[${textOf(bytes)}]`) as ReadonlyArray<unknown> | undefined)
  }
}
