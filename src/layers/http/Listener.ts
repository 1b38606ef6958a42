/**
 * The contract of the small HTTP and HTTPS servers of the manager, for probes, metrics, debug pages and webhooks, and of the certificates that
 * they serve with. `platform/listener` implements it on Node.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Address } from "./address.ts"
import type { Certificate } from "./Certificates.ts"
import type { Handler } from "./handler.ts"

/** The server cannot listen; the message is one sentence for the user. */
export class ListenError extends Data.TaggedError("ListenError")<{
  readonly message: string
  /** The address is in use. */
  readonly isBusy: boolean
}> {}

/** The certificate cannot be used; the message is one sentence that names the file. */
export class CertificateError extends Data.TaggedError("CertificateError")<{ readonly message: string }> {}

/** A TLS handshake failed; the message says why. */
export class HandshakeError extends Data.TaggedError("HandshakeError")<{ readonly message: string }> {}

export interface Options {
  /** For messages: `metrics`. */
  readonly name: string
  /** The setting to change when the server cannot listen on the address. */
  readonly setting: string
  /** The value of that setting that turns the server off. Default 0. */
  readonly off?: string | undefined
  readonly address: Address
  /** Present: HTTPS. */
  readonly certificate?: Certificate | undefined
  /** With HTTPS: clients may choose HTTP/2. Default false. */
  readonly http2?: boolean | undefined
  /** Methods that are allowed besides GET and HEAD. */
  readonly methods?: ReadonlyArray<string> | undefined
  /** The largest body in bytes; the handler gets a 413 for a longer one. Default 1 KiB: most bodies are one word. */
  readonly bodyLimit?: number | undefined
  /** How long closing waits for responses in flight; a shutdown may shorten it. Default 2 seconds. */
  readonly drainLimit?: Duration.Input | undefined
  readonly handle: Handler
}

export interface Listening {
  readonly port: number
  /** Sets the certificate for new handshakes; open connections keep theirs. No effect without TLS. */
  readonly replaceUnsafe: (certificate: Certificate) => void
}

/** The files of a certificate that another program renews, as in a mounted Secret. */
export interface CertificateFiles {
  readonly directory: string
  /** Names of files in the directory, or absolute paths. */
  readonly cert: string
  readonly key: string
  /** Authorities of client certificates. Absent: clients need no certificate. */
  readonly clientAuthorities?: string | undefined
  /** Refuses a certificate that is not valid yet or has expired. Default false. */
  readonly mustBeValid?: boolean | undefined
}

export class Listener extends Context.Service<
  Listener,
  {
    /** Listens for as long as the scope is open, and then lets responses in flight finish within the limit. */
    readonly listen: (options: Options) => Effect.Effect<Listening, ListenError, Scope.Scope>
    /** Reads the files and checks that the key belongs to the certificate. */
    readonly readFiles: (files: CertificateFiles) => Effect.Effect<Certificate, CertificateError>
    /** Calls `replace` with each new certificate in the files, for as long as the scope is open. */
    readonly followFiles: (
      files: CertificateFiles,
      first: Certificate,
      replace: (certificate: Certificate) => void
    ) => Effect.Effect<void, never, Scope.Scope>
    /** Registers the metrics of `readFiles`, so that their series exist before the first read. */
    readonly preset: Effect.Effect<void>
    /** A self-signed certificate for this host, which no client trusts. */
    readonly selfSigned: Effect.Effect<Certificate>
    /** Makes a TLS handshake with a server on this host, whoever issued its certificate; the end of that certificate's validity, as OpenSSL prints it. */
    readonly handshake: (address: Address) => Effect.Effect<string, HandshakeError>
  }
>()("effect-controller-manager/Listener") {}
