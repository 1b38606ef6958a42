/**
 * Certificates for tests with real sockets: an authority, and certificates that it signs. The keys are elliptic, so that a test file creates its own
 * in milliseconds. Valid for 127.0.0.1 and localhost unless other names are given.
 */
import { X509CertificateGenerator, BasicConstraintsExtension, KeyUsagesExtension, KeyUsageFlags } from "@peculiar/x509"
import { ExtendedKeyUsageExtension, SubjectAlternativeNameExtension } from "@peculiar/x509"
import { webcrypto } from "node:crypto"

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }
const validity = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2120-01-01T00:00:00Z") }

export interface Pair {
  readonly cert: string
  readonly key: string
}

export interface Authority extends Pair {
  /** A certificate for a server and client alike; `name` is the common name. */
  readonly issue: (name: string, hosts?: ReadonlyArray<string>) => Promise<Pair>
}

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])

const pem = async (key: webcrypto.CryptoKey): Promise<string> => {
  const body = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key)).toString("base64")
  return `-----BEGIN PRIVATE KEY-----\n${(body.match(/.{1,64}/g) ?? []).join("\n")}\n-----END PRIVATE KEY-----\n`
}

let serial = 1

export const authority = async (name: string): Promise<Authority> => {
  const keys = await newKeys()
  const root = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: String(serial++).padStart(2, "0"),
      name: `CN=${name}`,
      ...validity,
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature, true)
      ]
    },
    webcrypto
  )
  return {
    cert: root.toString("pem"),
    key: await pem(keys.privateKey),
    issue: async (subject, hosts = ["127.0.0.1", "localhost"]) => {
      const own = await newKeys()
      const cert = await X509CertificateGenerator.create(
        {
          serialNumber: String(serial++).padStart(2, "0"),
          subject: `CN=${subject}`,
          issuer: root.subject,
          ...validity,
          publicKey: own.publicKey,
          signingKey: keys.privateKey,
          signingAlgorithm: algorithm,
          extensions: [
            new BasicConstraintsExtension(false),
            new ExtendedKeyUsageExtension(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]),
            new SubjectAlternativeNameExtension(
              hosts.map((value) => ({ type: /^[\d.]+$/.test(value) ? ("ip" as const) : ("dns" as const), value }))
            )
          ]
        },
        webcrypto
      )
      return { cert: cert.toString("pem"), key: await pem(own.privateKey) }
    }
  }
}
