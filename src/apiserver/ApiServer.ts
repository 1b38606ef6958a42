/**
 * The embedded API server as a service: an `Api` that carriers call, and what tests may see and do beside it. Everything
 * is in memory and belongs to the layer; time and chance are the caller's Clock and Random, so a run under TestClock and a
 * seed is reproducible. There are no background fibers: the log is compacted as requests come in.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Resource from "../kube/Resource.ts"
import { Transport } from "../layers/Transport.ts"
import type { Api, ApiRequest, ApiResponse, User } from "./Api.ts"
import * as Admission from "./admission/Admission.ts"
import * as AuditLog from "./audit/AuditLog.ts"
import * as Authenticator from "./authentication/Authenticator.ts"
import * as Authorizer from "./authorization/Authorizer.ts"
import { creationByUpdate, noEscalation } from "./authorization/escalation.ts"
import { plugins } from "./admission/builtIn.ts"
import { dispatch } from "./webhook/dispatch.ts"
import { WebhookResponses } from "./webhook/WebhookResponses.ts"
import * as Hooks from "./webhook/configuration.ts"
import { WebhookCaller } from "./webhook/WebhookCaller.ts"
import * as webhooks from "./webhook/webhooks.ts"
import type { Switches } from "./admission/builtIn.ts"
import { bootstrap, request } from "./bootstrap.ts"
import { Collection, select } from "./storage/Collection.ts"
import * as Faults from "./faults.ts"
import { handle, refused } from "./handle.ts"
import type { JsonObject } from "./json.ts"
import * as StatusError from "./StatusError.ts"
import * as RevisionLog from "./storage/RevisionLog.ts"
import { retrying, retryingEffect } from "./retry.ts"
import { ResourceRegistry } from "./apiextensions/ResourceRegistry.ts"
import { install } from "./apiextensions/install.ts"
import { all as builtIn } from "./scheme/kinds.ts"
import type { RequestScope, ServerState } from "./admission/Admission.ts"
import * as transport from "./transport.ts"
import { served } from "./printers/View.ts"

/** Settings of the layer. */
export interface Options {
  /** Changes kept per kind for watches and paged lists, whatever their age. */
  readonly history?: number | undefined
  /** How long changes are kept at least: every interval the log is compacted to where it was an interval ago. */
  readonly compactionInterval?: Duration.Input | undefined
  /** Which of the built-in admission plugins run. */
  readonly admission?: Switches | undefined
  /** What the authenticated may do: everything unless said otherwise. With `RBAC` the roles of every cluster are there from the start. */
  readonly authorization?: Authorizer.Mode | undefined
  /** Who signs the tokens of service accounts, and which other tokens there are. */
  readonly authentication?: Authenticator.Options | undefined
  /** How much is kept of who asked for what. */
  readonly audit?: AuditLog.Options | undefined
  /** CustomResourceDefinitions that are there from the start. One that the server would refuse is a defect, which names it. */
  readonly crds?: ReadonlyArray<object> | undefined
}

/** A running embedded API server, and what only tests want of one. */
export class ApiServer extends Context.Service<
  ApiServer,
  Api & {
    /** Revision of the latest write. */
    readonly revision: Effect.Effect<number>
    /** Forgets the history up to a revision, the present one if none is given: watches and pages from before it get 410. */
    readonly compact: (revision?: number) => Effect.Effect<void>
    /** Copies of all objects of a kind, in order. */
    readonly snapshot: (resource: Resource.Any) => Effect.Effect<ReadonlyArray<JsonObject>>
    /** While true every call is answered 503, and the watches that were open have ended. */
    readonly setUnavailable: (unavailable: boolean) => Effect.Effect<void>
    /** Watches open now, of all kinds. */
    readonly watchers: Effect.Effect<number>
    /** Who asked for what and what came of it, oldest first; as much as is kept. */
    readonly audit: Effect.Effect<ReadonlyArray<AuditLog.Entry>>
    /** Replaces the fault script of the in-process transport. Dies when a rule names a built-in kind without its group. */
    readonly setFaults: (rules: ReadonlyArray<Faults.Rule>) => Effect.Effect<void>
    readonly faults: Faults.Script
  }
>()("effect-controller-manager/apiserver/ApiServer") {
  /** A fresh server with what every cluster has: `bootstrap.ts`. */
  static readonly layer = (options: Options = {}): Layer.Layer<ApiServer> => Layer.effect(ApiServer, make(options))

  /** The in-process door to the server, for its administrator. */
  static readonly layerTransport: Layer.Layer<Transport, never, ApiServer> = Layer.effect(
    Transport,
    Effect.map(ApiServer, (server) => transport.make(server, server.faults, server.revision))
  )

  /** The same door for somebody else: `RBAC` asks what they may. */
  static readonly layerTransportAs = (user: User): Layer.Layer<Transport, never, ApiServer> =>
    Layer.effect(
      Transport,
      Effect.map(ApiServer, (server) => {
        const handle: Api["handle"] = (request) => server.handle({ ...request, user })
        return transport.make({ ...server, handle }, server.faults, server.revision)
      })
    )
}

export const make = Effect.fnUntraced(function* (options: Options) {
  const clock = yield* Clock.Clock
  const random = yield* Random.Random
  const caller = yield* WebhookCaller
  const log = RevisionLog.make({ capacity: options.history ?? 20_000 })
  const collections = new Map<string, Collection>()
  // A kind that is gone leaves an empty collection behind, which its successor of the same name takes over with its history.
  const collection = (storage: string): Collection => {
    const found = collections.get(storage)
    if (found !== undefined) return found
    const made = new Collection(log, storage)
    collections.set(storage, made)
    return made
  }
  for (const kind of builtIn) collection(kind.storage)
  const kinds = new ResourceRegistry()
  const mode = options.authorization ?? "AlwaysAllow"
  const authorization = mode === "RBAC" ? [noEscalation, creationByUpdate] : []
  const hooks = Hooks.make(collection)
  const state: ServerState = {
    log,
    kinds,
    collection,
    admission: Admission.chain([...plugins(options.admission, webhooks.plugins(hooks)), ...authorization]),
    authenticator: Authenticator.make(options.authentication),
    authorizer: Authorizer.make(mode, collection),
    audit: AuditLog.make(options.audit),
    caller
  }
  const compaction = compactor(log, Duration.toMillis(options.compactionInterval ?? "5 minutes"))
  let unavailable = false

  bootstrap({ state, request, now: clock.currentTimeMillisUnsafe(), random, warnings: [], isLastTry: true })

  const answer = (context: RequestScope): ApiResponse => {
    if (unavailable) return refused(StatusError.unavailable())
    compaction(context.now)
    return handle(context)
  }
  /** Where there are webhooks, a request may be done more than once: at one time, by one draw of chance. */
  const handleWithWebhooks = (request: ApiRequest) =>
    retryingEffect((isLastTry) =>
      Effect.withFiber((fiber) => {
        const webhookResponses = new WebhookResponses(fiber.getRef(Random.Random))
        const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
        return dispatch(caller, webhookResponses, () =>
          answer({ state, request, now, random: webhookResponses.random, warnings: [], isLastTry, webhookResponses })
        )
      })
    )
  const handleSynchronously = (request: ApiRequest) =>
    retrying(({ clock, random }, isLastTry) =>
      answer({ state, request, now: clock.currentTimeMillisUnsafe(), random, warnings: [], isLastTry })
    )
  const faults = Faults.make()
  const server = ApiServer.of({
    handle: (request) =>
      Effect.suspend(() =>
        kinds.converts || (request.method !== "GET" && hooks.exist())
          ? handleWithWebhooks(request)
          : handleSynchronously(request)
      ),
    authenticate: (token) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const identified = state.authenticator.identify({ state, now }, token)
        return "error" in identified ? undefined : identified.user
      }),
    audit: Effect.sync(state.audit.entries),
    revision: Effect.sync(log.revision),
    compact: (revision) => Effect.sync(() => log.compact(revision ?? log.revision())),
    snapshot: (resource) =>
      Effect.sync(() => {
        const kind = kinds.all.find((one) => one.group === resource.group && one.plural === resource.plural)
        if (kind === undefined) return []
        const all = { namespace: "", labels: [], fields: [] }
        return select(collection(kind.storage), all, log.revision()).map((version) =>
          // In the version in which it is stored: nobody can be asked here.
          served({ ...kind, version: version.form ?? kind.version }, version)
        )
      }),
    setUnavailable: (value) =>
      Effect.sync(() => {
        unavailable = value
        if (value) for (const one of collections.values()) one.watchers.closeAll()
      }),
    watchers: Effect.sync(() => [...collections.values()].reduce((sum, one) => sum + one.watchers.size(), 0)),
    setFaults: (rules) => Effect.sync(() => faults.set(rules)),
    faults
  })
  yield* Effect.orDie(install(server, options.crds ?? []))
  return server
})

/** Compacts when an interval has passed, to the revision at the end of the one before. */
const compactor = (log: RevisionLog.RevisionLog, interval: number) => {
  let due: number | undefined
  let mark = 0
  return (now: number): void => {
    due ??= now + interval
    if (now < due) return
    log.compact(mark)
    mark = log.revision()
    due = now + interval
  }
}
