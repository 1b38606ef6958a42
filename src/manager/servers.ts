/**
 * The manager's servers for probes, metrics and profiles. They listen before anything else starts and close after everything else has closed, on the
 * leader and on standbys. This module is loaded only when at least one of them is on.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as LoopMetrics from "../streams/reconcile/loopMetrics.ts"
import type { Descriptor } from "../layers/Controller.ts"
import { fencedWrites } from "../layers/fence.ts"
import { Health } from "../layers/Health.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import type { Transport } from "../layers/Transport.ts"
import type { Options as PageOptions } from "./debug/pages.ts"
import type { Address } from "../layers/http/address.ts"
import type { Handler } from "../layers/http/handler.ts"
import {
  type CertificateFiles,
  Listener,
  type ListenError,
  type Listening,
  type Options as ListenOptions
} from "../layers/http/Listener.ts"
import { Process } from "../layers/Process.ts"
import * as Probes from "./probes/handle.ts"
import * as Lag from "./probes/lag.ts"
import { settings } from "./settings/servers.ts"

/** Where a server listens. */
export interface Place {
  readonly address: Address
  /** The address is a default: if it is in use, the program continues without the server. */
  readonly isOptional: boolean
}

export interface Options {
  /** Undefined: off. */
  readonly probes: Place | undefined
  readonly metrics: Place | undefined
  /** Default: off. */
  readonly profiles?: Profiles | undefined
  /** Metrics over HTTPS, with authorization. */
  readonly secure?: Secure | undefined
  /** The controllers that run here, now or after an election: their metric series exist from the start. */
  readonly controllers: ReadonlyArray<Counted>
}

/** The fields of a controller that its metrics need. */
type Counted = Pick<Descriptor<unknown>, "name" | "queues" | "metrics">

export interface Profiles extends Place {
  /** The arguments of the process, without secrets. */
  readonly commandLine: ReadonlyArray<string>
}

export interface Secure {
  /** To the API server, which authorizes readers of metrics. */
  readonly transport: Layer.Layer<Transport>
  /** Undefined: the server creates a self-signed certificate. */
  readonly files: CertificateFiles | undefined
  /** Clients may choose HTTP/2. */
  readonly http2?: boolean | undefined
  /** The content of the operator pages; undefined: there are none. */
  readonly pages?: PageOptions | undefined
  /** Further handlers with the same authorization, by path. */
  readonly handlers?: Readonly<Record<string, Handler>> | undefined
}

/** Two handlers have the same path. */
export class PathTaken extends Data.TaggedError("PathTaken")<{ readonly message: string }> {}

/** The address of a setting. On the embedded cluster a default address is on loopback. */
export const place = (
  address: Address | undefined,
  { byDefault, embedded }: { readonly byDefault: boolean; readonly embedded: boolean }
): Place | undefined => {
  if (address === undefined) return undefined
  return byDefault && embedded
    ? { address: { ...address, host: "127.0.0.1" }, isOptional: true }
    : { address, isOptional: false }
}

/** Serves for as long as the scope is open. Fails if a server cannot listen on its address. */
export const start = Effect.fnUntraced(function* (options: Options) {
  const health = yield* Health
  const lag = yield* Lag.make
  yield* health.register("liveness", { name: "event-loop", run: Effect.sync(() => Lag.failure(lag)) })
  // In force until the manager registers its checks, and again after it has ended.
  yield* health.register("readiness", { name: "informer-sync", run: Effect.succeed("the informers are not running") })
  const { observe, registry } = yield* Probes.slis((yield* Process).registerStart)
  const probes = Probes.handler(health, observe)
  const { metrics: place, probes: own } = options
  const isShared = own !== undefined && place !== undefined && isSame(own.address, place.address)
  if (own !== undefined && !isShared) yield* listen("probes", settings.probeAddress.name, own, probes)
  if (place !== undefined)
    yield* metrics(place, { ...options, slis: registry, open: isShared ? probes : undefined }, lag)
  if (options.profiles !== undefined) yield* profiles(options.profiles)
})

/** Port 0 is a different free port for each server. */
const isSame = (a: Address, b: Address): boolean => a.port !== 0 && a.port === b.port && a.host === b.host

const profiles = Effect.fnUntraced(function* (options: Profiles) {
  const Profiles = yield* Effect.promise(() => import("./debug/profiles.ts"))
  const handle = Profiles.handler(yield* (yield* Process).profiler, options.commandLine)
  yield* listen("profiles", settings.pprofAddress.name, options, handle)
})

interface Metrics extends Options {
  /** The probes' handler if they share this server: it needs no authorization. */
  readonly open: Handler | undefined
  /** The metric registry of the probes' checks. */
  readonly slis: Metric.MetricRegistry
}

const withProbes =
  (probes: Handler | undefined, others: Handler): Handler =>
  (request) =>
    probes !== undefined && /^\/(?:healthz|livez|readyz)(?:\/|$)/.test(request.path) ? probes(request) : others(request)

const metrics = Effect.fnUntraced(function* (place: Place, { controllers, open, secure, slis }: Metrics, lag: Lag.Lag) {
  const Metrics = yield* Effect.promise(() => import("./metrics/handle.ts"))
  const { followFiles, preset: presetFiles, readFiles, selfSigned } = yield* Listener
  yield* Effect.forEach(controllers, preset, { discard: true })
  yield* Metric.update(fencedWrites, 0)
  yield* presetFiles
  yield* (yield* Process).register(lag)
  const handle = yield* Metrics.handler(slis)
  const name = settings.metricsAddress.name
  if (secure === undefined) return yield* Effect.asVoid(listen("metrics", name, place, withProbes(open, handle)))
  const Guard = yield* Effect.promise(() => import("./metrics/guard.ts"))
  const client = yield* Layer.build(Layer.provide(KubeClient.layer, secure.transport))
  const guard = yield* Effect.provideContext(Guard.make, client)
  const certificate = yield* secure.files === undefined ? selfSigned : readFiles(secure.files)
  const guarded = guard(yield* withPages(handle, secure))
  const listening = yield* listen("metrics", name, place, withProbes(open, guarded), {
    certificate,
    http2: secure.http2,
    methods: secure.handlers === undefined ? ["PUT"] : ["PUT", "POST", "PATCH", "DELETE"]
  })
  if (secure.files !== undefined && listening !== undefined) {
    yield* followFiles(secure.files, certificate, listening.replaceUnsafe)
  }
})

const preset = Effect.fnUntraced(function* ({ metrics = [], name, queues = [name] }: Counted) {
  const loop = yield* LoopMetrics.of(name)
  for (const queue of queues) loop.queue(queue)
  for (const family of metrics) yield* family.preset
})

/** Each path has one handler: metrics first, then the operator pages, then the further handlers. */
export const withPages = Effect.fnUntraced(function* (
  metrics: Handler,
  { handlers = {}, pages }: Pick<Secure, "handlers" | "pages">
) {
  const { paths } = yield* Effect.promise(() => import("./metrics/handle.ts"))
  const Page = yield* Effect.promise(() => import("./debug/page.ts"))
  const Pages = yield* Effect.promise(() => import("./debug/pages.ts"))
  const own = pages === undefined ? () => Effect.succeed(undefined) : yield* Pages.make(pages)
  for (const path of Object.keys(handlers)) {
    if (paths.includes(path) || (yield* own(path)) !== undefined) {
      return yield* new PathTaken({ message: `the metrics server has a page at ${path} already` })
    }
  }
  const further: Handler = (request) =>
    Object.hasOwn(handlers, request.path) ? (handlers[request.path] ?? metrics)(request) : metrics(request)
  return Page.before(own, Page.readOnly(paths, further))
})

/** Undefined if the address is in use and the server is optional. */
export const listen = (
  name: string,
  setting: string,
  { address, isOptional }: Place,
  handle: Handler,
  further: Pick<ListenOptions, "certificate" | "drainLimit" | "http2" | "methods"> = {}
): Effect.Effect<Listening | undefined, ListenError, Listener | Scope.Scope> =>
  Effect.flatMap(Listener, (listener) => listener.listen({ name, setting, address, handle, ...further })).pipe(
    Effect.tap(({ port }) => Effect.annotateLogs(Effect.logInfo(`Serving ${name}`), { port })),
    Effect.catchIf(
      (error) => isOptional && error.isBusy,
      (error) => Effect.as(Effect.logWarning(error.message), undefined)
    )
  )
