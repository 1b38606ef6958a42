/**
 * The manager's servers, probes and metrics: they listen before anything else is started and close after everything else is
 * closed, on a leader and on a standby alike. Loaded only when one of them is on. Platform edge.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import { hostname } from "node:os"
import * as LoopMetrics from "../../streams/loopMetrics.ts"
import { fencedWrites } from "../fence.ts"
import { Health } from "../Health.ts"
import { KubeClient } from "../KubeClient.ts"
import type { Transport } from "../Transport.ts"
import type { Address } from "./http/address.ts"
import * as CertificateFiles from "./http/certificateFiles.ts"
import * as Listener from "./http/Listener.ts"
import * as Probes from "./probes/handle.ts"
import * as Lag from "./probes/lag.ts"
import { settings } from "./settings/servers.ts"

/** Where a server listens. */
export interface Place {
  readonly address: Address
  /** Nobody asked for it: if it is in use, the program goes on without. */
  readonly isOptional: boolean
}

export interface Options {
  /** Undefined: off. */
  readonly probes: Place | undefined
  readonly metrics: Place | undefined
  /** Metrics over HTTPS, and not for everybody. */
  readonly secure?: Secure | undefined
  /** The names of those that will run here, now or after an election: their series exist from the start. */
  readonly controllers: ReadonlyArray<string>
}

export interface Secure {
  /** To the server that knows who may read metrics. */
  readonly transport: Layer.Layer<Transport>
  /** Undefined: the server makes itself a certificate. */
  readonly files: CertificateFiles.Files | undefined
}

/** What a setting comes to. On the embedded cluster nobody but this machine has any business with what nobody asked for. */
export const place = (
  address: Address | undefined,
  { byDefault, embedded }: { readonly byDefault: boolean; readonly embedded: boolean }
): Place | undefined => {
  if (address === undefined) return undefined
  return byDefault && embedded
    ? { address: { ...address, host: "127.0.0.1" }, isOptional: true }
    : { address, isOptional: false }
}

/** Serves for as long as the scope is open. Fails when an address cannot be had; then nothing was started. */
export const start = Effect.fnUntraced(function* (options: Options) {
  const health = yield* Health
  const lag = yield* Lag.make
  yield* health.register("liveness", { name: "event-loop", run: Effect.sync(() => Lag.complaint(lag)) })
  // Until the manager says more, and again after it has ended.
  yield* health.register("readiness", { name: "informer-sync", run: Effect.succeed("the informers are not running") })
  if (options.probes !== undefined) {
    yield* listen("probes", settings.probeAddress.name, options.probes, Probes.handler(health))
  }
  if (options.metrics !== undefined) yield* metrics(options.metrics, options, lag)
})

const metrics = Effect.fnUntraced(function* (place: Place, { controllers, secure }: Options, lag: Lag.Lag) {
  const Metrics = yield* Effect.promise(() => import("./metrics/handle.ts"))
  const Process = yield* Effect.promise(() => import("./metrics/process.ts"))
  yield* Effect.forEach(controllers, LoopMetrics.of, { discard: true })
  yield* Metric.update(fencedWrites, 0)
  yield* CertificateFiles.preset
  yield* Process.register(lag)
  const handle = yield* Metrics.handler
  const name = settings.metricsAddress.name
  if (secure === undefined) return yield* Effect.asVoid(listen("metrics", name, place, handle))
  const Guard = yield* Effect.promise(() => import("./metrics/guard.ts"))
  const client = yield* Layer.build(Layer.provide(KubeClient.layer, secure.transport))
  const guard = yield* Effect.provideContext(Guard.make, client)
  const certificate = yield* secure.files === undefined ? selfSigned : CertificateFiles.read(secure.files)
  const listening = yield* listen("metrics", name, place, guard(handle), certificate)
  if (secure.files !== undefined && listening !== undefined) {
    yield* CertificateFiles.follow(secure.files, certificate, listening.replaceUnsafe)
  }
})

const selfSigned = Effect.flatMap(Clock.currentTimeMillis, (now) =>
  Effect.promise(async () => (await import("./http/selfSigned.ts")).make(hostname(), now))
)

/** Undefined: it does without. */
const listen = (
  name: string,
  setting: string,
  { address, isOptional }: Place,
  handle: Listener.Options["handle"],
  certificate?: Listener.Certificate
): Effect.Effect<Listener.Listening | undefined, Listener.ListenError, Scope.Scope> =>
  Listener.listen({ name, setting, address, handle, certificate }).pipe(
    Effect.tap(({ port }) => Effect.annotateLogs(Effect.logInfo(`Serving ${name}`), { port })),
    Effect.catchIf(
      (error) => isOptional && error.isBusy,
      (error) => Effect.as(Effect.logWarning(error.message), undefined)
    )
  )
