/**
 * Where an API server is and with which credentials this process calls it: the input of `HttpTransport`. The address is fixed; the
 * identity is read before every request, because tokens and certificates rotate while the process runs. `KubeConfig` makes an
 * endpoint from files, the embedded cluster from generated credentials, a test from a literal.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** TLS settings, in PEM. Two with equal fields share connections. */
export interface Tls {
  /** The certificate authorities of the server. Absent: those of the system. */
  readonly ca?: string | undefined
  /** The client certificate. */
  readonly cert?: string | undefined
  /** The key of the client certificate. */
  readonly key?: Redacted.Redacted | undefined
  /** The expected name in the server's certificate, where it differs from the host of the URL. */
  readonly servername?: string | undefined
  /** False only for `insecure-skip-tls-verify`. */
  readonly rejectUnauthorized: boolean
}

/** HTTP headers, by name. */
export type Headers = Readonly<Record<string, string | ReadonlyArray<string>>>

/** The credentials for the next request. The same object is returned as long as nothing has changed. */
export interface Identity {
  /** The certificates of the server and the client. */
  readonly tls: Tls
  /** The headers for authorization and impersonation. */
  readonly headers: Redacted.Redacted<Headers>
}

/** Credentials could not be obtained. The message is one sentence without secrets. */
export class CredentialsError extends Data.TaggedError("CredentialsError")<{ readonly message: string }> {}

/** An API server, and the credentials of this process. */
export class Endpoint extends Context.Service<
  Endpoint,
  {
    /** Base URL. Its path is a prefix of every request's path. */
    readonly server: string
    /** Proxy to go through, `http://user:password@host:port`. */
    readonly proxy?: Redacted.Redacted | undefined
    /** Run before every request, so it must be cheap: it caches credentials while they are valid. */
    readonly identity: Effect.Effect<Identity, CredentialsError>
    /**
     * Called when the server has responded with 401 to this identity. Returns true when there is a new identity to retry with, obtained
     * by this call or meanwhile by another one.
     */
    readonly renew: (rejected: Identity) => Effect.Effect<boolean, CredentialsError>
  }
>()("effect-controller-manager/Endpoint") {
  /** An endpoint whose identity never changes. */
  static readonly fixed = (options: {
    readonly server: string
    readonly tls?: Partial<Tls> | undefined
    readonly token?: Redacted.Redacted | string | undefined
    readonly headers?: Headers | undefined
    readonly proxy?: Redacted.Redacted | undefined
  }): Endpoint["Service"] => {
    const token = Redacted.isRedacted(options.token) ? Redacted.value(options.token) : options.token
    const identity: Identity = {
      tls: { rejectUnauthorized: true, ...options.tls },
      headers: Redacted.make({
        ...options.headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
      })
    }
    return Endpoint.of({
      server: options.server,
      proxy: options.proxy,
      identity: Effect.succeed(identity),
      renew: () => Effect.succeed(false)
    })
  }
}

/** Compares field by field. The PEM texts have a few kilobytes, and they are compared only when the objects differ. */
export const sameTls = (a: Tls, b: Tls): boolean =>
  a === b ||
  (a.ca === b.ca &&
    a.cert === b.cert &&
    a.servername === b.servername &&
    a.rejectUnauthorized === b.rejectUnauthorized &&
    keyText(a) === keyText(b))

const keyText = (tls: Tls): string | undefined => (tls.key === undefined ? undefined : Redacted.value(tls.key))
