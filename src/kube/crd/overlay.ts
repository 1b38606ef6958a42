/**
 * Writes a new value over the value that it was decoded from, and keeps fields that the Schema does not know: a three-way merge of the
 * original, its known part (the original decoded and encoded again), and the new known part. A field of the known part that the new one
 * lacks was removed on purpose; a field that neither has is unknown to the Schema and stays, at any depth. Pure, total on JSON.
 */
import * as Equal from "effect/Equal"

/** The arguments are not changed; the result shares parts with them. */
export const overlay = (original: unknown, known: unknown, next: unknown): unknown => {
  if (isRecord(original) && isRecord(next)) return fields(original, isRecord(known) ? known : {}, next)
  if (isArray(original) && isArray(next)) return elements(original, isArray(known) ? known : [], next)
  return next
}

type Fields = Readonly<Record<string, unknown>>

const fields = (original: Fields, known: Fields, next: Fields): Fields => {
  const out: Array<readonly [string, unknown]> = []
  for (const [key, value] of Object.entries(original)) {
    if (Object.hasOwn(next, key)) out.push([key, overlay(value, own(known, key), next[key])])
    else if (!Object.hasOwn(known, key)) out.push([key, value])
  }
  for (const [key, value] of Object.entries(next)) if (!Object.hasOwn(original, key)) out.push([key, value])
  return Object.fromEntries(out)
}

const own = (record: Fields, key: string): unknown => (Object.hasOwn(record, key) ? record[key] : undefined)

type Elements = ReadonlyArray<unknown>

/**
 * Each new element is written over the original element whose known part equals it, preferably the one at the same index. A changed element
 * is written over the one at its index, unless that is taken, or the list has become shorter, so that an index no longer identifies an element.
 */
const elements = (original: Elements, known: Elements, next: Elements): Elements => {
  const origin = new Map<number, number>()
  const claimed = new Set<number>()
  const claim = (to: number, from: number): void => {
    origin.set(to, from)
    claimed.add(from)
  }
  const isSame = (to: number, from: number): boolean => from < known.length && Equal.equals(known[from], next[to])
  next.forEach((_, at) => {
    if (at < original.length && isSame(at, at)) claim(at, at)
  })
  next.forEach((_, at) => {
    if (origin.has(at)) return
    const from = original.findIndex((_, index) => !claimed.has(index) && isSame(at, index))
    if (from >= 0) claim(at, from)
  })
  next.forEach((_, at) => {
    if (!origin.has(at) && !claimed.has(at) && at < original.length && next.length >= original.length) claim(at, at)
  })
  return next.map((value, at) => {
    const from = origin.get(at)
    return from === undefined ? value : overlay(original[from], known[from], value)
  })
}

const isArray = (value: unknown): value is Elements => Array.isArray(value)

const isRecord = (value: unknown): value is Fields => typeof value === "object" && value !== null && !isArray(value)
