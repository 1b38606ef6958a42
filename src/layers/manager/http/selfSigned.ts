/**
 * A certificate for a server that was given none: for this host and for loopback, signed by itself, gone with the process. It keeps
 * listeners on the way out; it proves nothing to anybody. Key and serial number come from the platform's CSPRNG on purpose:
 * secrets must not follow a seed. A module of its own because the certificate library is loaded with it. Platform edge.
 */
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator
} from "@peculiar/x509"
import * as Redacted from "effect/Redacted"
import { randomBytes, webcrypto } from "node:crypto"
import type { Certificate } from "./Listener.ts"

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }

const hour = 3_600_000

/** Valid from an hour before `now` (milliseconds) for ten years: nobody trusts it, so nothing is won by its end. */
export const make = async (host: string, now: number): Promise<Certificate> => {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
  const crypto: Crypto = webcrypto
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: `40${randomBytes(15).toString("hex")}`,
      name: [{ CN: [host] }],
      notBefore: new Date(now - hour),
      notAfter: new Date(now + 87_600 * hour),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension([
          { type: "dns", value: host },
          { type: "dns", value: "localhost" },
          { type: "ip", value: "127.0.0.1" },
          { type: "ip", value: "::1" }
        ])
      ]
    },
    crypto
  )
  const body = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64")
  return {
    cert: certificate.toString("pem"),
    key: Redacted.make(
      `-----BEGIN PRIVATE KEY-----\n${(body.match(/.{1,64}/g) ?? []).join("\n")}\n-----END PRIVATE KEY-----\n`
    )
  }
}
