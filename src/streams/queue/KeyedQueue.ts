/**
 * The queue between triggers and workers: keys in, keys out, nothing else. A key is in it at most once, queued or
 * in flight with one worker, and an add made while it is in flight is remembered until `done`. Higher priorities come
 * first, equals in the order in which they became ready; delays and per-key backoff keep the earliest due time. The rules
 * are in `queueState.ts`; this file gives them a clock, one timer fiber for all delays, and takers that can wait.
 *
 * It lives in a Scope; when that closes, the queue is shut down. It is not for events: two adds of a key are one.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import * as Backoff from "./backoff.ts"
import type { QueueMetrics } from "../reconcile/loopMetrics.ts"
import * as Monotonic from "../monotonic.ts"
import * as QueueState from "./queueState.ts"
import * as TokenBucket from "./tokenBucket.ts"
import type { Triggers } from "../reconcile/trace.ts"

/** The priority of keys that are not urgent: those of the first list of an informer, and of resyncs. */
export const LOW = -100

/** Settings of a queue. */
export interface Options {
  /** Labels logs. */
  readonly name?: string | undefined
  /** Delay after the n-th failure in a row: `base × 2^n` up to `max`. Default 5 ms up to 1000 s. */
  readonly backoff?: Partial<Backoff.Options> | undefined
  /** A bucket that all retries share: a retry waits for its key's backoff or for its token, whichever is later. None by default. */
  readonly bucket?: TokenBucket.Options | undefined
  /**
   * Keys below priority 0 gain `levels` for each `interval` they wait, up to 0. Default 20 levels per 30 s; `"off"` lets
   * them starve, as in Go.
   */
  readonly aging?: { readonly levels: number; readonly interval: Duration.Input } | "off" | undefined
  /** Default true. False: keys come in the order in which they became ready, whatever their priority. */
  readonly prioritizes?: boolean | undefined
  /** Where it is counted; nowhere by default. */
  readonly metrics?: QueueMetrics | undefined
}

/** How a key is asked for. */
export interface AddOptions {
  /** Default 0; {@link LOW} is -100. A key that is asked for twice keeps the higher one. */
  readonly priority?: number | undefined
  /** Not before this has passed. A key that is asked for twice keeps the earlier time. */
  readonly after?: Duration.Input | undefined
  /** Counts a failure and waits for the key's backoff; together with `after` the shorter of the two. */
  readonly rateLimited?: boolean | undefined
}

/** The queue in numbers, as they are at this moment. */
export interface Stats {
  /** Keys that could be taken now. */
  readonly ready: number
  /** Keys that wait for their time. */
  readonly waiting: number
  /** Keys in the hands of workers, parked ones included. */
  readonly processing: number
  /** Keys with failures that were not forgotten. */
  readonly failing: number
  /** Since the start: keys queued anew, and adds with a delay. */
  readonly adds: number
  /** Since the start: adds with a delay. */
  readonly retries: number
}

/** A queue of keys, each in it once and in the hands of one worker at most. */
export interface KeyedQueue<K extends string = string> {
  /** Labels logs; "queue" unless given. */
  readonly name: string
  /** Asks for a key. For synchronous callers: never suspends, never runs a worker. Ignored after shutdown. */
  readonly addUnsafe: (key: K, priority?: number) => void
  /** `addUnsafe` for many keys. */
  readonly addAllUnsafe: (keys: Iterable<K>, priority?: number) => void
  /** `add` for synchronous callers. The delay in milliseconds, or nothing if the queue is shut down. */
  readonly addWithUnsafe: (key: K, options: AddOptions) => number | undefined
  /** Asks for a key. Ignored after shutdown. */
  readonly add: (key: K, options?: AddOptions) => Effect.Effect<void>
  /** Resets the key's backoff. */
  readonly forget: (key: K) => Effect.Effect<void>
  /** `forget` for synchronous callers. */
  readonly forgetUnsafe: (key: K) => void
  /** Failures of the key since the last `forget`. */
  readonly failures: (key: K) => number
  /** The priority the key is queued with or was handed out with. */
  readonly priority: (key: K) => number | undefined
  /**
   * Waits for a key; it is then in flight until `done`. Fails with `Done` after shutdown. A taker that is interrupted while it
   * waits takes nothing. The guarantee ends where `take` returns: use `process`, or take inside an uninterruptible
   * region, if the fiber can be interrupted before it calls `done`.
   */
  readonly take: Effect.Effect<K, Cause.Done>
  /** The next key, if one is ready. `at`: what the monotonic clock says, in milliseconds, for a caller who has just looked. */
  readonly takeUnsafe: (at?: number) => K | undefined
  /** The worker is through with the key; one that was asked for meanwhile is ready again. */
  readonly done: (key: K) => Effect.Effect<void>
  /** `done` for synchronous callers. */
  readonly doneUnsafe: (key: K) => void
  /** Hands a key back that was not worked on: it is ready again behind its equals, even while draining. */
  readonly releaseUnsafe: (key: K) => void
  /**
   * Remembers the span of what has just asked for a key, until the run that answers it claims it. For traces only: without them nothing
   * is kept.
   */
  readonly noteUnsafe: (key: K, trigger: Tracer.Span) => void
  /** What has asked for the key until now, by `noteUnsafe`: the run that begins answers it. */
  readonly claimUnsafe: (key: K) => Triggers | undefined
  /** Takes a key, runs `f`, and calls `done` however that ends. Fails with `Done` after shutdown. */
  readonly process: <A, E, R>(f: (key: K) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | Cause.Done, R>
  /**
   * Calls `wake` once, in a scheduled task of its own, when a key may be ready or the queue has ended. For consumers that call
   * `takeUnsafe`: take until nothing is left, then wait again. Returns how to stop waiting.
   */
  readonly onReadyUnsafe: (wake: () => void) => () => void
  /** The queue in numbers. */
  readonly stats: () => Stats
  /** After shutdown: nothing will be handed out any more. */
  readonly endedUnsafe: () => boolean
  /** Waits until nothing is ready and nothing in flight. Delayed keys do not count. */
  readonly idle: Effect.Effect<void>
  /** Refuses adds, drops every queued key and ends all takers. Keys in flight stay so until `done`. */
  readonly shutdown: Effect.Effect<void>
  /**
   * Refuses adds, drops delayed keys, and waits until the ready ones and those in flight are done; then ends all takers. It
   * waits as long as workers need, for ever if no worker takes keys: bound it, or `shutdown` afterwards, where that can happen.
   */
  readonly shutdownWithDrain: Effect.Effect<void>
}

/** So many due keys become ready in one synchronous section; the rest follows after a yield. */
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
    if (options.rateLimited === true) return state.retry(key, priority, after ?? Infinity)
    return state.add(key, priority, after ?? 0) ? (after ?? 0) : undefined
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
    addUnsafe: (key, priority = 0) => void state.add(key, rank(priority), 0),
    addAllUnsafe: (keys, priority = 0) => state.addAll(keys, rank(priority)),
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
    releaseUnsafe: (key) => state.release(key),
    noteUnsafe: (key, trigger) => state.note(key, trigger),
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
 * Callbacks that wait, first come first served. They run in a scheduled task of their own, never inside the caller that
 * woke them, and each runs only while there is still a reason: one that was cancelled, or found nothing, leaves the reason
 * to the next, so no wake-up is lost.
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
    // A fresh function per wait: one callback may be waiting twice.
    const waiter = () => wake()
    this.waiting.add(waiter)
    return () => void this.waiting.delete(waiter)
  }

  wake(): void {
    if (this.scheduled || this.waiting.size === 0) return
    this.scheduled = true
    this.dispatcher.scheduleTask(this.flush, 0)
  }

  /** Serves those who waited when it began; whoever waits again meanwhile needs a new reason. */
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
  /** Infinity iff no fiber sleeps. Never later than the state's next due time. */
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
