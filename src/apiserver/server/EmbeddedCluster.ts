/**
 * The embedded cluster as a program meets it: the API server behind HTTPS on loopback, a certificate and a token made at the
 * start, and a kubeconfig for as long as it runs. It offers an address and credentials only: whoever wants to talk to the
 * server, this process included, goes through the network like any client. Nodes and demo objects are `nodes/demo.ts`.
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
import * as Kubeconfig from "./kubeconfigFile.ts"
import * as TokenSigner from "./tokenSigner.ts"
import * as HttpsWebhooks from "./webhookCaller.ts"
import { WebhookCaller } from "../webhook/WebhookCaller.ts"
import { Endpoint } from "../../layers/Endpoint.ts"

/** Settings of the layer. */
export interface Options {
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined
  /** Where the kubeconfig goes; a new directory under the system's temporary one unless given. */
  readonly directory?: string | undefined
  /** Which of the API server's built-in admission plugins run; its own choice unless said otherwise. */
  readonly admission?: ApiServerOptions["admission"]
  /** `RBAC`, which asks the roles of everybody but the administrator, unless everybody who is let in may do everything. */
  readonly authorization?: ApiServerOptions["authorization"]
  /** How much is kept of who asked for what. */
  readonly audit?: ApiServerOptions["audit"]
  /** CustomResourceDefinitions that are there from the start. */
  readonly crds?: ReadonlyArray<object> | undefined
  /** Where webhooks are that their configuration names by service; by URL they are called wherever they are. */
  readonly webhooks?: HttpsWebhooks.Options | undefined
}

/** The cluster could not be started; the message is one sentence for the user. */
export class EmbeddedClusterError extends Data.TaggedError("EmbeddedClusterError")<{
  readonly message: string
  /** What the system said. */
  readonly cause: unknown
}> {}

/** A running embedded cluster and how to reach it. */
export class EmbeddedCluster extends Context.Service<
  EmbeddedCluster,
  {
    /** For clients of one's own. */
    readonly endpoint: {
      /** `https://127.0.0.1:<port>`. */
      readonly server: string
      /** PEM: the only authority to trust for it. */
      readonly ca: string
      readonly token: Redacted.Redacted
    }
    /** Path of the file; its context is `embedded`. */
    readonly kubeconfig: string
    /** A certificate and its key by which a client is this user in these groups. */
    readonly issue: (name: string, groups?: ReadonlyArray<string>) => Effect.Effect<Certificate.Pair>
    /** Makes tokens of service accounts that the server believes. */
    readonly signer: TokenSigner.KeySigner
    /** Who asked for what and what came of it, oldest first; as much as is kept. */
    readonly audit: ApiServer["Service"]["audit"]
    /** What the front is doing right now. */
    readonly stats: HttpsServer.HttpsServer["stats"]
  }
>()("effect-controller-manager/EmbeddedCluster") {
  /** Serves from now on until its scope closes. Nothing is kept. */
  static readonly layer = (options: Options = {}): Layer.Layer<EmbeddedCluster, EmbeddedClusterError> =>
    Layer.unwrap(
      Effect.sync(() => {
        // From the platform's CSPRNG on purpose: a token must not follow the seed of a test or of a replay.
        const token = Redacted.make(randomBytes(32).toString("base64url"), { label: "token" })
        const signer = TokenSigner.make()
        const authentication = {
          signer,
          // The front knows it by itself; this is for reviews of it.
          known: Identity.byToken([{ token, user: Identity.administrator }])
        }
        const { admission, audit, authorization = "RBAC" } = options
        return Layer.effect(EmbeddedCluster, make(options, token, signer)).pipe(
          Layer.provide(ApiServer.layer({ admission, audit, authorization, authentication })),
          Layer.provide(Layer.succeed(WebhookCaller, HttpsWebhooks.make(options.webhooks)))
        )
      })
    )

  /** Where and as whom `HttpTransport` reaches it. */
  static readonly layerEndpoint: Layer.Layer<Endpoint, never, EmbeddedCluster> = Layer.effect(
    Endpoint,
    Effect.map(EmbeddedCluster, ({ endpoint: { ca, server, token } }) => Endpoint.fixed({ server, tls: { ca }, token }))
  )
}

const make = Effect.fnUntraced(function* (options: Options, token: Redacted.Redacted, signer: TokenSigner.KeySigner) {
  const api = yield* ApiServer
  const now = yield* Clock.currentTimeMillis
  const { ca, certificate, issue, key } = yield* Effect.tryPromise({
    // Loaded here because the certificate library costs time and memory that only this layer should pay.
    try: async () => (await import("./certificate.ts")).make(now),
    catch: failure("cannot make a certificate for the embedded API server: ")
  })
  yield* Effect.mapError(install(api, options.crds ?? []), failure(""))
  const front = yield* Effect.mapError(
    HttpsServer.listen({ api, certificate, key, token, clientCa: ca, port: options.port }),
    failure("")
  )
  const endpoint = { server: `https://${HttpsServer.host}:${front.port}`, ca, token }
  const kubeconfig = yield* Effect.mapError(Kubeconfig.write(endpoint, options.directory), failure(""))
  return EmbeddedCluster.of({
    endpoint,
    kubeconfig,
    issue: (name, groups) => Effect.promise(() => issue(name, groups)),
    signer,
    audit: api.audit,
    stats: front.stats
  })
})

const failure =
  (prefix: string) =>
  (cause: unknown): EmbeddedClusterError =>
    new EmbeddedClusterError({ cause, message: prefix + (cause instanceof Error ? cause.message : String(cause)) })
