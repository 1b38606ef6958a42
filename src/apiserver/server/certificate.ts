/**
 * The TLS certificates of the embedded server, generated at each start: an authority, a server certificate for loopback, and client
 * certificates on demand. Keys and serial numbers come from the CSPRNG of the platform on purpose: secrets must not depend on a seed. A
 * module of its own because it loads the certificate library.
 */
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonName,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator
} from "@peculiar/x509"
import * as Redacted from "effect/Redacted"
import { randomBytes, webcrypto } from "node:crypto"

/** PEM texts. */
export interface Pair {
  readonly certificate: string
  readonly key: Redacted.Redacted
}

export interface Material extends Pair {
  /** The authority that clients trust, and that signs client certificates. */
  readonly ca: string
  /** Issues a client certificate for this user in these groups, valid as long as that of the server. */
  readonly issue: (name: string, groups?: ReadonlyArray<string>) => Promise<Pair>
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }

const hour = 3_600_000

/** Valid from an hour before `now` (milliseconds), because clocks differ, for a year. */
export const make = async (now: number): Promise<Material> => {
  const validity = { notBefore: new Date(now - hour), notAfter: new Date(now + 365 * 24 * hour) }
  const crypto: Crypto = webcrypto
  const authority = await newKeys()
  const ca = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serial(),
      name: "CN=embedded-ca",
      ...validity,
      keys: authority,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(authority.publicKey, false, crypto)
      ]
    },
    crypto
  )
  const issue = async (subject: JsonName, usage: ExtendedKeyUsage, names: ReadonlyArray<Extension>): Promise<Pair> => {
    const own = await newKeys()
    const certificate = await X509CertificateGenerator.create(
      {
        serialNumber: serial(),
        subject,
        issuer: ca.subject,
        ...validity,
        publicKey: own.publicKey,
        signingKey: authority.privateKey,
        signingAlgorithm: algorithm,
        extensions: [
          new BasicConstraintsExtension(false, undefined, true),
          new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
          new ExtendedKeyUsageExtension([usage]),
          ...names,
          await AuthorityKeyIdentifierExtension.create(authority.publicKey, false, crypto)
        ]
      },
      crypto
    )
    return { certificate: certificate.toString("pem"), key: await pem(own.privateKey) }
  }
  const own = await issue([{ CN: ["embedded-apiserver"] }], ExtendedKeyUsage.serverAuth, [
    new SubjectAlternativeNameExtension([
      { type: "dns", value: "localhost" },
      { type: "ip", value: "127.0.0.1" },
      { type: "ip", value: "::1" }
    ])
  ])
  return {
    ...own,
    ca: ca.toString("pem"),
    issue: (name, groups = []) =>
      issue([...groups.map((group) => ({ O: [group] })), { CN: [name] }], ExtendedKeyUsage.clientAuth, [])
  }
}

const pem = async (key: webcrypto.CryptoKey): Promise<Redacted.Redacted> => {
  const text = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key)).toString("base64")
  const lines = text.match(/.{1,64}/g) ?? []
  return Redacted.make(`-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`)
}

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])

/** Sixteen random bytes, positive and without a leading zero, as DER requires. */
const serial = (): string => {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.toString("hex")
}
