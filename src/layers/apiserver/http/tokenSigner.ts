/**
 * Signs the tokens of service accounts with a key that is made at the start and that nobody else has: from the platform's CSPRNG on
 * purpose, since who can guess a token is let in. Elliptic, because an RSA key takes long to make.
 */
import { createHash, generateKeyPairSync, sign, verify } from "node:crypto"
import type { Signer } from "../authentication/Signer.ts"

export const make = (): Signer => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const keyId = createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64url")
  // As RFC 7518 wants it: the two numbers one after the other.
  const dsaEncoding = "ieee-p1363"
  return {
    algorithm: "ES256",
    keyId,
    sign: (input) => sign("sha256", Buffer.from(input), { key: privateKey, dsaEncoding }),
    verify: (input, signature) => verify("sha256", Buffer.from(input), { key: publicKey, dsaEncoding }, signature)
  }
}
