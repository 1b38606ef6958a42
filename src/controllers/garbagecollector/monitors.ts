/**
 * Which kinds are watched: every one that can be listed, watched and deleted, of the version the server prefers, except events,
 * which nothing refers to. What is watched follows discovery: new kinds are started, those that are gone are stopped, those of
 * groups that could not be asked stay. Where a full informer of the kind runs already, it is shared: its objects have the same
 * metadata, and a second watch would cost the server and this process twice.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import type { Cache, Informer } from "../../layers/Cache.ts"
import type { Discovery, Listing } from "../../layers/Discovery.ts"
import type { Delta } from "../../streams/Delta.ts"
import type * as Graph from "./graph.ts"
import * as Identity from "./Identity.ts"

const needed = ["delete", "list", "watch"]

/** Source: garbagecollector DefaultIgnoredResources. */
const ignored = ["events", "events.events.k8s.io"]

export const watchable = ({ resources }: Listing): ReadonlyArray<Resource.Any> =>
  resources.filter(
    (one) => needed.every((verb) => one.verbs.includes(verb)) && !ignored.includes(Resource.qualifiedName(one))
  )

export interface Plan {
  readonly start: ReadonlyArray<Resource.Any>
  readonly stop: ReadonlyArray<Resource.Any>
}

/** What to start and stop. A server that lists nothing at all is not believed. */
export const plan = (running: ReadonlyArray<Resource.Any>, listing: Listing): Plan => {
  const listed = watchable(listing)
  if (listed.length === 0) return { start: [], stop: [] }
  const kept = running.filter((one) =>
    listing.failed.some((of) => of.group === one.group && of.version === one.version)
  )
  // A version that could not be asked is still the one that is watched, although another one is listed for now.
  const wanted = listed.filter((one) => !kept.some((other) => isSameKind(one, other)))
  return {
    start: wanted.filter((one) => !running.some(({ id }) => id === one.id)),
    stop: running.filter((one) => !kept.includes(one) && !wanted.some(({ id }) => id === one.id))
  }
}

/** In whatever version. */
const isSameKind = (a: Resource.Any, b: Resource.Any): boolean => a.group === b.group && a.plural === b.plural

interface Monitor {
  readonly resource: Resource.Any
  readonly informer: Informer<KubeObject>
  readonly scope: Scope.Closeable
}

export interface Monitors {
  /**
   * Brings the monitors in line with what the server lists, and waits for new ones to sync, for so long and no longer. Fails,
   * and changes nothing, when the server cannot list. Answers with what has not synced.
   */
  readonly refresh: Effect.Effect<ReadonlyArray<Resource.Any>, Effect.Error<Discovery["Service"]["resources"]>>
  readonly count: () => number
}

/** How long a refresh waits for new monitors. Source: garbagecollector initialSyncTimeout. */
const patience = Duration.seconds(30)

export const make = (options: {
  readonly cache: Cache["Service"]
  readonly discovery: Discovery["Service"]
  /** Called in the informers' fibers; must not block. */
  readonly tell: (events: ReadonlyArray<Graph.Event>) => void
}): Effect.Effect<Monitors, never, Scope.Scope> =>
  Effect.map(Effect.scope, (parent) => {
    const { cache, discovery, tell } = options
    /** By id of the full resource. */
    const running = new Map<string, Monitor>()

    const start = Effect.fnUntraced(function* (resource: Resource.Any) {
      const scope = yield* Scope.fork(parent)
      const informer = yield* Scope.provide(cheapest(cache, resource), scope)
      running.set(resource.id, { resource, informer, scope })
      const listener = (deltas: ReadonlyArray<Delta<KubeObject>>) => tell(deltas.map(eventOf(resource)))
      yield* Scope.provide(informer.onDeltas(listener), scope)
    })

    /** A kind that goes on in another version is watched in the old one until the new one has been read. */
    const stop = Effect.fnUntraced(function* (resource: Resource.Any) {
      const monitor = running.get(resource.id)
      if (monitor === undefined) return
      const successor = Array.from(running.values()).find(
        (one) => one !== monitor && isSameKind(one.resource, resource)
      )
      if (successor?.informer.store.synced === false) return
      running.delete(resource.id)
      yield* Scope.close(monitor.scope, Exit.void)
      tell([{ _tag: "Unwatched", apiVersion: Resource.apiVersion(resource), kind: resource.kind }])
    })

    const refresh = Effect.gen(function* () {
      const listing = yield* discovery.resources
      const found = plan(
        Array.from(running.values(), ({ resource }) => resource),
        listing
      )
      yield* Effect.forEach(found.start, start, { discard: true })
      const started = found.start.flatMap(({ id }) => running.get(id) ?? [])
      yield* Effect.forEach(started, ({ informer }) => informer.synced, { concurrency: "unbounded" }).pipe(
        Effect.timeoutOption(patience)
      )
      yield* Effect.forEach(found.stop, stop, { discard: true })
      return started.filter(({ informer }) => !informer.store.synced).map(({ resource }) => resource)
    })

    return { refresh, count: () => running.size }
  })

/** The full informer if somebody keeps one, else one of metadata only. */
const cheapest = (cache: Cache["Service"], resource: Resource.Any) =>
  Effect.flatMap(cache.status, (informers) => {
    const isShared = informers.some(
      ({ id, selection, subscribers }) => id === resource.id && subscribers > 0 && Object.keys(selection).length === 0
    )
    return cache.subscribe<KubeObject>(isShared ? resource : Resource.metadataOnly(resource))
  })

const eventOf = (resource: Resource.Any) => {
  const apiVersion = Resource.apiVersion(resource)
  return (delta: Delta<KubeObject>): Graph.Event => {
    const identity = Identity.of(apiVersion, resource.kind, delta.object)
    return delta._tag === "Deleted"
      ? { _tag: "Deleted", uid: identity.uid, watched: !delta.stateUnknown }
      : { _tag: "Observed", identity, metadata: delta.object.metadata }
  }
}
