/**
 * The contract for X.509 certificates: the manager decides when a certificate is renewed and who signs it; keys, signatures and the encoding are
 * the platform's. `platform/listener/certificates.ts` implements it on Node.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

/** A certificate and its key, as PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: Redacted.Redacted
  /** Authorities of client certificates. Absent: clients need no certificate. */
  readonly clientAuthorities?: string | undefined
}

/** What a new certificate states. */
export interface Subject {
  /** Common name. */
  readonly name: string
  /** Milliseconds of the wall clock. */
  readonly notBefore: number
  readonly notAfter: number
}

export interface ServerSubject extends Subject {
  /** Names and addresses by which clients reach the server. */
  readonly hosts: ReadonlyArray<string>
}

/** A certificate that was read. */
export interface X509 {
  readonly pem: string
  /** SHA-256. */
  readonly fingerprint: string
  /** Milliseconds of the wall clock. */
  readonly notBefore: number
  readonly notAfter: number
  /** Names and addresses of the extension subjectAltName. */
  readonly hosts: ReadonlyArray<string>
  readonly isSignedBy: (authority: X509) => boolean
  /** False for a PEM text that has no private key, too. */
  readonly hasKey: (pem: string) => boolean
}

export class Certificates extends Context.Service<
  Certificates,
  {
    /** All certificates of a PEM text; none if one of them cannot be read. */
    readonly read: (pem: string) => ReadonlyArray<X509>
    /** A new authority that signs servers' certificates, and no other authorities. */
    readonly authority: (subject: Subject) => Effect.Effect<Certificate>
    /** A new server's certificate, signed by an authority. */
    readonly sign: (by: Certificate, subject: ServerSubject) => Effect.Effect<Certificate>
  }
>()("effect-controller-manager/Certificates") {}
