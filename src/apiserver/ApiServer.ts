/**
 * The embedded API server as a service: an `Api` for transports, and what tests may read and change beside it. All state is in memory
 * and belongs to the layer; time and randomness are those of the fiber's Clock and Random, so a run under TestClock with a seed is
 * reproducible. There are no background fibers: requests compact the log.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type { KubeObject } from "../kube/Meta.ts"
import type * as Resource from "../kube/Resource.ts"
import type { NodeConnection } from "../layers/NodeConnection.ts"
import { Transport } from "../layers/Transport.ts"
import type { Api, ApiRequest, User } from "./Api.ts"
import * as Admission from "./admission/Admission.ts"
import * as AuditLog from "./audit/AuditLog.ts"
import * as Authenticator from "./authentication/Authenticator.ts"
import * as Authorizer from "./authorization/Authorizer.ts"
import { creationByUpdate, noEscalation } from "./authorization/escalation.ts"
import { paramAccess } from "./policy/access.ts"
import * as Policies from "./policy/configuration.ts"
import * as policies from "./policy/plugin.ts"
import { plugins } from "./admission/builtIn.ts"
import * as Hooks from "./webhook/configuration.ts"
import { WebhookCaller } from "./webhook/WebhookCaller.ts"
import * as webhooks from "./webhook/plugins.ts"
import type { Switches } from "./admission/builtIn.ts"
import { bootstrap, request } from "./bootstrap.ts"
import { Collection, select } from "./storage/Collection.ts"
import * as Faults from "./faults.ts"
import { handle, refused } from "./handle.ts"
import type { JsonObject } from "./json.ts"
import * as StatusError from "./StatusError.ts"
import * as RevisionLog from "./storage/RevisionLog.ts"
import { ResourceRegistry } from "./apiextensions/ResourceRegistry.ts"
import { install } from "./apiextensions/install.ts"
import * as Measured from "./scheme/measured.ts"
import { all as builtIn } from "./scheme/resources.ts"
import type { RequestScope, ServerState } from "./admission/Admission.ts"
import type { ResourceDefinition } from "./scheme/ResourceDefinition.ts"
import type { Version } from "./storage/Version.ts"
import * as transport from "./transport.ts"
import { served } from "./printers/Encoder.ts"

/** Settings of the layer. */
export interface Options {
  /** Changes that each collection retains for watches and paged lists, whatever their age. */
  readonly history?: number | undefined
  /** How long changes are retained at least: every interval, the log is compacted to its revision of one interval ago. */
  readonly compactionInterval?: Duration.Input | undefined
  /** The built-in admission plugins that run. */
  readonly admission?: Switches | undefined
  /**
   * The authorization mode, `AlwaysAllow` by default. With `RBAC` the bootstrap roles and bindings of every cluster exist from the
   * start.
   */
  readonly authorization?: Authorizer.Mode | undefined
  /** The signer of service account tokens, and further known tokens. */
  readonly authentication?: Authenticator.Options | undefined
  /** The audit log. */
  readonly audit?: AuditLog.Options | undefined
  /**
   * Serve `metrics.k8s.io`, as a metrics server does, with the usage of the connected nodes, and with RBAC the role to read it. Default: false, as in
   * a cluster without a metrics server; a custom resource may take its place then.
   */
  readonly metrics?: boolean | undefined
  /** CustomResourceDefinitions that are installed at the start. An invalid one is a defect that names it. */
  readonly crds?: ReadonlyArray<object> | undefined
}

/** A running embedded API server, with methods that only tests need. */
export class ApiServer extends Context.Service<
  ApiServer,
  Api & {
    /** Revision of the latest write. */
    readonly revision: Effect.Effect<number>
    /** Compacts the history up to a revision, by default the present one: watches and pages from before it get 410. */
    readonly compact: (revision?: number) => Effect.Effect<void>
    /** Logs and measurements come from there, for as long as the scope is open. Without a connection no kubelet can be reached. */
    readonly connectNodes: (connection: NodeConnection) => Effect.Effect<void, never, Scope.Scope>
    /** Copies of all objects of a kind, in order. */
    readonly snapshot: (resource: Resource.Any) => Effect.Effect<ReadonlyArray<JsonObject>>
    /** The same, synchronously. */
    readonly snapshotUnsafe: <A extends KubeObject>(resource: Resource.Resource<A>) => ReadonlyArray<A>
    /** Calls the listener after each request that wrote something, with the revision of its last write, for as long as the scope is open. */
    readonly onWrite: (
      listener: (request: ApiRequest, revision: number) => void
    ) => Effect.Effect<void, never, Scope.Scope>
    /** Copies of the objects of all kinds that were written after a revision, by kind and in order, in the version in which they are stored. */
    readonly writtenAfter: (revision: number) => Effect.Effect<ReadonlyArray<KubeObject>>
    /** While true, every request is answered with 503; the watches that were open have ended. */
    readonly setUnavailable: (unavailable: boolean) => Effect.Effect<void>
    /** Watches open now, of all kinds. */
    readonly watchers: Effect.Effect<number>
    /** The audit log, oldest entry first, as far as it is retained. */
    readonly audit: Effect.Effect<ReadonlyArray<AuditLog.Entry>>
    /** Replaces the fault script of the in-process transport. Dies when a rule names a built-in resource without its group. */
    readonly setFaults: (rules: ReadonlyArray<Faults.Rule>) => Effect.Effect<void>
    readonly faults: Faults.Script
  }
>()("effect-controller-manager/apiserver/ApiServer") {
  /** A new server with the objects of `bootstrap.ts`. */
  static readonly layer = (options: Options = {}): Layer.Layer<ApiServer> => Layer.effect(ApiServer, make(options))

  /** The in-process transport, as the administrator. */
  static readonly layerTransport: Layer.Layer<Transport, never, ApiServer> = Layer.effect(
    Transport,
    Effect.map(ApiServer, (server) => transport.make(server, server.faults, server.revision))
  )

  /** The in-process transport as another user; `RBAC` decides what that user may do. */
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
  // The collection of a deleted resource stays, empty: a later resource of the same name continues its history.
  const collection = (storage: string): Collection => {
    const found = collections.get(storage)
    if (found !== undefined) return found
    const made = new Collection(log, storage)
    collections.set(storage, made)
    return made
  }
  for (const resource of builtIn) collection(resource.storage)
  const registry = new ResourceRegistry(options.metrics === true ? [...builtIn, ...Measured.resources] : builtIn)
  const mode = options.authorization ?? "AlwaysAllow"
  const authorization = mode === "RBAC" ? [noEscalation, creationByUpdate, paramAccess] : []
  const { mutating, validating } = webhooks.plugins(Hooks.make(collection))
  const state: ServerState = {
    log,
    registry,
    collection,
    admission: Admission.chain([
      ...plugins(options.admission, [mutating, policies.plugin(Policies.make(collection)), validating]),
      ...authorization
    ]),
    authenticator: Authenticator.make(options.authentication),
    authorizer: Authorizer.make(mode, collection),
    audit: AuditLog.make(options.audit),
    caller,
    nodes: { connection: undefined }
  }
  const compaction = compactor(log, Duration.toMillis(options.compactionInterval ?? "5 minutes"))
  let unavailable = false

  const contextOf = (request: ApiRequest, now: number, random: Random.Random): RequestScope => ({
    state,
    request,
    now,
    random,
    warnings: [],
    written: { last: undefined, annotations: undefined }
  })
  yield* Effect.orDie(bootstrap(contextOf(request, clock.currentTimeMillisUnsafe(), random)))

  const stored = ({ storage }: ResourceDefinition) =>
    select(collection(storage), { namespace: "", labels: [], fields: [] }, log.revision())

  const listeners = new Set<(request: ApiRequest, revision: number) => void>()
  const observed = (request: ApiRequest, answer: ReturnType<Api["handle"]>) => {
    const before = log.revision()
    return Effect.map(answer, (response) => {
      const revision = log.revision()
      if (revision > before) for (const listener of listeners) listener(request, revision)
      return response
    })
  }

  const snapshot = (resource: Resource.Any): ReadonlyArray<JsonObject> => {
    const kind = registry.all.find((one) => one.group === resource.group && one.plural === resource.plural)
    return kind === undefined ? [] : stored(kind).map((version) => asStored(kind, version))
  }

  const faults = Faults.make()
  const server = ApiServer.of({
    handle: (request) =>
      Effect.withFiber((fiber) => {
        if (unavailable) return Effect.succeed(refused(StatusError.unavailable()))
        const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
        compaction(now)
        const answer = handle(contextOf(request, now, fiber.getRef(Random.Random)))
        return listeners.size === 0 || request.method === "GET" ? answer : observed(request, answer)
      }),
    onWrite: (listener) =>
      Effect.acquireRelease(
        Effect.sync(() => void listeners.add(listener)),
        () => Effect.sync(() => listeners.delete(listener))
      ),
    authenticate: (token) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const identified = state.authenticator.identify({ state, now }, token)
        return "error" in identified ? undefined : identified.user
      }),
    connectNodes: (connection) =>
      Effect.acquireRelease(
        Effect.sync(() => void (state.nodes.connection = connection)),
        // A later connection has replaced this one.
        () => Effect.sync(() => state.nodes.connection === connection && (state.nodes.connection = undefined))
      ),
    audit: Effect.sync(state.audit.entries),
    revision: Effect.sync(log.revision),
    compact: (revision) => Effect.sync(() => log.compact(revision ?? log.revision())),
    snapshot: (resource) => Effect.sync(() => snapshot(resource)),
    // The objects have the type of the resource's type parameter.
    snapshotUnsafe: (resource) => snapshot(resource) as ReadonlyArray<unknown> as ReadonlyArray<never>,
    writtenAfter: (revision) =>
      Effect.sync(() => {
        const kinds = new Map(registry.all.map((kind) => [kind.storage, kind]))
        return [...kinds.values()].flatMap((kind) =>
          stored(kind)
            .filter((version) => version.revision > revision)
            .map((version) => asStored(kind, version) as unknown as KubeObject)
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

/** In the storage version: no conversion webhook can be called here. */
const asStored = (kind: ResourceDefinition, version: Version): JsonObject =>
  served({ ...kind, version: version.schemaVersion ?? kind.version }, version)

/** Compacts once per interval, to the revision at the end of the interval before. */
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
