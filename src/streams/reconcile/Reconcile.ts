/**
 * The loop between a keyed queue and a reconcile: a limited number of runs at once, one at a time for each key. Every run is a fiber, so a
 * run that times out, dies or is interrupted releases its key and affects no other run. The queue decides which key comes next;
 * `settler.ts` decides what follows from the outcome of a run.
 *
 * The loop takes keys synchronously while there are keys and free workers, forks a fiber for each run, and updates the queue at its exit.
 * It never suspends; it is called when the queue has keys again, when a run ends, and when the watchdog finds a run over its
 * deadline.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import type * as Tracer from "effect/Tracer"
import { Chain } from "../chain.ts"
import * as Monotonic from "../monotonic.ts"
import type { KeyedQueue } from "../queue/KeyedQueue.ts"
import type { QueueMetrics } from "./loopMetrics.ts"
import type { Outcome } from "./outcome.ts"
import { type RunEvent, settler } from "./settler.ts"
import type { Trace } from "./trace.ts"
import type { Causes } from "./cause.ts"
import * as Watchdog from "./watchdog.ts"

export { type After, after, type Done, done, type Outcome, terminal, TerminalError } from "./outcome.ts"
export type { RunEvent } from "./settler.ts"

/** Settings of a loop. */
export interface Options<K, E, R> {
  /** How many runs at once; at least 1. */
  readonly concurrency: number
  /** Brings the actual state of the key's object to the desired one. The causes of the run are for logs only: what to do follows from the state. */
  readonly reconcile: (key: K, causes: Causes | undefined) => Effect.Effect<Outcome | void, E, R>
  /** A run that takes longer is interrupted and counts as a failure. Default 5 minutes. */
  readonly timeout?: Duration.Input | "none" | undefined
  /** The most retries of a key in a row. Default: no limit. */
  readonly retries?: number | undefined
  /** Default true: a defect counts as a failure of its key. False: it ends the loop. */
  readonly recoverDefects?: boolean | undefined
  /**
   * Called before each run. True: the key is held, without occupying a worker, until `resume` is called; then the key is handed out in
   * turn, and `park` is called again. For reads that must see the last write.
   */
  readonly park?: ((key: K, resume: () => void) => boolean) | undefined
  /** For metrics and logs. Must be quick; if it throws, that is logged and the key is not affected. */
  readonly observe?: ((event: RunEvent<K, E>) => void) | undefined
  /** The metrics of the runs. Default: none. */
  readonly metrics?: QueueMetrics | undefined
  /** The spans of the runs. Default: none. */
  readonly trace?: Trace | undefined
}

/**
 * Runs until the queue has ended and the last run is over. Interrupting it interrupts all runs and waits for them; their keys return to
 * the queue.
 */
export const run = <K extends string, E, R>(
  queue: KeyedQueue<K>,
  options: Options<K, E, R>
): Effect.Effect<void, never, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Effect.callback<void>((resume) => {
      const loop = make(queue, options, context, resume)
      loop.pump()
      return loop.stop
    })
  )

/** After so many runs that ended synchronously, the loop yields to other fibers. */
const runsPerTurn = 256

interface Run<K, E> extends Watchdog.Watched {
  readonly key: K
  /** The priority with which the key was handed out; retries keep it. */
  readonly priority: number
  fiber: Fiber.Fiber<Outcome | void, E> | undefined
  /** The span of the run, if the loop is traced. */
  readonly span: Tracer.Span | undefined
}

interface Loop {
  /** Starts runs while there are ready keys and free workers. */
  readonly pump: () => void
  /** Interrupts every run, waits for them, and returns all keys to the queue. */
  readonly stop: Effect.Effect<void>
}

const make = <K extends string, E, R>(
  queue: KeyedQueue<K>,
  options: Options<K, E, R>,
  context: Context.Context<R>,
  finish: (result: Effect.Effect<void>) => void
): Loop => {
  const now = Monotonic.millis(Context.get(context, Clock.Clock))
  const fork = Effect.runForkWith(context)
  const dispatcher = Context.get(context, Scheduler.Scheduler).makeDispatcher()
  const concurrency = Math.max(1, Math.floor(options.concurrency) || 1)
  const limit = options.timeout === "none" ? Infinity : Math.max(0, Duration.toMillis(options.timeout ?? "5 minutes"))
  const watchdog = Watchdog.make<Run<K, E>>(limit, now, context, (run) => run.fiber?.interruptUnsafe())

  /** Runs whose fiber has not ended: at most `concurrency`, never two of one key. */
  let active = 0
  const running = new Chain<Run<K, E>>()
  /** Keys held by `park`, in flight for the queue but without a worker. */
  const parked = new Set<K>()
  /** Stops waiting for keys; present if and only if the loop waits for the queue. */
  let waiting: (() => void) | undefined
  /** True while `pump` runs or is scheduled: a run that ends synchronously must not start the next one inside itself. */
  let pumping = false
  /** Set once, by `stop` or by a fatal defect; from then on no run starts. */
  let stopping = false
  /** The defect that ends the loop, if defects are not recovered. */
  let fatal: Cause.Cause<never> | undefined
  let finished = false
  /** Whether the duration of runs is needed. */
  const isTimed = options.observe !== undefined || options.metrics !== undefined
  /** The last time that was read in this synchronous section: a run starts when the one before it has ended. */
  let moment = 0
  const { trace } = options
  const detach = options.metrics?.attachLoop({
    concurrency,
    active: () => active,
    *running() {
      for (const run of running.values()) yield { key: run.key, millis: now() - run.since }
    }
  })

  const notify = (event: RunEvent<K, E>): void => {
    try {
      options.observe?.(event)
    } catch (defect) {
      fork(
        Effect.logError("the observer of a reconcile loop failed", Cause.die(defect)) as Effect.Effect<void, never, R>
      )
    }
  }

  const hasRoom = (): boolean => !stopping && active < concurrency

  const settling = settler<K, E>({
    queue,
    limit,
    retries: options.retries ?? Infinity,
    notify,
    metrics: options.metrics,
    isStopping: () => stopping,
    onDefect: (cause) => onDefect(cause)
  })

  const pump = (): void => {
    if (pumping) return
    pumping = true
    let budget = runsPerTurn
    moment = now()
    while (hasRoom()) {
      if (budget-- === 0) return dispatcher.scheduleTask(resumePump, 0)
      const key = queue.takeUnsafe(moment)
      if (key === undefined) break
      if (!park(key)) start(key)
    }
    pumping = false
    if (stopping || queue.endedUnsafe()) end()
    else if (hasRoom() && waiting === undefined) waiting = queue.onReadyUnsafe(wake)
  }
  const resumePump = (): void => {
    pumping = false
    pump()
  }
  const wake = (): void => {
    waiting = undefined
    pump()
  }

  const end = (): void => {
    if (finished || active > 0) return
    finished = true
    waiting?.()
    detach?.()
    watchdog.stop()
    for (const key of parked) queue.releaseUnsafe(key)
    parked.clear()
    finish(fatal === undefined ? Effect.void : Effect.failCause(fatal))
  }

  const park = (key: K): boolean => {
    if (options.park === undefined) return false
    let resumed = false
    try {
      const held = options.park(key, () => {
        resumed = true
        if (parked.delete(key)) queue.releaseUnsafe(key)
      })
      if (!held || resumed) return false
    } catch (defect) {
      settling.failure({
        key,
        priority: queue.priority(key) ?? 0,
        elapsed: 0,
        cause: Cause.die(defect),
        expired: false,
        span: undefined
      })
      return true
    }
    parked.add(key)
    return true
  }

  const start = (key: K): void => {
    const causes = queue.claimUnsafe(key)
    const span = trace?.begin(key, causes)
    const priority = queue.priority(key) ?? 0
    const run: Run<K, E> = { key, priority, since: moment, expired: false, fiber: undefined, span }
    active++
    if (options.observe !== undefined) notify({ _tag: "Started", key, priority })
    const reconcile = Effect.suspend(() => options.reconcile(key, causes))
    const fiber = fork(span === undefined ? reconcile : Effect.withParentSpan(reconcile, span))
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return settle(run, exit)
    moment = now()
    run.fiber = fiber
    const link = running.add(run)
    const forget = watchdog.watch(run)
    fiber.addObserver((exit) => {
      running.delete(link)
      forget()
      settle(run, exit)
      pump()
    })
  }

  const settle = (run: Run<K, E>, exit: Exit.Exit<Outcome | void, E>): void => {
    active--
    moment = now()
    const elapsed = isTimed ? moment - run.since : 0
    const isAgain = conclude(run, exit, elapsed)
    if (run.span !== undefined) trace?.end(run.span, exit, isAgain)
  }

  const conclude = (run: Run<K, E>, exit: Exit.Exit<Outcome | void, E>, elapsed: number): boolean => {
    if (exit._tag === "Success" && !run.expired) return settling.success(run, exit.value, elapsed)
    const cause: Cause.Cause<E> = exit._tag === "Failure" ? exit.cause : Cause.interrupt()
    return settling.failure({ ...run, elapsed, cause })
  }

  /** A defect that must not be recovered: no new runs, the others are interrupted, the last one ends the loop. */
  const onDefect = (cause: Cause.Cause<E>): void => {
    if (stopping || options.recoverDefects !== false) return
    fatal = cause as Cause.Cause<never>
    stopping = true
    for (const run of running.values()) run.fiber?.interruptUnsafe()
  }

  const stop = Effect.suspend(() => {
    stopping = true
    const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
    for (const run of running.values()) if (run.fiber !== undefined) fibers.push(run.fiber)
    return Effect.andThen(Fiber.interruptAll(fibers), Effect.sync(end))
  })

  return { pump, stop }
}
