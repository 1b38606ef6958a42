/**
 * Whether webhooks are served, as a client finds it: a handshake with the manager's own port, and a look at the certificate that it shows.
 * Whom the certificate is by does not matter here. Platform edge. Source: controller-runtime's StartedChecker.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { connect } from "node:tls"
import type { Address } from "../http/address.ts"

/** Milliseconds; whoever probes asks again. */
const patience = 2000

/** One sentence that says what is wrong; undefined when nothing is. */
export const complaint = ({ host, port }: Address): Effect.Effect<string | undefined> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.callback((resume) => {
      const socket = connect({ host: reachable(host), port, rejectUnauthorized: false, timeout: patience })
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
