/**
 * Creates keys and certificates: self-signed servers, servers signed by an authority, and authorities. Keys and serial numbers come from the
 * platform's CSPRNG and never from Effect's `Random`, because secrets must not follow a seed. This module loads the certificate library, so it is
 * loaded lazily. Source: RFC 5280.
 */
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator
} from "@peculiar/x509"
import * as Redacted from "effect/Redacted"
import { createPrivateKey, randomBytes, webcrypto } from "node:crypto"
import { isIP } from "node:net"
import type { Certificate, ServerSubject, Subject } from "../../layers/http/Certificates.ts"

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }

const crypto: Crypto = webcrypto

/** A self-signed server's certificate, which no client trusts. */
const selfSigned = async (subject: ServerSubject): Promise<Certificate> => {
  const keys = await newKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned(
    { ...common(subject), name: [{ CN: [subject.name] }], keys, extensions: forServers(subject) },
    crypto
  )
  return pair(certificate, keys.privateKey)
}

const hour = 3_600_000

/**
 * For a server without a configured certificate: valid for this host and loopback, and kept in memory only. It encrypts and does not authenticate.
 * Valid for ten years from an hour before `now` (milliseconds), since no client trusts it anyway.
 */
export const temporary = (host: string, now: number): Promise<Certificate> =>
  selfSigned({
    name: host,
    hosts: [host, "localhost", "127.0.0.1", "::1"],
    notBefore: now - hour,
    notAfter: now + 87_600 * hour
  })

/** An authority that signs servers' certificates, and no other authorities. */
export const authority = async (subject: Subject): Promise<Certificate> => {
  const keys = await newKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      ...common(subject),
      name: [{ CN: [subject.name] }],
      keys,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, crypto)
      ]
    },
    crypto
  )
  return pair(certificate, keys.privateKey)
}

/** A certificate of a server, signed by an authority. */
export const signed = async (by: Certificate, subject: ServerSubject): Promise<Certificate> => {
  const [keys, issuer] = [await newKeys(), new X509Certificate(by.cert)]
  const certificate = await X509CertificateGenerator.create(
    {
      ...common(subject),
      subject: [{ CN: [subject.name] }],
      issuer: issuer.subject,
      publicKey: keys.publicKey,
      signingKey: await signingKey(by.key),
      extensions: [
        ...forServers(subject),
        // All authorities have the same name: the key identifier shows which one signed.
        await AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, crypto)
      ]
    },
    crypto
  )
  return pair(certificate, keys.privateKey)
}

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])

const signingKey = (key: Redacted.Redacted) =>
  webcrypto.subtle.importKey(
    "pkcs8",
    createPrivateKey(Redacted.value(key)).export({ type: "pkcs8", format: "der" }),
    algorithm,
    false,
    ["sign"]
  )

const common = ({ notAfter, notBefore }: Subject) => ({
  serialNumber: `40${randomBytes(15).toString("hex")}`,
  notBefore: new Date(notBefore),
  notAfter: new Date(notAfter),
  signingAlgorithm: algorithm
})

const forServers = ({ hosts }: ServerSubject): ReadonlyArray<Extension> & Array<Extension> => [
  new BasicConstraintsExtension(false, undefined, true),
  new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
  new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
  new SubjectAlternativeNameExtension(hosts.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value })))
]

const pair = async (certificate: X509Certificate, key: webcrypto.CryptoKey): Promise<Certificate> => {
  const body = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key)).toString("base64")
  return {
    cert: `${certificate.toString("pem")}\n`,
    key: Redacted.make(
      `-----BEGIN PRIVATE KEY-----\n${(body.match(/.{1,64}/g) ?? []).join("\n")}\n-----END PRIVATE KEY-----\n`
    )
  }
}
