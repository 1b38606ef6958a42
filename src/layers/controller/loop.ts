/**
 * The loop behind `Controller.make`: watch sources add keys to one queue, and workers reconcile them once every kind that the controller
 * reads has synced. Sources are attached first, so no change between subscribing and the first run is missed; keys of a first list are
 * added at low priority. Source: controller-runtime's pkg/internal/controller.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Delta } from "../../streams/store/Store.ts"
import * as KeyedQueue from "../../streams/queue/KeyedQueue.ts"
import * as LoopMetrics from "../../streams/reconcile/loopMetrics.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import type { Predicate } from "../../streams/store/predicate.ts"
import * as RunCause from "../../streams/reconcile/cause.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import type * as TokenBucket from "../../streams/queue/tokenBucket.ts"
import * as Trace from "../../streams/reconcile/trace.ts"
import * as Trigger from "../../streams/store/trigger.ts"
import { Cache, type Index, type Informer } from "../Cache.ts"
import { KubeClient } from "../KubeClient.ts"
import { Recorder } from "../Recorder.ts"
import * as Shutdown from "../Shutdown.ts"
import * as Fence from "../fence.ts"
import { CurrentTerm } from "../Leadership.ts"
import { Shards } from "../Shards.ts"
import { Supervisor } from "../Supervisor.ts"
import { Timeline } from "../Timeline.ts"
import * as CausedQueue from "./causedQueue.ts"
import { CurrentRun } from "./currentRun.ts"
import * as Defaults from "./defaults.ts"
import * as Log from "./log.ts"
import * as ReadYourWrites from "./readYourWrites.ts"
import * as ReconcileContext from "./reconcileContext.ts"
import * as Shares from "./shares.ts"
import { type Check, Health } from "../Health.ts"

/** A kind and the mapping from its deltas to keys. It hides the type of the objects. */
export interface WatchSource {
  readonly resource: Resource.Any
  /** The kind in whose index it looks up keys, if it does. */
  readonly lookup?: Resource.Any | undefined
  readonly attach: (cache: Cache["Service"], sink: Sink) => Effect.Effect<void, never, Scope.Scope>
}

interface WatchSourceOptions<in A> {
  readonly predicate?: Predicate<A> | undefined
  readonly indexes?: ReadonlyArray<Index<A>> | undefined
}

export const watchSource = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  trigger: Trigger.Trigger<A>,
  options: WatchSourceOptions<A>
): WatchSource => ({
  resource,
  attach: (cache, { begin, end, queue }) =>
    Effect.flatMap(cache.subscribe(resource, { indexes: options.indexes }), (informer) =>
      informer.onDeltas((deltas) => {
        try {
          for (const delta of deltas) {
            if (options.predicate !== undefined && !options.predicate(delta)) continue
            begin(resource, delta)
            const keys = trigger(delta)
            if (keys.length > 0) queue.addAllUnsafe(keys, isUrgent(delta) ? 0 : KeyedQueue.LOW)
          }
        } finally {
          end()
        }
      })
    )
})

/** A source that finds keys in an index of another kind, which stays in the cache for as long as the source is attached. */
export const lookupSource = <A extends KubeObject, B extends KubeObject>(
  resource: Resource.Resource<A>,
  lookup: { readonly resource: Resource.Resource<B>; readonly index: Index<B> },
  options: WatchSourceOptions<A> & { readonly valuesOf?: ((object: A) => ReadonlyArray<string>) | undefined }
): WatchSource => ({
  resource,
  lookup: lookup.resource,
  attach: (cache, sink) =>
    Effect.flatMap(cache.subscribe(lookup.resource, { indexes: [lookup.index] }), ({ store }) =>
      watchSource(resource, Trigger.index(store, lookup.index.name, options.valuesOf), options).attach(cache, sink)
    )
})

/** Whether a delta is urgent. Those of first lists and resyncs are not, because nothing has changed. */
const isUrgent = <A>(delta: Delta<A>): boolean =>
  delta._tag === "Created" ? !delta.initial : delta._tag !== "Updated" || delta.previous !== delta.object

/** The sources of keys, and the reconcile of a key. */
export interface Body<A, E, R> {
  readonly watchSources: ReadonlyArray<WatchSource>
  /** Keys from other sources than the cache. */
  readonly sources?: ReadonlyArray<Stream.Stream<Key.Key, unknown, R>> | undefined
  readonly reconcile: (
    request: ReconcileContext.Request,
    context: ReconcileContext.ReconcileContext<A>
  ) => Effect.Effect<Reconcile.Outcome | void, E, R>
  /** As in `Controller.Body`. */
  readonly onHeld?: ((resource: Resource.Any) => void) | undefined
}

/** How the keys of a controller are reconciled. */
export interface Runs {
  /** How many keys are reconciled at once. Default 1. Never two runs of one key. */
  readonly concurrency?: number | undefined
  /** A run that takes longer is interrupted and counts as a failure. Default 5 minutes. */
  readonly timeout?: Duration.Input | "none" | undefined
  /** Delay after failures in a row: `base × 2^n` up to `max`. Default 5 ms, 1000 s. */
  readonly backoff?: { readonly base?: Duration.Input; readonly max?: Duration.Input } | undefined
  /** A token bucket that the retries of all keys share, so that many keys that fail at once are not retried at once. Default: none. */
  readonly bucket?: TokenBucket.Options | undefined
  /** After so many retries in a row a key is not retried until it is added again. Default: no limit. */
  readonly retries?: number | undefined
  /** How long a key waits until the cache contains its own writes. Default 5 s. */
  readonly readYourWritesLimit?: Duration.Input | undefined
  /** The component in the events that it records. Default: its name. */
  readonly component?: string | undefined
}

export interface Options<A, E, R, R2> extends Runs {
  readonly name: string
  /** The name of its queue in metrics. */
  readonly queue?: string | undefined
  /** The kind of the objects that the keys name, if they name any. */
  readonly for?: Resource.Any | undefined
  readonly reads: ReadonlyArray<Resource.Any>
  readonly minInterval?: Duration.Input | undefined
  /** By what the keys are divided among processes, where `Shards` are provided. Needs `for`. */
  readonly shardBy?: Shares.ShardBy<KubeObject> | undefined
  readonly body: (context: ReconcileContext.BodyContext<A>) => Effect.Effect<Body<A, E, R>, never, R2>
}

export const layer = <A, E, R, R2>(options: Options<A, E, R, R2>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const cache = yield* Cache
      const supervisor = yield* Supervisor
      const metrics = yield* LoopMetrics.of(options.name)
      const trace = yield* Trace.of(options.name)
      const defaults = yield* Defaults.Defaults
      const timeout = options.timeout ?? defaults.timeout
      const { bucket, name } = options
      const backoff = { ...defaults.backoff, ...options.backoff }
      const { aging, prioritizes, recoversDefects } = defaults
      const counted = metrics.queue(options.queue ?? name)
      const queue = yield* KeyedQueue.make({ name, backoff, bucket, metrics: counted, prioritizes, aging })
      const timeline = yield* Timeline
      const informers = yield* Effect.forEach(options.reads, (resource) => cache.subscribe(resource))
      const shares = sharesOf(options, cache, informers, yield* Shards)
      const caused = CausedQueue.make(queue, trace, timeline)
      // A change of another process's objects is dropped before its cause is recorded.
      const own = shares?.restrict(caused.queue) ?? caused.queue
      yield* registerStallCheck(name, metrics, timeout)
      let onHeld: Body<A, E, R>["onHeld"]
      const writes = ReadYourWrites.make({
        cache,
        reads: options.reads,
        limit: options.readYourWritesLimit ?? "5 seconds",
        onHeld: (resource) => onHeld?.(resource)
      })
      const events = (yield* Recorder).named(options.component ?? options.name)
      const unfenced = yield* KubeClient
      const client = shares === undefined ? unfenced : Fence.client(unfenced, CurrentTerm)
      const context = ReconcileContext.make<A>({ cache, client, events, fieldManager: name }, writes.note)
      const body = yield* options.body({
        ...context,
        store: ReconcileContext.stores<A>(informers),
        queue: own,
        causes: caused
      })
      const { watchSources, reconcile, sources } = body
      onHeld = body.onHeld
      const monotonic = Monotonic.millis(yield* Clock.Clock)
      const interval = Duration.toMillis(options.minInterval ?? 0)
      const { began, sourceQueue } = minInterval(own, interval, monotonic)
      const begin: Sink["begin"] =
        shares === undefined
          ? caused.begin
          : (resource, delta) => {
              if (resource.id === options.for?.id) shares.seen(delta)
              caused.begin(resource, delta)
            }
      for (const source of watchSources)
        yield* Effect.andThen(starting(source), source.attach(cache, { ...caused, begin, queue: sourceQueue }))
      if (shares !== undefined) {
        yield* shares.follow((isNew) => {
          const addAllUnsafe: SourceQueue["addAllUnsafe"] = (keys, priority) =>
            own.addAllUnsafe([...keys].filter(isNew), priority)
          const attached = Effect.forEach(watchSources, (source) =>
            source.attach(cache, { ...caused, queue: { addAllUnsafe } })
          )
          return Effect.scoped(Effect.asVoid(attached))
        })
      }
      for (const source of sources ?? []) yield* supervisor.fork(options.name, pour(source, own))
      const log = yield* Log.make(options.for, timeline, options.name)
      const concurrency = Defaults.concurrency(defaults, options.concurrency, options.for)
      const drain = yield* Shutdown.enlist({ name, metrics, stop: queue.shutdown, idle: queue.idle })
      yield* supervisor.fork(
        options.name,
        Effect.andThen(
          Effect.tap(synced(cache, options.reads), () =>
            Effect.annotateLogs(Effect.logDebug("Starting workers"), { "worker count": concurrency })
          ),
          Reconcile.run(queue, {
            concurrency,
            timeout,
            retries: options.retries ?? defaults.retries,
            recoverDefects: recoversDefects,
            park: writes.park,
            observe: log.observe,
            metrics: counted,
            trace,
            reconcile: (key, causes) => {
              began(key)
              const run = Effect.provideService(reconcile(requestOf(key), context), CurrentRun, log.begin(key, causes))
              return shares === undefined ? run : shares.run(key, run)
            }
          })
        )
      )
      // Registered last, so it runs first: runs in flight finish before the fiber of the workers is interrupted.
      yield* Effect.addFinalizer((exit) => Effect.andThen(Effect.logDebug("Stopping workers"), drain(exit)))
    }).pipe(Effect.annotateLogs(labels(options)))
  )

/** Undefined: the controller reconciles all keys. */
const sharesOf = <A, E, R, R2>(
  { for: kind, shardBy }: Options<A, E, R, R2>,
  cache: Cache["Service"],
  informers: ReadonlyArray<Informer<KubeObject>>,
  shards: Shards | undefined
): Shares.Shares | undefined => {
  if (shardBy === undefined || shards === undefined) return undefined
  const store = informers.find(({ resource }) => resource.id === kind?.id)?.store
  return Shares.make({ shards, shardBy, cache, get: (key) => store?.get(key) })
}

/** The annotations of every line that the controller logs. Source: controller-runtime's LogConstructor. */
const labels = ({ for: kind, name }: { readonly name: string; readonly for?: Resource.Any | undefined }) => ({
  controller: name,
  ...(kind === undefined ? {} : { controllerGroup: kind.group, controllerKind: kind.kind })
})

const starting = ({ resource }: WatchSource) =>
  Effect.annotateLogs(Effect.logDebug("Starting EventSource"), { source: `kind source: ${resource.kind}` })

/**
 * Adds the keys of a stream to the queue until it ends. A stream that fails is started again after one second, doubled up to 30 s; the first
 * key resets the delay.
 */
const pour = <E, R>(source: Stream.Stream<Key.Key, E, R>, queue: KeyedQueue.KeyedQueue): Effect.Effect<void, E, R> =>
  source.pipe(
    Stream.tapError((error) =>
      Effect.annotateLogs(Effect.logWarning("A source of keys failed and is started again"), ApiError.facts(error))
    ),
    Stream.retry(Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])),
    Stream.runForEach((key) => Effect.sync(() => queue.addUnsafe(key, 0, fromSource)))
  )

const fromSource = RunCause.because("a key from a source of the controller")

const requestOf = (key: Key.Key): ReconcileContext.Request => {
  const { namespace, name } = Key.parse(key)
  return { key, namespace, name }
}

/** Waits until every kind has synced once. Each has a subscription, so no read can fail as not cached. */
export const synced = (cache: Cache["Service"], reads: ReadonlyArray<Resource.Any>): Effect.Effect<void> =>
  Effect.forEach(reads, (resource) => Effect.orDie(cache.synced(resource)), { discard: true })

/** The queue as watch sources use it. */
type SourceQueue = Pick<KeyedQueue.KeyedQueue, "addAllUnsafe">

/** Where watch sources add keys. */
interface Sink extends Pick<CausedQueue.CausedQueue, "begin" | "end"> {
  readonly queue: SourceQueue
}

/**
 * The least time between the starts of two runs of a key. The first change is reconciled at once; changes within `millis` after a run started
 * wait in the queue until that time has passed, and are one run. Applies to watch sources only, not to retries and requeues.
 * It keeps the keys that ran within the interval. `millis`: none if zero; `now`: the monotonic clock in milliseconds.
 */
export const minInterval = (
  queue: KeyedQueue.KeyedQueue,
  millis: number,
  now: () => number
): { readonly sourceQueue: SourceQueue; readonly began: (key: Key.Key) => void } => {
  if (millis <= 0) return { sourceQueue: queue, began: () => {} }
  /** When the last run of a key began, oldest first. */
  const starts = new Map<Key.Key, number>()
  const sourceQueue: SourceQueue = {
    addAllUnsafe: (keys, priority) => {
      const at = now()
      for (const key of keys) {
        const start = starts.get(key)
        const after = start === undefined ? 0 : start + millis - at
        if (after > 0) queue.addWithUnsafe(key, { priority, after })
        else queue.addUnsafe(key, priority)
      }
    }
  }
  return {
    sourceQueue,
    began: (key) => {
      const at = now()
      starts.delete(key)
      starts.set(key, at)
      for (const [other, start] of starts) {
        if (start + millis > at) break
        starts.delete(other)
      }
    }
  }
}

/**
 * Registers a readiness check for as long as the scope is open: it fails while keys are ready and no worker has taken one for
 * too long. `timeout`: how long one run may last.
 */
export const registerStallCheck = (
  controller: string,
  metrics: LoopMetrics.LoopMetrics,
  timeout: Duration.Input | "none" | undefined
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Health, (health) => health.register("readiness", workers(controller, metrics, stalledAfter(timeout))))

/** Milliseconds after which ready keys that no worker takes are a stall: more than any run with a timeout may last. */
const stalledAfter = (timeout: Duration.Input | "none" | undefined): number =>
  Math.max(600_000, timeout === undefined || timeout === "none" ? 0 : 2 * Duration.toMillis(timeout))

const workers = (controller: string, metrics: LoopMetrics.LoopMetrics, limit: number): Check => ({
  name: `workers-${controller}`,
  run: Effect.sync(() => {
    const millis = metrics.stalled()
    return millis <= limit
      ? undefined
      : `controller ${controller} has taken no key for ${Math.round(millis / 1000)} s, although keys are ready: all its workers are busy or gone`
  })
})
