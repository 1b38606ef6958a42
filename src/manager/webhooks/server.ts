/**
 * The server of webhooks: HTTPS with a certificate that is mounted, or that the manager makes itself, exchanged for its successor while
 * it serves; reviews under way are answered when it closes. It is ready once a handshake succeeds. Loaded only where webhooks
 * are served. Platform edge.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { connect } from "node:tls"
import { Health } from "../../layers/Health.ts"
import type { Address } from "../../layers/http/address.ts"
import * as CertificateFiles from "../../platform/listener/certificateFiles.ts"
import type { Handler } from "../../layers/http/handler.ts"
import * as Listener from "../../platform/listener/Listener.ts"
import { settings } from "../settings/webhooks.ts"
import * as CertificateManager from "./certificates/CertificateManager.ts"
import { bodyLimit } from "./handle.ts"

export type Source =
  | { readonly _tag: "Mounted"; readonly files: CertificateFiles.Files }
  /** `isKept`: false where nothing is stored, so that there is nothing to follow. */
  | { readonly _tag: "Own"; readonly options: CertificateManager.Options; readonly isKept: boolean }

export interface Options {
  readonly address: Address
  readonly source: Source
  /** HTTP/2 as well. */
  readonly http2: boolean
  readonly handle: Handler
}

/** No API server waits longer for an answer than half of this. */
const drainLimit = "1 minute"

/** Serves for as long as the scope is open; the address that it listens on. */
export const start = Effect.fnUntraced(function* ({ address, handle, http2, source }: Options) {
  const health = yield* Health
  yield* health.register("readiness", { name: "webhook", run: Effect.succeed("the webhooks are not served yet") })
  const certificate = yield* certificateOf(source)
  const listening = yield* Listener.listen({
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
  if (source._tag === "Mounted") yield* CertificateFiles.follow(source.files, certificate, replaceUnsafe)
  else if (source.isKept) {
    yield* CertificateManager.follow(source.options, certificate, (bundle) => replaceUnsafe(bundle.certificate))
  }
  const bound: Address = { ...address, port }
  yield* health.register("readiness", { name: "webhook", run: handshakeFailure(bound) })
  yield* Effect.annotateLogs(Effect.logInfo("Serving webhooks"), { port })
  return bound
})

const certificateOf = (source: Source) =>
  source._tag === "Own"
    ? Effect.map(CertificateManager.open(source.options), ({ certificate }) => certificate)
    : CertificateFiles.read({ ...source.files, mustBeValid: true }).pipe(
        Effect.mapError(({ message }) => new CertificateFiles.CertificateError({ message: `${message}; ${remedy}` }))
      )

const remedy = `mount a valid pair there, name another directory with --${settings.webhookCertPath.name}, or turn webhooks off with --${settings.skipWebhookConfig.name}`

/** Milliseconds; the next probe tries again. */
const handshakeTimeout = 2000

/**
 * Whether webhooks are served, as a client sees it: a handshake with our own port, and the dates of the certificate that it shows. The issuer
 * does not matter. One sentence that says what is wrong; undefined when nothing is. Source: controller-runtime: StartedChecker.
 */
const handshakeFailure = ({ host, port }: Address): Effect.Effect<string | undefined> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.callback((resume) => {
      const socket = connect({ host: reachable(host), port, rejectUnauthorized: false, timeout: handshakeTimeout })
      const end = (said: string | undefined): void => {
        socket.destroy()
        resume(Effect.succeed(said))
      }
      socket.once("secureConnect", () => {
        const validTo = socket.getPeerX509Certificate()?.validTo ?? ""
        end(now >= Date.parse(validTo) ? `the webhooks' certificate has expired, on ${validTo}` : undefined)
      })
      socket.once("error", (error) => end(`the webhooks are not served: ${error.message}`))
      socket.once("timeout", () => end("the webhooks are not served: a handshake takes too long"))
      return Effect.sync(() => void socket.destroy())
    })
  )

/** Where a server listens that was given every address, or none. */
const reachable = (host: string | undefined): string =>
  host === undefined || host === "0.0.0.0" || host === "::" ? "localhost" : host
