/**
 * A controller is a value: a descriptor from which the registry, flags, permissions and warmup are derived, and a layer that runs the loop.
 * `make` declares a keyed loop (watch, queue, reconcile), `stateful` one that keeps state between its runs, `scheduled` one that
 * runs on a schedule. Building the layer never waits for a sync: it subscribes, and a supervised fiber starts the workers when the kinds
 * of the controller have synced. When the layer's scope closes, runs in flight may finish; if leadership is lost, they are interrupted.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Access from "../kube/Access.ts"
import type { Key } from "../kube/Key.ts"
import type { KubeObject } from "../kube/Meta.ts"
import type * as Resource from "../kube/Resource.ts"
import type { Family } from "../streams/reconcile/metricFamily.ts"
import type { Predicate } from "../streams/store/predicate.ts"
import type * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as TokenBucket from "../streams/queue/tokenBucket.ts"
import * as Trigger from "../streams/store/trigger.ts"
import type { Cache } from "./Cache.ts"
import * as Declaration from "./controller/declaration.ts"
import type { Runs } from "./controller/loop.ts"
import * as Loop from "./controller/loop.ts"
import * as Objects from "./controller/objects.ts"
import * as Periodic from "./controller/periodic.ts"
import type { Divided, ShardBy } from "./controller/shares.ts"
import * as Sources from "./controller/sources.ts"
import type { BodyContext, Request, ReconcileContext } from "./controller/reconcileContext.ts"
import type { KubeClient } from "./KubeClient.ts"
import type { Recorder } from "./Recorder.ts"
import type { Run } from "./Schedules.ts"
import type { Supervisor } from "./Supervisor.ts"

export { InvalidController } from "./controller/declaration.ts"
export {
  type LookupOptions,
  type Owned,
  owned,
  type OwnedOptions,
  type Watched,
  type SourceOptions,
  watch,
  watchReferred
} from "./controller/sources.ts"
export type { Divided, Runs, ShardBy }
export type { BodyContext, Client, Reader, Request, ReconcileContext } from "./controller/reconcileContext.ts"

/** The services that the layer of every controller needs. */
export type Services = Cache | KubeClient | Recorder | Supervisor

/** The description of a controller, with its layer. `R`: the services that its reconcile needs beyond {@link Services}. */
export interface Descriptor<out R = never> {
  /** Unique, lower case: the name in `--controllers`, logs and metrics. */
  readonly name: string
  /** Everything that it may do, including reads of its sources. */
  readonly access: ReadonlyArray<Access.Any>
  /** The kinds that it reads from the cache, which a standby caches too. */
  readonly reads: ReadonlyArray<Resource.Any>
  /** The kind whose objects it reconciles, if there is one. */
  readonly for?: Resource.Any | undefined
  /** False: it runs on every replica, leader or not. */
  readonly needsLeader: boolean
  /** True: where work is divided into shards, it runs on every replica, and each reconciles the keys of its shards. */
  readonly sharded?: boolean | undefined
  /** True: what it reads from the cache is in the namespace of its key, or cluster-scoped. */
  readonly staysInNamespace?: boolean | undefined
  /** Further kinds that the server must serve; without one of them it does not run. */
  readonly requires?: ReadonlyArray<Resource.Any> | undefined
  /**
   * True: it starts before all others of its group, which wait until its kinds have synced and the keys of their first lists are reconciled, or
   * until its first run is over. If that fails, the manager ends. Its client is the program's own.
   */
  readonly startFirst?: boolean | undefined
  /** True: it needs a `CloudProvider`, and runs only where cloud loops run. */
  readonly cloud?: boolean | undefined
  /** The names of its queues in metrics. Default: its own name. */
  readonly queues?: ReadonlyArray<string> | undefined
  /** Its own metric families; those without labels are shown from the start. */
  readonly metrics?: ReadonlyArray<Family> | undefined
  /** Its pages in `Inspection`, by name, each with a description. */
  readonly debug?: Readonly<Record<string, string>> | undefined
  /** Runs the controller for as long as its scope is open. */
  readonly layer: Layer.Layer<never, never, Services | R>
}

/** When and where a controller runs, as in {@link Descriptor}. Default: on the leader only. */
export interface Placement extends Partial<Pick<Descriptor, "needsLeader" | "requires" | "startFirst" | "cloud">> {}

const placed = ({ cloud, needsLeader = true, requires, startFirst }: Placement) => ({
  needsLeader,
  ...(requires === undefined ? {} : { requires }),
  ...(startFirst === undefined ? {} : { startFirst }),
  ...(cloud === undefined ? {} : { cloud })
})

/** The names of a controller's metrics. */
export interface Counted extends Partial<Pick<Descriptor, "metrics">> {
  /** The name of its queue in metrics. Default: that of the controller. */
  readonly queue?: string | undefined
}

const counted = ({ metrics, queue }: Counted) => ({
  ...(metrics === undefined ? {} : { metrics }),
  ...(queue === undefined ? {} : { queues: [queue] })
})

/** The settings that both forms of {@link Options} have. */
export interface Declared<
  R extends Resource.Any,
  Own extends ReadonlyArray<Sources.Owns>,
  Watch extends ReadonlyArray<Sources.Watched>,
  Acc extends ReadonlyArray<Access.Any>,
  Src extends ReadonlyArray<Keys>
>
  extends Placement, Counted, Runs, Divided<Resource.Object<R>> {
  /** Unique, lower case. */
  readonly name: string
  /** The kind whose objects are reconciled: each change of an object adds its key. Without it the sources determine the keys. */
  readonly for?: R | undefined
  /** Which changes of that kind add a key. Default: all. */
  readonly predicate?: Predicate<Resource.Object<R>> | undefined
  /** Kinds whose objects have controller references to the `for` kind; {@link owned} has further settings. */
  readonly owns?: (Own & OwnedBy<R>) | undefined
  /** Further kinds, each with its own mapping to keys. */
  readonly watches?: Watch | undefined
  /**
   * Streams of keys from outside the cluster: a queue, a timer, another system. Each runs for as long as the controller does. A stream may
   * end; one that fails is logged and started again, after 1 s to 30 s.
   */
  readonly sources?: Src | undefined
  /** What reconcile may do, beyond reading its sources. */
  readonly access?: Acc | undefined
  /**
   * The least time between the starts of two runs of a key because of changes: the first change starts a run at once, and all changes within
   * that time after it start one run. Default: none. It limits the runs of an object that changes all the time.
   */
  readonly minInterval?: Duration.Input | undefined
}

/** A controller that reconciles keys. */
export interface OfKeys<A, E, Req, B = Reconcile.Outcome | void> {
  /**
   * Brings the actual state of one object closer to the desired one; level-based, idempotent. Return nothing or `Reconcile.done`, or
   * `Reconcile.after(d)` to run again. A failure is retried with backoff; a failure with `Reconcile.terminal` is not retried.
   */
  readonly reconcile: (request: Request, context: ReconcileContext<A>) => Effect.Effect<B, E, Req>
  readonly reconcileObject?: undefined
  readonly finalizers?: undefined
}

/**
 * A controller that reconciles objects, from the cache and decoded by the Schemas of their kind. The run of an object that is gone ends without
 * a call. An object that the Schemas cannot decode is not passed: a warning event `InvalidObject` says what is wrong and where, and so does
 * the condition `Valid` where the kind has conditions. It is tried again after a change that `predicate` accepts; other objects go on.
 * Source: controller-runtime reconcile.ObjectReconciler.
 */
export interface OfObjects<R, A, E, Req, B = Reconcile.Outcome | void> {
  /** The kind whose objects are reconciled. */
  readonly for: R
  /**
   * As `reconcile` of {@link OfKeys}, with the object instead of its key. Without `finalizers` it also receives objects that are being
   * deleted.
   */
  readonly reconcileObject: Work<R, A, B, E, Req>
  /**
   * The cleanup of finalizers, by their names: `{ "example.com/bucket": (bucket) => empty(bucket) }`. An object has the finalizers before it
   * is passed to `reconcileObject`; each is removed when its cleanup has succeeded. Objects that are being deleted are then not passed to
   * `reconcileObject`. The cleanup of an object that cannot be decoded waits until it can, and the event says so. See `finalize`.
   */
  readonly finalizers?: Readonly<Record<string, Work<R, A, void, E, Req>>> | undefined
  readonly reconcile?: undefined
}

type Work<R, A, B, E, Req> = (object: Resource.Decoded<R>, context: ReconcileContext<A>) => Effect.Effect<B, E, Req>

/** The grants: those in `access`, and reading every kind that is named. */
type Granted<R, Own extends ReadonlyArray<Sources.Owns>, Watch extends ReadonlyArray<Sources.Watched>, Acc> =
  | Acc
  | Read<R>
  | Read<Sources.KindOf<Own[number]>>
  | Read<Watch[number]["resource"]>

/** A keyed controller, in one of two forms: `reconcile` receives keys, `reconcileObject` receives objects. */
export type Options<
  R extends Resource.Any,
  Own extends ReadonlyArray<Sources.Owns>,
  Watch extends ReadonlyArray<Sources.Watched>,
  Acc extends ReadonlyArray<Access.Any>,
  Src extends ReadonlyArray<Keys>,
  E,
  Req,
  B = Reconcile.Outcome | void
> = Declared<R, Own, Watch, Acc, Src> &
  (
    | OfKeys<Granted<R, Own, Watch, Acc[number]>, E, Req, B>
    | OfObjects<R, Granted<R, Own, Watch, Acc[number]>, E, Req, B>
  )

/** Without a `for` kind there is nothing to own. */
type OwnedBy<R> = [R] extends [never] ? ReadonlyArray<Access.Missing<"for, the kind that owns it">> : unknown

/** A raw source. */
type Keys = Stream.Stream<Key, unknown, unknown>

/** The read grants of resources, one by one. */
type Read<R> = R extends Resource.Any ? Access.Access<"read", R> : never

/**
 * Declares a keyed controller. Throws {@link InvalidController} when the declaration is invalid.
 *
 * @example
 * ```ts
 * let runs = 0
 * const Counter = Controller.make({ name: "counter", for: Namespace, reconcile: () => Effect.sync(() => void runs++) })
 * const counted = Effect.flatMap(ClusterTest, ({ run, settle }) => Effect.andThen(run(Counter), settle)).pipe(Effect.scoped)
 * await Effect.runPromise(counted.pipe(Effect.provide(ClusterTest.layer()), Effect.provide(TestClock.layer())))
 * assert.ok(runs > 0)
 * ```
 */
export const make = <
  R extends Resource.Any = never,
  E = never,
  Req = never,
  const Own extends ReadonlyArray<Sources.Owns> = [],
  const Watch extends ReadonlyArray<Sources.Watched> = [],
  const Acc extends ReadonlyArray<Access.Any> = [],
  const Src extends ReadonlyArray<Keys> = [],
  B = Reconcile.Outcome | void
>(
  options: Declaration.Returning<B> & Options<R, Own, Watch, Acc, Src, E, Req, B>
): Descriptor<Exclude<Req | Stream.Services<Src[number]>, Scope.Scope>> => {
  const kind: Resource.Any | undefined = options.for
  const { access: granted = [], name, predicate, sources = [], watches = [] } = options
  // `Declaration.Returning` admits no other results.
  const reconcile = options.reconcile as OfKeys<Granted<R, Own, Watch, Acc[number]>, E, Req>["reconcile"] | undefined
  const owns = (options.owns ?? []).map(Sources.ownedOf)
  const watched = watches.map(({ source }) => source)
  const kinds = [...(kind === undefined ? [] : [kind]), ...[...owns, ...watches].map(({ resource }) => resource)]
  // From here on the type of the objects is not known.
  const objects = options as unknown as Objects.Objects<E, Req>
  const implied = reconcile === undefined && kind !== undefined ? Objects.access(objects) : []
  // Objects that it owns have an owner reference to it.
  const owning = kind === undefined || owns.length === 0 ? [] : [Access.own(kind)]
  const access = [...kinds.map((resource) => Access.read(resource)), ...owning, ...implied, ...granted]
  const reads = Access.reads(access)
  Declaration.check({ ...options, owns: owns.map(({ resource }) => resource), reads, sources, watches: watched })
  const own = kind === undefined ? [] : ownFeeds(kind, owns, predicate as Predicate<KubeObject> | undefined)
  return {
    name,
    access,
    reads,
    ...(kind === undefined ? {} : { for: kind }),
    ...placed(options),
    ...counted(options),
    ...(options.shardBy === undefined ? {} : { sharded: true }),
    ...(options.staysInNamespace === true ? { staysInNamespace: true } : {}),
    layer: Loop.layer({
      ...options,
      // Its objects are those of the `for` kind.
      shardBy: options.shardBy as ShardBy<KubeObject> | undefined,
      reads,
      body: (context) =>
        Effect.succeed({
          watchSources: [...own, ...watched],
          // `Req` has the services of the streams, which the type of the list cannot express.
          sources: sources as ReadonlyArray<Stream.Stream<Key, unknown, Req | Stream.Services<Src[number]>>>,
          reconcile: reconcile ?? Objects.reconciler(objects, context as unknown as Objects.Erased)
        })
    })
  }
}

/** The sources of the kind itself and of the kinds that its objects own. */
const ownFeeds = (
  kind: Resource.Any,
  owns: ReadonlyArray<Sources.Owned>,
  predicate: Predicate<KubeObject> | undefined
): ReadonlyArray<Loop.WatchSource> => [
  Loop.watchSource(kind, Trigger.self, { predicate }),
  ...owns.map(({ feedFor }) => feedFor(kind))
]

/** The sources and the reconcile of a controller with state, made anew for each run of its layer. */
export interface Body<E, Req> {
  /** Which changes add which keys. Their triggers run synchronously after the cache has changed, and may update the state. */
  readonly sources: ReadonlyArray<Sources.Watched>
  /** As in {@link OfKeys}. */
  readonly reconcile: (request: Request) => Effect.Effect<Reconcile.Outcome | void, E, Req>
  /**
   * Called with the kind of a write when a run is delayed because the cache does not contain yet what the key's last run wrote. Must be quick.
   */
  readonly onHeld?: ((resource: Resource.Any) => void) | undefined
}

/** A controller that keeps state. */
export interface StatefulOptions<Acc extends ReadonlyArray<Access.Any>, E, Req, Req2> extends Placement, Counted, Runs {
  /** Unique, lower case. */
  readonly name: string
  /** The kind of the objects that its keys name, if there is one: for logs, and for limits by kind. */
  readonly for?: Resource.Any | undefined
  /** Everything that it may do, including reads. */
  readonly access: Acc
  /** As in {@link Runs}. Default: 10 a second and bursts of 100, as in client-go. */
  readonly bucket?: TokenBucket.Options | undefined
  /**
   * Makes the state that the sources and the reconcile share: it lives as long as one run of the layer, which is one term of leadership.
   * It runs before any key is reconciled, and must not wait for the cache.
   */
  readonly body: (context: BodyContext<Acc[number]>) => Effect.Effect<Body<E, Req>, never, Req2>
}

/**
 * Declares a keyed controller that keeps state between its runs, such as expectations. Prefer {@link make} without them.
 *
 * @example
 * ```ts
 * const Seen = Controller.stateful({
 *   name: "seen",
 *   access: [Access.read(Namespace)],
 *   body: () => {
 *     const seen = new Set<string>()
 *     const reconcile = ({ name }: Controller.Request) => Effect.sync(() => void seen.add(name))
 *     return Effect.succeed({ sources: [Controller.watch(Namespace, Trigger.self)], reconcile })
 *   }
 * })
 * assert.deepEqual(Seen.reads, [Namespace])
 * ```
 */
export const stateful = <E, Req = never, Req2 = never, const Acc extends ReadonlyArray<Access.Any> = []>(
  options: StatefulOptions<Acc, E, Req, Req2>
): Descriptor<Exclude<Req | Req2, Scope.Scope>> => {
  Declaration.checkNamed(options)
  const reads = Access.reads(options.access)
  return {
    name: options.name,
    access: options.access,
    reads,
    ...(options.for === undefined ? {} : { for: options.for }),
    ...placed(options),
    ...counted(options),
    layer: Loop.layer({
      ...options,
      bucket: options.bucket ?? TokenBucket.clientGo,
      reads,
      body: (context) =>
        Effect.map(options.body(context), ({ onHeld, reconcile, sources }) => ({
          watchSources: sources.map((source) => source.source),
          reconcile,
          onHeld
        }))
    })
  }
}

/** A controller that runs on a schedule. */
export interface ScheduledOptions<Acc extends ReadonlyArray<Access.Any>, E, Req>
  extends Placement, Pick<Counted, "metrics"> {
  /** Unique, lower case. */
  readonly name: string
  /** Everything that it may do, including reads. */
  readonly access: Acc
  /** When to run again after a run; the first run is at once. Its input is the run that has just ended. */
  readonly schedule: Schedule.Schedule<unknown, Run>
  /** The component in the events that it records. Default: its name. */
  readonly component?: string | undefined
  /**
   * Called once for each run of the layer, which is one term of leadership, so its closure may hold state. The effect that it returns is one
   * run. A failure is logged and the schedule goes on; runs never overlap.
   */
  readonly run: (context: ReconcileContext<Acc[number]>) => Effect.Effect<void, E, Req>
}

/** Declares a controller that runs on a schedule, once its kinds have synced. */
export const scheduled = <E, Req = never, const Acc extends ReadonlyArray<Access.Any> = []>(
  options: ScheduledOptions<Acc, E, Req>
): Descriptor<Exclude<Req, Scope.Scope>> => {
  Declaration.checkNamed({ name: options.name })
  const reads = Access.reads(options.access)
  return {
    name: options.name,
    access: options.access,
    reads,
    ...placed(options),
    ...counted(options),
    queues: [],
    layer: Periodic.layer({ ...options, reads })
  }
}
