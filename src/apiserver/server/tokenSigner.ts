/**
 * Signs the tokens of service accounts with a private key: one that is made at the start and that nobody else has, or one that was given.
 * A new one is from the platform's CSPRNG on purpose, since who can guess a token is let in; elliptic, because an RSA key takes long to make.
 */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto"
import type { Signer } from "../authentication/Signer.ts"

/** A signer that needs to know nothing but what it signs. */
export interface KeySigner extends Signer {
  readonly sign: (input: string) => Uint8Array
}

export const make = (): KeySigner => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  return elliptic(privateKey, "ES256", "sha256")
}

/** With a key of somebody's own; undefined for kinds of keys that no server verifies tokens by. */
export const of = (privateKey: KeyObject): KeySigner | undefined => {
  if (privateKey.asymmetricKeyType === "rsa") return signerOf(privateKey, "RS256", "sha256")
  switch (privateKey.asymmetricKeyDetails?.namedCurve) {
    case "prime256v1":
      return elliptic(privateKey, "ES256", "sha256")
    case "secp384r1":
      return elliptic(privateKey, "ES384", "sha384")
    case "secp521r1":
      return elliptic(privateKey, "ES512", "sha512")
    default:
      return undefined
  }
}

/** As RFC 7518 wants it: the two numbers one after the other. */
const elliptic = (privateKey: KeyObject, algorithm: string, hash: string): KeySigner =>
  signerOf(privateKey, algorithm, hash, { dsaEncoding: "ieee-p1363" })

const signerOf = (
  privateKey: KeyObject,
  algorithm: string,
  hash: string,
  form: { readonly dsaEncoding?: "ieee-p1363" } = {}
): KeySigner => {
  const publicKey = createPublicKey(privateKey)
  const keyId = createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64url")
  return {
    algorithm,
    keyId,
    sign: (input) => sign(hash, Buffer.from(input), { key: privateKey, ...form }),
    verify: (input, signature) => verify(hash, Buffer.from(input), { key: publicKey, ...form }, signature)
  }
}
