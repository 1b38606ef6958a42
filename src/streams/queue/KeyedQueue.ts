/**
 * The queue between triggers and workers. A key is in it at most once, queued or in flight with one worker; an add while it is in flight
 * is remembered until `done`. Keys with a higher priority come first, equals in the order in which they became ready; of several delays
 * of a key the earliest due time counts. The rules are in `queueState.ts`; this file adds a clock, one timer fiber for all delays, and
 * consumers that can wait.
 *
 * It lives in a Scope; when that closes, the queue is shut down. It is not for events, because several adds of a key are one.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import type * as Scope from "effect/Scope"
import * as Backoff from "./backoff.ts"
import type { QueueMetrics } from "../reconcile/loopMetrics.ts"
import * as Monotonic from "../monotonic.ts"
import * as QueueState from "./queueState.ts"
import * as TokenBucket from "./tokenBucket.ts"
import type * as RunCause from "../reconcile/cause.ts"

/** The priority of keys that are not urgent: those of the first list of an informer, and of resyncs. */
export const LOW = -100

/** Settings of a queue. */
export interface Options {
  /** The name of the queue in logs. */
  readonly name?: string | undefined
  /** Delay after the n-th failure in a row: `base × 2^n` up to `max`. Default 5 ms up to 1000 s. */
  readonly backoff?: Partial<Backoff.Options> | undefined
  /** A token bucket that all retries share: a retry waits for its key's backoff and for a token, whichever is later. Default: none. */
  readonly bucket?: TokenBucket.Options | undefined
  /**
   * Keys below priority 0 gain `levels` of priority for each `interval` that they wait, up to 0. Default: 20 levels per 30 s. With `"off"`
   * they may starve, as in controller-runtime.
   */
  readonly aging?: { readonly levels: number; readonly interval: Duration.Input } | "off" | undefined
  /** Default true. False: keys are handed out in the order in which they became ready, whatever their priority. */
  readonly prioritizes?: boolean | undefined
  /** The metrics of the queue. Default: none. */
  readonly metrics?: QueueMetrics | undefined
}

/** How a key is added. */
export interface AddOptions {
  /** Default 0; {@link LOW} is -100. A key that is added twice keeps the higher priority. */
  readonly priority?: number | undefined
  /** The delay. A key that is added twice keeps the earlier time. */
  readonly after?: Duration.Input | undefined
  /** Counts a failure and delays the key by its backoff; with `after`, by the shorter of the two. */
  readonly rateLimited?: boolean | undefined
  /** Why, for logs and traces. Default: unknown. */
  readonly cause?: RunCause.Cause | undefined
}

/** The sizes of the queue at this moment. */
export interface Stats {
  /** Keys that could be taken now. */
  readonly ready: number
  /** Keys that wait for their time. */
  readonly waiting: number
  /** Keys in flight, including those that the loop has parked. */
  readonly processing: number
  /** Keys with failures since their last `forget`. */
  readonly failing: number
  /** Since the start: keys that were added and not merged with a queued one, and adds with a delay. */
  readonly adds: number
  /** Since the start: adds with a delay. */
  readonly retries: number
}

/** A queue of keys, each in it once and in flight with at most one worker. */
export interface KeyedQueue<K extends string = string> {
  /** The name of the queue in logs. Default "queue". */
  readonly name: string
  /** Adds a key. For synchronous callers: never suspends, never runs a worker. Ignored after shutdown. `cause`: why, for logs and traces. */
  readonly addUnsafe: (key: K, priority?: number, cause?: RunCause.Cause) => void
  /** `addUnsafe` for many keys. */
  readonly addAllUnsafe: (keys: Iterable<K>, priority?: number, cause?: RunCause.Cause) => void
  /** `add` for synchronous callers. Returns the delay in milliseconds, or undefined if the queue is shut down. */
  readonly addWithUnsafe: (key: K, options: AddOptions) => number | undefined
  /** Adds a key. Ignored after shutdown. */
  readonly add: (key: K, options?: AddOptions) => Effect.Effect<void>
  /** Resets the key's backoff. */
  readonly forget: (key: K) => Effect.Effect<void>
  /** `forget` for synchronous callers. */
  readonly forgetUnsafe: (key: K) => void
  /** Failures of the key since the last `forget`. */
  readonly failures: (key: K) => number
  /** The priority with which the key is queued, or was handed out. */
  readonly priority: (key: K) => number | undefined
  /**
   * Waits for a key; it is then in flight until `done`. Fails with `Done` after shutdown. A consumer that is interrupted while it waits
   * takes no key. If the fiber can be interrupted between `take` and `done`, use `process`, or an uninterruptible region.
   */
  readonly take: Effect.Effect<K, Cause.Done>
  /** The next key, if one is ready. `at`: the monotonic time in milliseconds, for a caller that has just read it. */
  readonly takeUnsafe: (at?: number) => K | undefined
  /** Ends the processing of the key; if it was added meanwhile, it is queued again. */
  readonly done: (key: K) => Effect.Effect<void>
  /** `done` for synchronous callers. */
  readonly doneUnsafe: (key: K) => void
  /** Returns a key that was not processed: it is ready again, behind keys of its priority, even while draining. */
  readonly releaseUnsafe: (key: K, cause?: RunCause.Cause) => void
  /** Why the key was added until now, for the run that begins; later causes belong to the next run. */
  readonly claimUnsafe: (key: K) => RunCause.Causes | undefined
  /** Takes a key, runs `f`, and calls `done` however that ends. Fails with `Done` after shutdown. */
  readonly process: <A, E, R>(f: (key: K) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | Cause.Done, R>
  /**
   * Calls `wake` once, in a scheduled task, when a key may be ready or the queue has ended. For consumers that call `takeUnsafe`: take
   * until no key is left, then wait again. Returns a function that stops waiting.
   */
  readonly onReadyUnsafe: (wake: () => void) => () => void
  /** The sizes of the queue. */
  readonly stats: () => Stats
  /** Whether the queue has been shut down, so that it hands out no more keys. */
  readonly endedUnsafe: () => boolean
  /** Waits until nothing is ready and nothing in flight. Delayed keys do not count. */
  readonly idle: Effect.Effect<void>
  /** Ignores adds, drops every queued key and ends all consumers that wait. Keys in flight stay so until `done`. */
  readonly shutdown: Effect.Effect<void>
  /**
   * Ignores adds, drops delayed keys, and waits until the ready keys and those in flight are done; then it ends all consumers. It waits as
   * long as the workers need, and forever if no worker takes keys: use a timeout, or call `shutdown`, where that can happen.
   */
  readonly shutdownWithDrain: Effect.Effect<void>
}

/** The most due keys that become ready in one synchronous section; the rest follows after a yield. */
const releaseLimit = 4096

/** A queue that is shut down when its scope closes. */
export const make = <K extends string = string>(
  options: Options = {}
): Effect.Effect<KeyedQueue<K>, never, Scope.Scope> =>
  Effect.contextWith((context: Context.Context<Scope.Scope>) => {
    const now = Monotonic.millis(Context.get(context, Clock.Clock))
    const state = new QueueState.QueueState<K>({
      now,
      backoff: retryDelay(options, now),
      aging: agingOf(options.aging),
      metrics: options.metrics,
      onReady: () => waiters.wake(),
      onDelay: (due) => timer.arm(due),
      onQuiet: () => quiet.wake()
    })
    const waiters = new Waiters(context, () => state.hasReady || state.ended)
    const quiet = new Waiters(context, () => true)
    const timer = new Timer(context, state)
    const shutdown = Effect.sync(() => {
      timer.stop()
      state.shutdown(false)
    })
    const detach = options.metrics?.attachQueue(state)
    return Effect.as(
      Effect.addFinalizer(() => Effect.andThen(shutdown, () => Effect.sync(() => detach?.()))),
      wrap<K>(options.name ?? "queue", state, {
        waiters,
        quiet,
        timer,
        shutdown,
        prioritizes: options.prioritizes !== false
      })
    )
  })

interface Parts {
  readonly waiters: Waiters
  readonly quiet: Waiters
  readonly timer: Timer
  readonly shutdown: Effect.Effect<void>
  readonly prioritizes: boolean
}

const wrap = <K extends string>(name: string, state: QueueState.QueueState<K>, parts: Parts): KeyedQueue<K> => {
  const rank = parts.prioritizes ? (priority: number) => priority : () => 0
  const takeUnsafe = (at?: number): K | undefined => state.take(at)
  const doneUnsafe = (key: K): void => state.done(key)
  const addWithUnsafe = (key: K, options: AddOptions): number | undefined => {
    const priority = rank(options.priority ?? 0)
    const after = options.after === undefined ? undefined : Math.max(0, Duration.toMillis(options.after))
    if (options.rateLimited === true) return state.retry(key, priority, after ?? Infinity, options.cause)
    return state.add(key, priority, after ?? 0, options.cause) ? (after ?? 0) : undefined
  }
  const until = (reached: () => boolean): Effect.Effect<void> =>
    Effect.suspend(() => (reached() ? Effect.void : Effect.flatMap(parts.quiet.wait, () => until(reached))))
  const process = <A, E, R>(f: (key: K) => Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore) => {
      const next: Effect.Effect<A, E | Cause.Done, R> = Effect.suspend(() => {
        const key = state.take()
        if (key !== undefined) return Effect.ensuring(restore(Effect.suspend(() => f(key))), done(key))
        return state.ended ? Cause.done() : Effect.flatMap(restore(parts.waiters.wait), () => next)
      })
      return next
    })
  const take: Effect.Effect<K, Cause.Done> = Effect.suspend(() => {
    const key = state.take()
    if (key !== undefined) return Effect.succeed(key)
    return state.ended ? Cause.done() : Effect.flatMap(parts.waiters.wait, () => take)
  })
  const done = (key: K): Effect.Effect<void> => Effect.sync(() => state.done(key))
  return {
    name,
    addUnsafe: (key, priority = 0, cause) => void state.add(key, rank(priority), 0, cause),
    addAllUnsafe: (keys, priority = 0, cause) => state.addAll(keys, rank(priority), cause),
    addWithUnsafe,
    add: (key, options = {}) => Effect.sync(() => void addWithUnsafe(key, options)),
    forget: (key) => Effect.sync(() => state.forget(key)),
    forgetUnsafe: (key) => state.forget(key),
    failures: (key) => state.failures(key),
    priority: (key) => state.priority(key),
    take,
    takeUnsafe,
    done,
    doneUnsafe,
    releaseUnsafe: (key, cause) => state.release(key, cause),
    claimUnsafe: (key) => state.claim(key),
    process,
    onReadyUnsafe: (wake) => parts.waiters.add(wake),
    stats: () => state.stats(),
    endedUnsafe: () => state.ended,
    idle: until(() => state.isQuiet),
    shutdown: parts.shutdown,
    shutdownWithDrain: Effect.suspend(() => {
      parts.timer.stop()
      state.shutdown(true)
      return until(() => state.ended)
    })
  }
}

const retryDelay = ({ backoff, bucket }: Options, now: () => number): Backoff.Backoff => {
  const ofKey = Backoff.exponential({ base: backoff?.base ?? "5 millis", max: backoff?.max ?? "1000 seconds" })
  if (bucket === undefined) return ofKey
  const token = TokenBucket.make(bucket, now)
  return (failures) => Math.max(ofKey(failures), token())
}

const agingOf = (aging: Options["aging"]): QueueState.Options["aging"] => {
  if (aging === "off") return undefined
  return { levels: aging?.levels ?? 20, interval: Math.max(1, Duration.toMillis(aging?.interval ?? "30 seconds")) }
}

/**
 * Waiting callbacks, in order of arrival. They run in a scheduled task, never inside the caller that woke them, and each runs only while
 * a key is ready: if one was cancelled, or took no key, the next one runs, so that no wake-up is lost.
 */
class Waiters {
  /** In order of arrival; a Set keeps it and removes in O(1). */
  private readonly waiting = new Set<() => void>()
  /** True from `wake` until its task runs: a burst of adds schedules one task. */
  private scheduled = false
  private readonly dispatcher: Scheduler.SchedulerDispatcher
  private readonly reason: () => boolean

  constructor(context: Context.Context<never>, reason: () => boolean) {
    this.dispatcher = Context.get(context, Scheduler.Scheduler).makeDispatcher()
    this.reason = reason
  }

  readonly wait: Effect.Effect<void> = Effect.callback((resume) => {
    const cancel = this.add(() => resume(Effect.void))
    return Effect.sync(cancel)
  })

  add(wake: () => void): () => void {
    // A new function for each wait, so that one callback can wait twice.
    const waiter = () => wake()
    this.waiting.add(waiter)
    return () => void this.waiting.delete(waiter)
  }

  wake(): void {
    if (this.scheduled || this.waiting.size === 0) return
    this.scheduled = true
    this.dispatcher.scheduleTask(this.flush, 0)
  }

  /** Calls the callbacks that waited when it began; one that waits again meanwhile is called at the next `wake`. */
  private readonly flush = (): void => {
    this.scheduled = false
    let left = this.waiting.size
    for (const waiter of this.waiting) {
      if (left-- === 0 || !this.reason()) return
      this.waiting.delete(waiter)
      waiter()
    }
  }
}

type Delays = Pick<QueueState.QueueState<unknown>, "releaseDue" | "nextDue">

/** The one timer of a queue: a fiber that sleeps until the first delayed key is due. There is none while no key waits. */
class Timer {
  /** The sleeper, if any; it sleeps until `armed`. */
  private fiber: Fiber.Fiber<void> | undefined
  /** Infinity if and only if no fiber sleeps. Never later than the state's next due time. */
  private armed = Infinity
  private readonly clock: Clock.Clock
  private readonly now: () => number
  private readonly fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  private readonly state: Delays

  constructor(context: Context.Context<never>, state: Delays) {
    this.clock = Context.get(context, Clock.Clock)
    this.now = Monotonic.millis(this.clock)
    this.fork = Effect.runForkWith(context)
    this.state = state
  }

  arm(due: number): void {
    if (due >= this.armed) return
    this.fiber?.interruptUnsafe()
    this.armed = due
    this.fiber = this.fork(this.loop)
  }

  stop(): void {
    this.fiber?.interruptUnsafe()
    this.fiber = undefined
    this.armed = Infinity
  }

  private readonly loop: Effect.Effect<void> = Effect.suspend(() => {
    const wait = this.armed - this.now()
    // Whole milliseconds, rounded up: timers have no finer grain, and a fraction too early would only sleep again.
    return wait > 0 ? Effect.flatMap(this.clock.sleep(Duration.millis(Math.ceil(wait))), () => this.fire) : this.fire
  })

  private readonly fire: Effect.Effect<void> = Effect.suspend(() => {
    this.state.releaseDue(releaseLimit)
    this.armed = this.state.nextDue()
    if (this.armed === Infinity) return Effect.void
    return this.armed <= this.now() ? Effect.flatMap(Effect.yieldNow, () => this.fire) : this.loop
  })
}
