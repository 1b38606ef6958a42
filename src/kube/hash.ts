/**
 * The short hash that names what was made from a template: a ReplicaSet's suffix and its `pod-template-hash`. It only names things:
 * whether a template is the same is `equality`'s question. Templates that are equal hash alike. Source: pkg/util/hash: DeepHashObject; apimachinery util/rand: SafeEncodeString.
 */
import * as Equality from "./equality.ts"

/** At most ten letters and digits, without vowels; another one for another collision count. */
export const template = (template: unknown, collisionCount?: number): string => {
  let hash = fnv1a(fnvBasis, encoder.encode(Equality.canonical(template)))
  if (collisionCount !== undefined) hash = fnv1a(hash, littleEndian(collisionCount))
  return safe(String(hash))
}

const encoder = new TextEncoder()

const fnvBasis = 0x811c9dc5
const fnvPrime = 0x01000193

/** 32-bit FNV-1a, continued from `hash`. */
const fnv1a = (hash: number, bytes: Uint8Array): number => {
  let out = hash
  for (const byte of bytes) out = Math.imul(out ^ byte, fnvPrime)
  return out >>> 0
}

/** Eight bytes, of which four are used: the form in which the reference controller hashes a collision count. */
const littleEndian = (count: number): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setUint32(0, count, true)
  return bytes
}

const alphabet = "bcdfghjklmnpqrstvwxz2456789"

/** No vowels and no digits that look like letters, so that no word arises. */
const safe = (text: string): string =>
  Array.from(text, (character) => alphabet[character.charCodeAt(0) % alphabet.length]).join("")
