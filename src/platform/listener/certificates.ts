/**
 * Reads X.509 certificates with Node and makes them with the library of `signing.ts`, which is large: it is loaded when the first certificate is
 * made.
 */
import * as Effect from "effect/Effect"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { Certificates, type X509 } from "../../layers/http/Certificates.ts"

const read = (pem: string): ReadonlyArray<X509> => {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    return found.map((one) => new NodeX509(new X509Certificate(one)))
  } catch {
    return []
  }
}

class NodeX509 implements X509 {
  readonly pem: string
  readonly fingerprint: string
  readonly notBefore: number
  readonly notAfter: number
  readonly hosts: ReadonlyArray<string>
  readonly #certificate: X509Certificate

  constructor(certificate: X509Certificate) {
    const { subjectAltName = "", validFrom, validTo } = certificate
    this.#certificate = certificate
    this.pem = certificate.toString()
    this.fingerprint = certificate.fingerprint256
    this.notBefore = Date.parse(validFrom)
    this.notAfter = Date.parse(validTo)
    this.hosts = subjectAltName.split(", ").map((one) => one.replace(/^(DNS|IP Address):/, ""))
  }

  isSignedBy(authority: X509): boolean {
    return this.#certificate.verify(new X509Certificate(authority.pem).publicKey)
  }

  hasKey(pem: string): boolean {
    try {
      return this.#certificate.checkPrivateKey(createPrivateKey(pem))
    } catch {
      return false
    }
  }
}

const signing = Effect.promise(() => import("./signing.ts"))

export const certificates = Certificates.of({
  read,
  authority: (subject) => Effect.flatMap(signing, (library) => Effect.promise(() => library.authority(subject))),
  sign: (by, subject) => Effect.flatMap(signing, (library) => Effect.promise(() => library.signed(by, subject)))
})
