/**
 * Watches every kind from discovery that has the required verbs, in the version the server prefers: new kinds are started, removed kinds are
 * stopped, and kinds of groups whose discovery failed stay. A running full informer of the kind is shared, since its objects have the same metadata.
 * Source: pkg/controller/garbagecollector: resyncMonitors.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Resource from "../../../kube/Resource.ts"
import type { Cache, Informer, Listener } from "../../../layers/Cache.ts"
import type { Discovery, Listing } from "../../../layers/Discovery.ts"

/** Which of the kinds that the server lists are watched. */
export interface Wanted {
  /** The verbs that a kind must have: `list` and `watch` among others. */
  readonly verbs: ReadonlyArray<string>
  /** Qualified names of kinds that are never watched. */
  readonly ignored: ReadonlyArray<string>
  /** The scope that a kind must have. */
  readonly scope: Resource.Scope | "Any"
  /** Qualified names of kinds that are watched whatever their scope. */
  readonly also?: ReadonlyArray<string> | undefined
}

export const watchable = (
  { also = [], ignored, scope, verbs }: Wanted,
  { resources }: Listing
): ReadonlyArray<Resource.Any> =>
  resources.filter(
    (one) =>
      verbs.every((verb) => one.verbs.includes(verb)) &&
      (scope === "Any" || one.scope === scope || also.includes(Resource.qualifiedName(one))) &&
      !ignored.includes(Resource.qualifiedName(one))
  )

export interface Plan {
  readonly start: ReadonlyArray<Resource.Any>
  readonly stop: ReadonlyArray<Resource.Any>
}

/** What to start and stop. Nothing changes if the server lists no kind at all. */
export const plan = (wanted: Wanted, running: ReadonlyArray<Resource.Any>, listing: Listing): Plan => {
  const listed = watchable(wanted, listing)
  if (listed.length === 0) return { start: [], stop: [] }
  const kept = running.filter((one) =>
    listing.failed.some((of) => of.group === one.group && of.version === one.version)
  )
  // A kind stays watched in a version whose discovery failed, although another version is listed.
  const chosen = listed.filter((one) => !kept.some((other) => isSameKind(one, other)))
  return {
    start: chosen.filter((one) => !running.some(({ id }) => id === one.id)),
    stop: running.filter((one) => !kept.includes(one) && !chosen.some(({ id }) => id === one.id))
  }
}

/** Whether both are the same kind, in any version. */
const isSameKind = (a: Resource.Any, b: Resource.Any): boolean => a.group === b.group && a.plural === b.plural

interface Monitor {
  readonly resource: Resource.Any
  readonly informer: Informer<KubeObject>
  readonly scope: Scope.Closeable
}

export interface Refreshed {
  /** How many of the listed kinds the filter accepts. If none, nothing changes. */
  readonly listed: number
  /** Newly watched kinds that did not sync in time. */
  readonly unsynced: ReadonlyArray<Resource.Any>
}

export interface Monitors {
  /**
   * Starts and stops monitors according to discovery, and waits for new ones to sync, at most 30 seconds. Fails, and changes
   * nothing, if discovery fails.
   */
  readonly refresh: Effect.Effect<Refreshed, Effect.Error<Discovery["Service"]["resources"]>>
  readonly count: () => number
}

/** How long a refresh waits for new monitors. Source: garbagecollector initialSyncTimeout. */
const patience = Duration.seconds(30)

/** Which kinds are watched, and the callbacks for their objects. The informers call them synchronously, so they must not block. */
export interface Options {
  readonly cache: Cache["Service"]
  readonly discovery: Discovery["Service"]
  readonly wanted: Wanted
  /** Whether a kind needs whole objects instead of metadata only. Default: never. */
  readonly isWhole?: ((resource: Resource.Any) => boolean) | undefined
  /** Receives the changes of a kind, beginning with the objects of the initial list. */
  readonly listener: (informer: Informer<KubeObject>) => Listener<KubeObject>
  /** A kind has synced. */
  readonly onSynced?: ((informer: Informer<KubeObject>) => void) | undefined
  /** A kind is not watched any more in that version. */
  readonly onStopped: (resource: Resource.Any) => void
}

export const make = (options: Options): Effect.Effect<Monitors, never, Scope.Scope> =>
  Effect.map(Effect.scope, (parent) => {
    const { discovery, isWhole, listener, onStopped, onSynced, wanted } = options
    /** By id of the full resource. */
    const running = new Map<string, Monitor>()

    const start = Effect.fnUntraced(function* (resource: Resource.Any) {
      const scope = yield* Scope.fork(parent)
      const subscribed = isWhole?.(resource) === true ? options.cache.subscribe(resource) : cheapest(options, resource)
      const informer = yield* Scope.provide(subscribed, scope)
      running.set(resource.id, { resource, informer, scope })
      yield* Scope.provide(informer.onDeltas(listener(informer)), scope)
      if (onSynced !== undefined)
        yield* Effect.forkIn(
          Effect.andThen(informer.synced, () => Effect.sync(() => onSynced(informer))),
          scope
        )
    })

    /** A kind that is now served in another version is watched in the old one until the new one has synced. */
    const stop = Effect.fnUntraced(function* (resource: Resource.Any) {
      const monitor = running.get(resource.id)
      if (monitor === undefined) return
      const successor = Array.from(running.values()).find(
        (one) => one !== monitor && isSameKind(one.resource, resource)
      )
      if (successor?.informer.store.synced === false) return
      running.delete(resource.id)
      yield* Scope.close(monitor.scope, Exit.void)
      onStopped(resource)
    })

    const refresh = Effect.gen(function* () {
      const listing = yield* discovery.resources
      const found = plan(
        wanted,
        Array.from(running.values(), ({ resource }) => resource),
        listing
      )
      yield* Effect.forEach(found.start, start, { discard: true })
      const started = found.start.flatMap(({ id }) => running.get(id) ?? [])
      yield* Effect.forEach(started, ({ informer }) => informer.synced, { concurrency: "unbounded" }).pipe(
        Effect.timeoutOption(patience)
      )
      yield* Effect.forEach(found.stop, stop, { discard: true })
      const unsynced = started.filter(({ informer }) => !informer.store.synced).map(({ resource }) => resource)
      return { listed: watchable(wanted, listing).length, unsynced }
    })

    return { refresh, count: () => running.size }
  })

/** The full informer if one is running, else a metadata-only one. */
const cheapest = ({ cache }: Options, resource: Resource.Any) =>
  Effect.flatMap(cache.status, (informers) => {
    const isShared = informers.some(
      ({ id, selection, subscribers }) => id === resource.id && subscribers > 0 && Object.keys(selection).length === 0
    )
    return cache.subscribe<KubeObject>(isShared ? resource : Resource.metadataOnly(resource))
  })

/** The time between two refreshes. Source: the discovery sync period of garbagecollector and resourcequota. */
const interval = "30 seconds"

/** The first refresh, repeated until a kind is watched. `idle`: the consequence for the log, such as `nothing is collected yet`. */
export const first = (monitors: Monitors, idle: string): Effect.Effect<void> =>
  monitors.refresh.pipe(
    Effect.tapError((error) => Effect.logWarning(`Discovery failed, ${idle}: ${error.message}`)),
    Effect.tap(logUnsynced),
    Effect.filterOrFail(() => monitors.count() > 0),
    Effect.retry(Schedule.min([Schedule.exponential("1 second"), Schedule.spaced(interval)])),
    Effect.orDie,
    Effect.asVoid
  )

/** The refreshes after the first one. */
export const forever = (monitors: Monitors): Effect.Effect<unknown> =>
  Effect.schedule(refresh(monitors), Schedule.spaced(interval))

const refresh = (monitors: Monitors) =>
  Effect.matchEffect(monitors.refresh, {
    onFailure: (error) => Effect.logWarning(`Discovery failed, the same kinds are watched on: ${error.message}`),
    onSuccess: logUnsynced
  })

const logUnsynced = ({ unsynced }: Refreshed): Effect.Effect<void> =>
  unsynced.length === 0
    ? Effect.void
    : Effect.logWarning(
        `Some kinds did not sync in time and are left out for now: ${unsynced.map(Resource.qualifiedName).join(", ")}`
      )
