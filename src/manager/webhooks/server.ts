/**
 * The webhook server: HTTPS with a certificate that is mounted, or that the manager creates itself. A renewed certificate replaces the old one without
 * a restart, and reviews in flight are answered before the server closes. It is ready once a TLS handshake succeeds. This module is loaded only where
 * webhooks are served.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Health } from "../../layers/Health.ts"
import type { Address } from "../../layers/http/address.ts"
import type { Handler } from "../../layers/http/handler.ts"
import { CertificateError, type CertificateFiles, Listener } from "../../layers/http/Listener.ts"
import { settings } from "../settings/webhooks.ts"
import * as CertificateManager from "./certificates/CertificateManager.ts"
import { bodyLimit } from "./handle.ts"

export type Source =
  | { readonly _tag: "Mounted"; readonly files: CertificateFiles }
  /** `isKept`: false if the certificate is not stored, so that there is nothing to follow. */
  | { readonly _tag: "Own"; readonly options: CertificateManager.Options; readonly isKept: boolean }

export interface Options {
  readonly address: Address
  readonly source: Source
  /** Clients may choose HTTP/2. */
  readonly http2: boolean
  readonly handle: Handler
}

/** Twice the longest timeout of an API server. */
const drainLimit = "1 minute"

/** Serves for as long as the scope is open. Returns the address that it listens on. */
export const start = Effect.fnUntraced(function* ({ address, handle, http2, source }: Options) {
  const health = yield* Health
  const listener = yield* Listener
  yield* health.register("readiness", { name: "webhook", run: Effect.succeed("the webhooks are not served yet") })
  const certificate = yield* certificateOf(source)
  const listening = yield* listener.listen({
    name: "webhooks",
    setting: settings.webhookPort.name,
    off: "-1",
    address,
    certificate,
    http2,
    methods: ["POST"],
    bodyLimit,
    drainLimit,
    handle
  })
  const { port, replaceUnsafe } = listening
  if (source._tag === "Mounted") yield* listener.followFiles(source.files, certificate, replaceUnsafe)
  else if (source.isKept) {
    yield* CertificateManager.follow(source.options, certificate, (bundle) => replaceUnsafe(bundle.certificate))
  }
  const bound: Address = { ...address, port }
  yield* health.register("readiness", { name: "webhook", run: handshakeFailure(listener, bound) })
  yield* Effect.annotateLogs(Effect.logInfo("Serving webhooks"), { port })
  return bound
})

const certificateOf = (source: Source) =>
  source._tag === "Own"
    ? Effect.map(CertificateManager.open(source.options), ({ certificate }) => certificate)
    : Effect.flatMap(Listener, ({ readFiles }) => readFiles({ ...source.files, mustBeValid: true })).pipe(
        Effect.mapError(({ message }) => new CertificateError({ message: `${message}; ${remedy}` }))
      )

const remedy = `mount a valid pair there, name another directory with --${settings.webhookCertPath.name}, or turn webhooks off with --${settings.skipWebhookConfig.name}`

/**
 * Whether clients can reach the webhooks: undefined after a handshake with a certificate that has not expired, otherwise one sentence that says
 * what is wrong. Source: controller-runtime: StartedChecker.
 */
const handshakeFailure = (listener: Listener["Service"], address: Address): Effect.Effect<string | undefined> =>
  Effect.zipWith(Clock.currentTimeMillis, listener.handshake(address), (now, validTo) =>
    now >= Date.parse(validTo) ? `the webhooks' certificate has expired, on ${validTo}` : undefined
  ).pipe(Effect.catch(({ message }) => Effect.succeed(`the webhooks are not served: ${message}`)))
