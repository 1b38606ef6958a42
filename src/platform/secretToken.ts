/** A random secret for the address of a server on loopback, and its comparison in constant time. */
import * as Redacted from "effect/Redacted"
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"

/** 256 bits, as text that an address can contain. */
export const make = () => {
  const text = randomBytes(32).toString("base64url")
  const digest = digestOf(text)
  return {
    text: Redacted.make(text, { label: "token" }),
    /** Digests have one length, so the comparison takes the same time for each text. */
    matches: (other: string): boolean => timingSafeEqual(digestOf(other), digest)
  }
}

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest()
