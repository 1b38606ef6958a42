/**
 * The embedded cluster: the API server behind HTTPS on loopback, a certificate and a token generated at the start, and a kubeconfig file
 * while it runs. It provides only an address and credentials: all clients, this process included, use the network. Nodes and demo
 * objects are in `src/simulation`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { ApiServer, type Options as ApiServerOptions } from "../ApiServer.ts"
import { install } from "../apiextensions/install.ts"
import type * as Certificate from "./certificate.ts"
import * as Identity from "./identity.ts"
import * as HttpsServer from "./HttpsServer.ts"
import * as Kubeconfig from "./files/kubeconfigFile.ts"
import * as TokenSigner from "./tokenSigner.ts"
import * as HttpsWebhooks from "./webhookCaller.ts"
import { WebhookCaller } from "../webhook/WebhookCaller.ts"
import { Endpoint } from "../../layers/Endpoint.ts"

/** Settings of the layer. */
export interface Options {
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined
  /** Directory of the kubeconfig; by default a new directory below the temporary directory of the system. */
  readonly directory?: string | undefined
  /** The built-in admission plugins that run; the default is that of the API server. */
  readonly admission?: ApiServerOptions["admission"]
  /** The authorization mode: `RBAC` by default, or `AlwaysAllow`. */
  readonly authorization?: ApiServerOptions["authorization"]
  /** The audit log. */
  readonly audit?: ApiServerOptions["audit"]
  /** Serve `metrics.k8s.io`; off by default. */
  readonly metrics?: ApiServerOptions["metrics"]
  /** CustomResourceDefinitions that are installed at the start. */
  readonly crds?: ReadonlyArray<object> | undefined
  /** Addresses of webhooks that are configured by service; webhooks with a URL need none. */
  readonly webhooks?: HttpsWebhooks.Options | undefined
}

/** The cluster could not be started; the message is one sentence for the user. */
export class EmbeddedClusterError extends Data.TaggedError("EmbeddedClusterError")<{
  readonly message: string
  /** The underlying error. */
  readonly cause: unknown
}> {}

/** A running embedded cluster, and how to connect to it. */
export class EmbeddedCluster extends Context.Service<
  EmbeddedCluster,
  {
    /** For other clients. */
    readonly endpoint: {
      /** `https://127.0.0.1:<port>`. */
      readonly server: string
      /** PEM: the only authority to trust for it. */
      readonly ca: string
      readonly token: Redacted.Redacted
    }
    /** Path of the file; its context is `embedded`. */
    readonly kubeconfig: string
    /** Issues a client certificate and its key for this user in these groups. */
    readonly issue: (name: string, groups?: ReadonlyArray<string>) => Effect.Effect<Certificate.Pair>
    /** Signs service account tokens that the server accepts. */
    readonly signer: TokenSigner.KeySigner
    /** Logs and measurements come from these nodes, for as long as the scope is open. */
    readonly connectNodes: ApiServer["Service"]["connectNodes"]
    /** The audit log, oldest entry first, as far as it is retained. */
    readonly audit: ApiServer["Service"]["audit"]
    /** Counts of open connections, requests and watches. */
    readonly stats: HttpsServer.HttpsServer["stats"]
  }
>()("effect-controller-manager/EmbeddedCluster") {
  /** Serves until the scope closes. Nothing is persisted. */
  static readonly layer = (options: Options = {}): Layer.Layer<EmbeddedCluster, EmbeddedClusterError> =>
    Layer.unwrap(
      Effect.sync(() => {
        // From the CSPRNG of the platform on purpose: a token must not depend on the seed of a test or of a replay.
        const token = Redacted.make(randomBytes(32).toString("base64url"), { label: "token" })
        const signer = TokenSigner.make()
        const authentication = {
          signer,
          // The HTTPS server authenticates this token itself; this entry is for TokenReviews.
          known: Identity.byToken([{ token, user: Identity.administrator }])
        }
        const { admission, audit, authorization = "RBAC", metrics } = options
        return Layer.effect(EmbeddedCluster, make(options, token, signer)).pipe(
          Layer.provide(ApiServer.layer({ admission, audit, authorization, authentication, metrics })),
          Layer.provide(Layer.succeed(WebhookCaller, HttpsWebhooks.make(options.webhooks)))
        )
      })
    )

  /** The endpoint and credentials for `HttpTransport`. */
  static readonly layerEndpoint: Layer.Layer<Endpoint, never, EmbeddedCluster> = Layer.effect(
    Endpoint,
    Effect.map(EmbeddedCluster, ({ endpoint: { ca, server, token } }) => Endpoint.fixed({ server, tls: { ca }, token }))
  )
}

const make = Effect.fnUntraced(function* (options: Options, token: Redacted.Redacted, signer: TokenSigner.KeySigner) {
  const api = yield* ApiServer
  const now = yield* Clock.currentTimeMillis
  const { ca, certificate, issue, key } = yield* Effect.tryPromise({
    // Loaded here so that only this layer pays for the certificate library.
    try: async () => (await import("./certificate.ts")).make(now),
    catch: failure("cannot make a certificate for the embedded API server: ")
  })
  yield* Effect.mapError(install(api, options.crds ?? []), failure(""))
  const listener = yield* Effect.mapError(
    HttpsServer.listen({ api, certificate, key, token, clientCa: ca, port: options.port }),
    failure("")
  )
  const endpoint = { server: `https://${HttpsServer.host}:${listener.port}`, ca, token }
  const kubeconfig = yield* Effect.mapError(Kubeconfig.write(endpoint, options.directory), failure(""))
  return EmbeddedCluster.of({
    endpoint,
    kubeconfig,
    issue: (name, groups) => Effect.promise(() => issue(name, groups)),
    signer,
    connectNodes: api.connectNodes,
    audit: api.audit,
    stats: listener.stats
  })
})

const failure =
  (prefix: string) =>
  (cause: unknown): EmbeddedClusterError =>
    new EmbeddedClusterError({ cause, message: prefix + (cause instanceof Error ? cause.message : String(cause)) })
