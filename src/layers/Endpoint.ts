/**
 * Where an API server is and how this process proves who it is: the input of `HttpTransport`. The address is fixed; the
 * identity is asked for before every request, because tokens and certificates rotate under a running process. Who makes
 * one: `KubeConfig` from files, the embedded cluster from what it has just generated, a test from a literal.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** TLS material, PEM. Two of them with equal fields share connections; a different one gets its own. */
export interface Tls {
  /** Absent: the system's authorities. */
  readonly ca?: string | undefined
  /** PEM: the client's certificate. */
  readonly cert?: string | undefined
  /** PEM: its key. */
  readonly key?: Redacted.Redacted | undefined
  /** Name to expect in the server's certificate, where it differs from the host of the URL. */
  readonly servername?: string | undefined
  /** False only when the user said so (`insecure-skip-tls-verify`). */
  readonly rejectUnauthorized: boolean
}

/** By name. */
export type Headers = Readonly<Record<string, string | ReadonlyArray<string>>>

/** What to present with the next request. The same object is returned as long as nothing has changed. */
export interface Identity {
  /** Certificates, the server's and the client's. */
  readonly tls: Tls
  /** Authorization and impersonation. */
  readonly headers: Redacted.Redacted<Headers>
}

/** Credentials could not be obtained; the message is one sentence and holds no secret. */
export class CredentialsError extends Data.TaggedError("CredentialsError")<{ readonly message: string }> {}

/** A server, and who this process is to it. */
export class Endpoint extends Context.Service<
  Endpoint,
  {
    /** Base URL; a path in it is a prefix of every request's path. */
    readonly server: string
    /** Proxy to go through, `http://user:password@host:port`. */
    readonly proxy?: Redacted.Redacted | undefined
    /** Cheap: called before every request, cached inside for as long as that is right. */
    readonly identity: Effect.Effect<Identity, CredentialsError>
    /**
     * The server has just answered 401 to this identity. Answers whether another try is worthwhile: true when a new
     * identity was obtained (by this call or meanwhile by another), false when there is none to be had.
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

/** Field by field; the PEM texts are a few kilobytes and the comparison runs only when the object is another one. */
export const sameTls = (a: Tls, b: Tls): boolean =>
  a === b ||
  (a.ca === b.ca &&
    a.cert === b.cert &&
    a.servername === b.servername &&
    a.rejectUnauthorized === b.rejectUnauthorized &&
    keyText(a) === keyText(b))

const keyText = (tls: Tls): string | undefined => (tls.key === undefined ? undefined : Redacted.value(tls.key))
