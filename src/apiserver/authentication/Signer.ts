/**
 * Signs and verifies service account tokens. A server outside the process gets a signer with a key (`server/tokenSigner.ts`); in tests
 * `remembered` draws signatures from the seeded Random, so that two runs are equal byte by byte.
 */
import type * as Random from "effect/Random"

/** What the signature of a token may depend on. */
export interface SigningContext {
  readonly random: Random.Random
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Expiry of the token, in milliseconds since the epoch. */
  readonly expires: number
}

export interface Signer {
  /** The JWT algorithm: `ES256`. */
  readonly algorithm: string
  readonly keyId: string
  readonly sign: (input: string, signingContext: SigningContext) => Uint8Array
  readonly verify: (input: string, signature: Uint8Array) => boolean
}

const bytes = 256

/** Draws random signatures and keeps each until its token expires. */
export const remembered = (): Signer => {
  const made = new Map<string, { readonly signature: Uint8Array; readonly expires: number }>()
  return {
    algorithm: "RS256",
    keyId: "embedded",
    sign: (input, { expires, now, random }) => {
      for (const [old, { expires }] of made) if (expires <= now) made.delete(old)
      const signature = Uint8Array.from({ length: bytes }, () => Math.floor(random.nextDoubleUnsafe() * 256))
      made.set(input, { signature, expires })
      return signature
    },
    verify: (input, signature) => {
      const own = made.get(input)?.signature
      return own?.length === signature.length && own.every((byte, index) => byte === signature[index])
    }
  }
}
