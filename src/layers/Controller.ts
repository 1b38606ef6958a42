/**
 * A controller is a value: a plain descriptor from which the registry, flags, permissions and warm-up are derived, and a layer
 * that runs the loop. `make` declares a keyed loop (watch, queue, reconcile), `stateful` one that keeps state between its runs,
 * `scheduled` one that runs on a schedule.
 * Building the layer never waits for a sync: it subscribes, and a supervised fiber starts the work when the controller's
 * own kinds have synced. When the layer's scope closes, running reconciles are drained; if leadership was lost, interrupted.
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
import type * as TokenBucket from "../streams/queue/tokenBucket.ts"
import * as Trigger from "../streams/store/trigger.ts"
import type { Cache } from "./Cache.ts"
import * as Declaration from "./controller/declaration.ts"
import * as Loop from "./controller/loop.ts"
import * as Objects from "./controller/objects.ts"
import * as Periodic from "./controller/periodic.ts"
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
export type { BodyContext, Client, Reader, Request, ReconcileContext } from "./controller/reconcileContext.ts"

/** The services every controller's layer is built from. */
export type Services = Cache | KubeClient | Recorder | Supervisor

/** What there is to know about a controller without running it. `R`: what its reconcile needs beyond {@link Services}. */
export interface Descriptor<out R = never> {
  /** Unique, lower case; the name in `--controllers`, logs and metrics. */
  readonly name: string
  /** Everything it may do, reads of its sources included. */
  readonly access: ReadonlyArray<Access.Any>
  /** The kinds it reads from the cache: kept warm on a standby. */
  readonly reads: ReadonlyArray<Resource.Any>
  /** The kind whose objects it reconciles, where there is one. */
  readonly for?: Resource.Any | undefined
  /** False: it runs on every replica, leader or not. */
  readonly needsLeader: boolean
  /** Kinds beyond those that it reads that the server must serve; without one of them it does not run. */
  readonly requires?: ReadonlyArray<Resource.Any> | undefined
  /**
   * True: it starts before all others of its group, which wait until its kinds have synced and what they asked for is done, or its
   * first run is over; its failure to get there ends the manager, and its client is the program's own.
   */
  readonly startFirst?: boolean | undefined
  /** True: it works on a `CloudProvider`, and runs only where cloud loops do. */
  readonly cloud?: boolean | undefined
  /** The names of its queues in metrics; its own name unless said otherwise. */
  readonly queues?: ReadonlyArray<string> | undefined
  /** What it counts beyond its runs and queues: those without labels are shown from the start. None unless there are any. */
  readonly metrics?: ReadonlyArray<Family> | undefined
  /** Names of pages that it shows by `Inspection` while it runs, and what each of them says. None unless there are any. */
  readonly debug?: Readonly<Record<string, string>> | undefined
  /** Runs the controller for as long as its scope is open. */
  readonly layer: Layer.Layer<never, never, Services | R>
}

/** When and where a controller runs, as in {@link Descriptor}; leaders only unless said otherwise. */
export interface Placement extends Partial<Pick<Descriptor, "needsLeader" | "requires" | "startFirst" | "cloud">> {}

const placed = ({ cloud, needsLeader = true, requires, startFirst }: Placement) => ({
  needsLeader,
  ...(requires === undefined ? {} : { requires }),
  ...(startFirst === undefined ? {} : { startFirst }),
  ...(cloud === undefined ? {} : { cloud })
})

/** What metrics have of a controller besides its runs. */
export interface Counted extends Partial<Pick<Descriptor, "metrics">> {
  /** The name of its queue in metrics; its own unless said otherwise. */
  readonly queue?: string | undefined
}

const counted = ({ metrics, queue }: Counted) => ({
  ...(metrics === undefined ? {} : { metrics }),
  ...(queue === undefined ? {} : { queues: [queue] })
})

/** What the two forms of {@link Options} share. */
export interface Declared<
  R extends Resource.Any,
  Own extends ReadonlyArray<Sources.Owns>,
  Watch extends ReadonlyArray<Sources.Watched>,
  Acc extends ReadonlyArray<Access.Any>,
  Src extends ReadonlyArray<Keys>
>
  extends Placement, Counted {
  /** Unique, lower case. */
  readonly name: string
  /** The kind whose objects are reconciled: every change of one asks for its key. Without it, keys are what the sources make of them. */
  readonly for?: R | undefined
  /** Which changes of that kind count; all unless said otherwise. */
  readonly predicate?: Predicate<Resource.Object<R>> | undefined
  /** Kinds whose controller reference leads to the `for` kind; {@link owned} has what else can be said of one. */
  readonly owns?: (Own & OwnedBy<R>) | undefined
  /** Further kinds, each with its own way to the keys. */
  readonly watches?: Watch | undefined
  /**
   * Streams of keys from elsewhere than the cluster: a queue, a timer, another system. Each runs for as long as the controller does; one
   * that ends has no more to say, one that fails is logged and started again, after 1 s to 30 s.
   */
  readonly sources?: Src | undefined
  /** What reconcile may do beyond reading its sources. */
  readonly access?: Acc | undefined
  /** How many keys at once; 1 unless said otherwise. Never two runs of one key. */
  readonly concurrency?: number | undefined
  /** A run that takes longer is interrupted and counts as a failure; 5 minutes unless said otherwise. */
  readonly timeout?: Duration.Input | "none" | undefined
  /** Delay after failures in a row: `base × 2^n` up to `max`. Default 5 ms, 1000 s. */
  readonly backoff?: { readonly base?: Duration.Input; readonly max?: Duration.Input } | undefined
  /** How long a key may wait for its own writes to show up in the cache; 5 s unless said otherwise. */
  readonly readYourWritesLimit?: Duration.Input | undefined
  /**
   * The least time between the starts of two runs of a key that changes ask for: the first change is answered at once, and what changes within
   * that time after it is one run. None unless said otherwise. It bounds the runs of an object that is changed all the time.
   */
  readonly minInterval?: Duration.Input | undefined
}

/** A controller that is handed keys. */
export interface OfKeys<A, E, Req> {
  /**
   * Moves the actual towards the desired for one object; level-based, idempotent. Return nothing or `Reconcile.done`,
   * `Reconcile.after(d)` to run again, fail to be retried with backoff, fail with `Reconcile.terminal` to be left alone.
   */
  readonly reconcile: (
    request: Request,
    context: ReconcileContext<A>
  ) => Effect.Effect<Reconcile.Outcome | void, E, Req>
  readonly reconcileObject?: undefined
  readonly finalizers?: undefined
}

/**
 * A controller that is handed objects, as the cache has them and their kind's Schemas read them. One that is gone ends the run quietly. One
 * that the Schemas cannot read is not handed out: a warning event `InvalidObject` says what is wrong and where, and so does the condition
 * `Valid` where the kind's status keeps conditions; it is looked at again when it changes as `predicate` has it, and the others are not held up.
 * Source: controller-runtime reconcile.ObjectReconciler.
 */
export interface OfObjects<R, A, E, Req> {
  /** The kind whose objects are reconciled. */
  readonly for: R
  /**
   * As `reconcile` of {@link OfKeys}, with the object in place of its key. Without `finalizers` it is handed objects that are being
   * deleted too.
   */
  readonly reconcileObject: Work<R, A, Reconcile.Outcome | void, E, Req>
  /**
   * What has to be done before an object may go, by name: `{ "example.com/bucket": (bucket) => empty(bucket) }`. The names are on an object
   * before it is handed to `reconcileObject`, and each is taken off when its work has succeeded; then an object that is being deleted
   * is not handed out. Work on an object that cannot be read waits until it can: the event says so. The promises are those of `finalize`.
   */
  readonly finalizers?: Readonly<Record<string, Work<R, A, void, E, Req>>> | undefined
  readonly reconcile?: undefined
}

type Work<R, A, B, E, Req> = (object: Resource.Decoded<R>, context: ReconcileContext<A>) => Effect.Effect<B, E, Req>

/** What may be done: what is said, and reading every kind that is named. */
type Granted<R, Own extends ReadonlyArray<Sources.Owns>, Watch extends ReadonlyArray<Sources.Watched>, Acc> =
  | Acc
  | Read<R>
  | Read<Sources.KindOf<Own[number]>>
  | Read<Watch[number]["resource"]>

/** A keyed controller, in one of two forms: `reconcile` is handed keys, `reconcileObject` objects. */
export type Options<
  R extends Resource.Any,
  Own extends ReadonlyArray<Sources.Owns>,
  Watch extends ReadonlyArray<Sources.Watched>,
  Acc extends ReadonlyArray<Access.Any>,
  Src extends ReadonlyArray<Keys>,
  E,
  Req
> = Declared<R, Own, Watch, Acc, Src> &
  (OfKeys<Granted<R, Own, Watch, Acc[number]>, E, Req> | OfObjects<R, Granted<R, Own, Watch, Acc[number]>, E, Req>)

/** Nothing is owned by no kind. */
type OwnedBy<R> = [R] extends [never] ? readonly [] : unknown

/** A raw source. */
type Keys = Stream.Stream<Key, unknown, unknown>

/** The read grants of resources, one by one. */
type Read<R> = R extends Resource.Any ? Access.Access<"read", R> : never

/** Declares a keyed controller. Throws {@link InvalidController} when what is declared cannot work. */
export const make = <
  R extends Resource.Any = never,
  E = never,
  Req = never,
  const Own extends ReadonlyArray<Sources.Owns> = [],
  const Watch extends ReadonlyArray<Sources.Watched> = [],
  const Acc extends ReadonlyArray<Access.Any> = [],
  const Src extends ReadonlyArray<Keys> = []
>(
  options: Options<R, Own, Watch, Acc, Src, E, Req>
): Descriptor<Exclude<Req | Stream.Services<Src[number]>, Scope.Scope>> => {
  const kind: Resource.Any | undefined = options.for
  const { access: granted = [], name, predicate, reconcile, sources = [], watches = [] } = options
  const owns = (options.owns ?? []).map(Sources.ownedOf)
  const watched = watches.map(({ source }) => source)
  const kinds = [...(kind === undefined ? [] : [kind]), ...[...owns, ...watches].map(({ resource }) => resource)]
  // The one place that knows the type of the objects no more.
  const objects = options as unknown as Objects.Objects<E, Req>
  const implied = reconcile === undefined && kind !== undefined ? Objects.access(objects) : []
  // What it owns names it as an owner.
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
    layer: Loop.layer({
      ...options,
      reads,
      body: (context) =>
        Effect.succeed({
          watchSources: [...own, ...watched],
          // What they need is in `Req`, where the types of a list cannot say it.
          sources: sources as ReadonlyArray<Stream.Stream<Key, unknown, Req | Stream.Services<Src[number]>>>,
          reconcile: reconcile ?? Objects.reconciler(objects, context as unknown as Objects.Erased)
        })
    })
  }
}

/** Of the kind itself and of what its objects own. */
const ownFeeds = (
  kind: Resource.Any,
  owns: ReadonlyArray<Sources.Owned>,
  predicate: Predicate<KubeObject> | undefined
): ReadonlyArray<Loop.WatchSource> => [
  Loop.watchSource(kind, Trigger.self, { predicate }),
  ...owns.map(({ feedFor }) => feedFor(kind))
]

/** What a controller with state does, made anew for each run of its layer. */
export interface Body<E, Req> {
  /** Which changes ask for which keys. Their triggers run synchronously after the cache has changed, and may update the state. */
  readonly sources: ReadonlyArray<Sources.Watched>
  /** As in {@link OfKeys}. */
  readonly reconcile: (request: Request) => Effect.Effect<Reconcile.Outcome | void, E, Req>
  /**
   * Called when a run is put off because the cache does not show yet what the key's last one wrote, with the kind of what was written. Must be
   * quick.
   */
  readonly onHeld?: ((resource: Resource.Any) => void) | undefined
}

/** A controller that keeps state. */
export interface StatefulOptions<Acc extends ReadonlyArray<Access.Any>, E, Req, Req2> extends Placement, Counted {
  /** Unique, lower case. */
  readonly name: string
  /** Component in the events it records; the name unless said otherwise. */
  readonly component?: string | undefined
  /** The kind whose objects its keys name, where there is one: for logs, and for who sets limits by kind. */
  readonly for?: Resource.Any | undefined
  /** Everything it may do, reads included. */
  readonly access: Acc
  /** How many keys at once; 1 unless said otherwise. Never two runs of one key. */
  readonly concurrency?: number | undefined
  /** As in {@link Options}. */
  readonly timeout?: Duration.Input | "none" | undefined
  /** Delay after failures in a row: `base × 2^n` up to `max`. Default 5 ms, 1000 s. */
  readonly backoff?: { readonly base?: Duration.Input; readonly max?: Duration.Input } | undefined
  /** A bucket that the retries of all keys share; 10 a second and bursts of 100 unless said otherwise, as client-go. */
  readonly bucket?: TokenBucket.Options | undefined
  /** After so many retries in a row a key is left alone until something asks for it again; for ever unless said otherwise. */
  readonly retries?: number | undefined
  /** As in {@link Options}. */
  readonly readYourWritesLimit?: Duration.Input | undefined
  /**
   * Makes what the sources and the reconcile share: it lives exactly as long as one run of the layer, one term of leadership.
   * It runs before any key is worked on and must not wait for the cache.
   */
  readonly body: (context: BodyContext<Acc[number]>) => Effect.Effect<Body<E, Req>, never, Req2>
}

/** Declares a keyed controller that keeps state between its runs, such as expectations. Prefer {@link make} without them. */
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
      bucket: options.bucket ?? { perSecond: 10, burst: 100 },
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
  /** Everything it may do, reads included. */
  readonly access: Acc
  /** When to run again after a run; the first run is at once. Its input is the run that has just ended. */
  readonly schedule: Schedule.Schedule<unknown, Run>
  /** Component in the events it records; the name unless said otherwise. */
  readonly component?: string | undefined
  /**
   * Called once for each run of the layer, one term of leadership, so its closure may hold state; the effect it answers with is
   * one run. A failure is logged and the schedule goes on; runs never overlap.
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
