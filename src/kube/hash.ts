/**
 * The short hash that names what was made from a template: a ReplicaSet's suffix and its `pod-template-hash`. It is used in names only;
 * `equality` decides whether two templates are the same. Equal templates have equal hashes. Source: pkg/util/hash: DeepHashObject;
 * apimachinery util/rand: SafeEncodeString.
 */
import * as Equality from "./equality.ts"

/** At most ten letters and digits, without vowels; another collision count gives another hash. */
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

/** Without vowels and digits that look like letters, so that no hash contains a word. */
const safe = (text: string): string =>
  Array.from(text, (character) => alphabet[character.charCodeAt(0) % alphabet.length]).join("")
