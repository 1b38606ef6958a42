/**
 * The console's server: on loopback over HTTP with a token in the printed address, elsewhere over HTTPS with the authorization of secure metrics. It
 * is loaded only if the console is on.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { format, isLoopback } from "../../layers/http/address.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import { Listener } from "../../layers/http/Listener.ts"
import * as Guard from "../metrics/guard.ts"
import * as Servers from "../servers.ts"
import { settings } from "../settings/servers.ts"
import * as Access from "./access.ts"
import * as Handler from "./handler.ts"

/** The secret of an address. */
export interface Token {
  readonly text: Redacted.Redacted
  /** Takes the same time for each text of one length. */
  readonly matches: (text: string) => boolean
}

export interface Options extends Omit<Handler.Options, "program" | "access" | "closing"> {
  readonly program: Omit<Handler.Options["program"], "startedAt">
  readonly place: Servers.Place
  readonly token: Token
  readonly secure: Pick<Servers.Secure, "transport" | "files" | "http2">
  /** The name of this machine, for the printed address of a server on all interfaces. */
  readonly hostname: string
}

/** Whether the token of the address is enough; otherwise the API server authorizes readers. */
export const isLocal = ({ address }: Pick<Servers.Place, "address">): boolean => isLoopback(address.host ?? "*")

/** Serves for as long as the scope is open. Returns the address to open; undefined if it is in use and optional. */
export const start = Effect.fnUntraced(function* (options: Options) {
  const { hostname, place, program, secure, token } = options
  const local = isLocal(place)
  const closing = Deferred.makeUnsafe<void>()
  const access = local ? Access.byToken(token.matches) : Access.byReview(yield* guardOf(secure))
  const handle = yield* Handler.make({
    ...options,
    program: { ...program, startedAt: yield* Clock.currentTimeMillis },
    access,
    closing: Deferred.await(closing)
  })
  const certificate = local ? undefined : yield* certificateOf(secure)
  const listening = yield* Servers.listen("console", settings.consoleAddress.name, place, handle, {
    certificate,
    http2: secure.http2,
    // A page that does not read must not delay the end of the program.
    drainLimit: "100 millis"
  })
  if (listening === undefined) return undefined
  // Before the listener closes, which waits for its responses.
  yield* Effect.addFinalizer(() => Deferred.succeed(closing, undefined))
  if (certificate !== undefined && secure.files !== undefined) {
    yield* (yield* Listener).followFiles(secure.files, certificate, listening.replaceUnsafe)
  }
  const { port } = listening
  const { host } = place.address
  return local
    ? `http://${format({ host, port })}${Access.path}/#token=${Redacted.value(token.text)}`
    : `https://${format({ host: isEverywhere(host) ? hostname : host, port })}${Access.path}/`
})

const isEverywhere = (host: string | undefined): boolean => host === undefined || host === "0.0.0.0" || host === "::"

const guardOf = Effect.fnUntraced(function* ({ transport }: Options["secure"]) {
  const client = yield* Layer.build(Layer.provide(KubeClient.layer, transport))
  return yield* Effect.provideContext(Guard.make, client)
})

const certificateOf = ({ files }: Options["secure"]) =>
  Effect.flatMap(Listener, ({ readFiles, selfSigned }) => (files === undefined ? selfSigned : readFiles(files)))
