/**
 * Signs the tokens of service accounts, and knows its own signatures. A server that is reached from outside its process is given one
 * with a key (`http/tokenSigner.ts`); in tests `remembered` follows the seed, so that two runs are alike to the byte.
 */
import type * as Random from "effect/Random"

/** What a signer may know of the token it signs. */
export interface Circumstances {
  readonly random: Random.Random
  /** Milliseconds since the epoch. */
  readonly now: number
  /** When the token ends, in milliseconds since the epoch. */
  readonly expires: number
}

export interface Signer {
  /** As in the header of a JWT: `ES256`. */
  readonly algorithm: string
  readonly keyId: string
  readonly sign: (input: string, circumstances: Circumstances) => Uint8Array
  readonly verify: (input: string, signature: Uint8Array) => boolean
}

const bytes = 256

/** Signatures by chance, each good because it is remembered until its token ends. */
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
