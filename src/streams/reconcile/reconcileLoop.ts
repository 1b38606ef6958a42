/**
 * The machine inside `Reconcile.run`: takes keys synchronously while there are keys and free workers, forks a fiber per run,
 * and settles each exit with the queue. It suspends nowhere itself; it is called when the queue has keys again, when a run
 * ends, and when the watchdog finds a run over its time.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Scheduler from "effect/Scheduler"
import type * as Tracer from "effect/Tracer"
import type { KeyedQueue } from "../queue/KeyedQueue.ts"
import type { QueueMetrics } from "./loopMetrics.ts"
import * as Monotonic from "../monotonic.ts"
import type { Options, Outcome, RunEvent } from "./Reconcile.ts"
import * as Watchdog from "./watchdog.ts"

/** After so many runs that ended at once, other fibers get their turn. */
const runsPerTurn = 256

interface Run<K, E> extends Watchdog.Watched {
  readonly key: K
  /** What the key was handed out with; retries keep it. */
  readonly priority: number
  fiber: Fiber.Fiber<Outcome | void, E> | undefined
  /** Of a loop that is traced. */
  readonly span: Tracer.Span | undefined
}

interface Loop {
  /** Starts what can be started. */
  readonly pump: () => void
  /** Interrupts every run, waits for them, and gives all keys back. */
  readonly stop: Effect.Effect<void>
}

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

/** What the settler needs of the loop. */
interface Settling<K extends string, E> {
  readonly queue: KeyedQueue<K>
  readonly limit: number
  readonly retries: number
  readonly tell: (event: RunEvent<K, E>) => void
  readonly metrics: QueueMetrics | undefined
  /** The whole loop was interrupted: a run that ends by it did not fail. */
  readonly isStopping: () => boolean
  readonly onDefect: (cause: Cause.Cause<E>) => void
}

/** The end of a run that did not succeed. */
interface Failure<K, E> {
  readonly key: K
  readonly priority: number
  readonly elapsed: number
  readonly cause: Cause.Cause<E>
  readonly expired: boolean
}

/**
 * The one switch from outcome to queue action. The queue is told before the observer, and knows of no worker. True: the run has asked
 * for the next one of its key.
 */
const settler = <K extends string, E>({
  isStopping,
  limit,
  metrics,
  onDefect,
  queue,
  retries,
  tell
}: Settling<K, E>) => ({
  success: (run: Run<K, E>, outcome: Outcome | void, elapsed: number): boolean => {
    const { key } = run
    queue.forgetUnsafe(key)
    if (outcome?._tag === "After") {
      const asked = queue.addWithUnsafe(key, { priority: outcome.priority ?? run.priority, after: outcome.delay })
      queue.doneUnsafe(key)
      const delay = Duration.toMillis(outcome.delay)
      metrics?.ended(elapsed)
      metrics?.requeues(delay > 0 ? "later" : "now")
      tell({ _tag: "After", key, elapsed, delay })
      return asked !== undefined
    }
    queue.doneUnsafe(key)
    metrics?.ended(elapsed)
    tell({ _tag: "Done", key, elapsed })
    return false
  },
  failure: ({ cause, elapsed, expired, key, priority }: Failure<K, E>): boolean => {
    if (isStopping() && Cause.hasInterrupts(cause)) {
      queue.releaseUnsafe(key)
      tell({ _tag: "Stopped", key, elapsed })
      return true
    }
    const error = Cause.findError(cause)
    const isTerminal = !expired && Result.isSuccess(error) && Predicate.isTagged(error.success, "TerminalError")
    const isPanic = !expired && !isTerminal && Cause.hasDies(cause)
    metrics?.ended(elapsed)
    metrics?.fails(isTerminal ? "terminal" : expired ? "timeouts" : isPanic ? "panics" : "error", key, cause)
    if (isTerminal) {
      queue.forgetUnsafe(key)
      queue.doneUnsafe(key)
      tell({ _tag: "Terminal", key, elapsed, error: error.success })
      return false
    }
    const attempt = queue.failures(key) + 1
    if (attempt > retries) {
      queue.forgetUnsafe(key)
      queue.doneUnsafe(key)
      tell({ _tag: "GaveUp", key, elapsed, attempt, cause })
      if (Cause.hasDies(cause)) onDefect(cause)
      return false
    }
    const delay = queue.addWithUnsafe(key, { priority, rateLimited: true })
    queue.doneUnsafe(key)
    const facts = { key, elapsed, attempt, delay }
    if (expired) tell({ _tag: "Timeout", ...facts, limit })
    else if (Result.isSuccess(error)) tell({ _tag: "Failed", ...facts, error: error.success })
    else if (!Cause.hasDies(cause)) tell({ _tag: "Interrupted", ...facts })
    else {
      tell({ _tag: "Defect", ...facts, defect: Cause.squash(cause), cause })
      onDefect(cause)
    }
    return delay !== undefined
  }
})

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
  const running = new Set<Run<K, E>>()
  /** Keys held by `park`, in flight for the queue but without a worker. */
  const parked = new Set<K>()
  /** How to stop waiting for keys; present iff the loop waits for the queue. */
  let waiting: (() => void) | undefined
  /** True while `pump` is on the stack or scheduled: a run that ends at once must not start the next one inside itself. */
  let pumping = false
  /** Set once, by `stop` or by a fatal defect; from then on nothing starts. */
  let stopping = false
  /** The defect that ends the loop, if defects are not recovered. */
  let fatal: Cause.Cause<never> | undefined
  let finished = false
  /** Whether anybody wants to know how long runs take. */
  const isTimed = options.observe !== undefined || options.metrics !== undefined
  /** What the clock said last in this synchronous section: a run starts when the one before it has ended. */
  let moment = 0
  const { trace } = options
  const detach = options.metrics?.attachLoop({
    concurrency,
    active: () => active,
    *running() {
      for (const run of running) yield { key: run.key, millis: now() - run.since }
    }
  })

  const tell = (event: RunEvent<K, E>): void => {
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
    tell,
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
        expired: false
      })
      return true
    }
    parked.add(key)
    return true
  }

  const start = (key: K): void => {
    const span = trace?.begin(key, queue.claimUnsafe(key))
    const priority = queue.priority(key) ?? 0
    const run: Run<K, E> = { key, priority, since: moment, expired: false, fiber: undefined, span }
    active++
    if (options.observe !== undefined) tell({ _tag: "Started", key, priority })
    const reconcile = Effect.suspend(() => options.reconcile(key))
    const fiber = fork(span === undefined ? reconcile : Effect.withParentSpan(reconcile, span))
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return settle(run, exit)
    moment = now()
    run.fiber = fiber
    running.add(run)
    watchdog.watch(run)
    fiber.addObserver((exit) => {
      running.delete(run)
      watchdog.forget(run)
      settle(run, exit)
      pump()
    })
  }

  const settle = (run: Run<K, E>, exit: Exit.Exit<Outcome | void, E>): void => {
    active--
    moment = now()
    const elapsed = isTimed ? moment - run.since : 0
    const isAgain = conclude(run, exit, elapsed)
    if (run.span === undefined) return
    if (isAgain) queue.noteUnsafe(run.key, run.span)
    trace?.end(run.span, exit, isAgain)
  }

  const conclude = (run: Run<K, E>, exit: Exit.Exit<Outcome | void, E>, elapsed: number): boolean => {
    if (exit._tag === "Success" && !run.expired) return settling.success(run, exit.value, elapsed)
    const cause: Cause.Cause<E> = exit._tag === "Failure" ? exit.cause : Cause.interrupt()
    return settling.failure({ key: run.key, priority: run.priority, elapsed, cause, expired: run.expired })
  }

  /** A defect that must not be recovered: no new runs, the others are interrupted, the last one ends the loop. */
  const onDefect = (cause: Cause.Cause<E>): void => {
    if (stopping || options.recoverDefects !== false) return
    fatal = cause as Cause.Cause<never>
    stopping = true
    for (const run of running) run.fiber?.interruptUnsafe()
  }

  const stop = Effect.suspend(() => {
    stopping = true
    const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
    for (const run of running) if (run.fiber !== undefined) fibers.push(run.fiber)
    return Effect.andThen(Fiber.interruptAll(fibers), Effect.sync(end))
  })

  return { pump, stop }
}
