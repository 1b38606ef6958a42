/**
 * Signs service account tokens with a private key, generated at the start or given. A generated key is from the CSPRNG of the platform
 * on purpose, since it must not be guessable; elliptic, because generating an RSA key is slow.
 */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto"
import type { Signer } from "../authentication/Signer.ts"

/** A signer whose signatures depend on the input alone. */
export interface KeySigner extends Signer {
  readonly sign: (input: string) => Uint8Array
}

export const make = (): KeySigner => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  return elliptic(privateKey, "ES256", "sha256")
}

/** A signer with a given key; undefined for unsupported types of keys. */
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

/** RFC 7518: the two numbers concatenated. */
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
