/**
 * A new value of what is known, written over the value it came from: what is not known stays. Three values decide: the original, its
 * known part (the original as the Schema reads and writes it), and the new known part. What the known part had and the new one has
 * not is gone on purpose; what neither had was never known, and stays, at any depth. Pure, total on JSON.
 */
import * as Equal from "effect/Equal"

/** Nothing of the arguments is changed; parts of them are shared with the result. */
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
 * An element goes over the one whose known part it equals, the one at its own place first. One that was changed goes over the one at its
 * place, unless that has been claimed, or the list has become shorter, so that places mean nothing.
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
