/**
 * What is counted of a controller's loop, its queue and its runs: the names, labels and buckets that dashboards for Go's
 * controllers know. One object for each controller and registry, shared by all terms of leadership, so counts go on where they
 * were; made before the controller is, so that a standby shows the series too. Gauges are read from whatever queue and loop are
 * attached at that moment. Source: framework.md 2.10.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as LoopLook from "./loopLook.ts"
import { Durations, type Registrar, registrar } from "./tally.ts"

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })
const gauge = (name: string, description: string) => Metric.gauge(name, { description })
const histogram = (name: string, description: string, boundaries: ReadonlyArray<number>) =>
  Metric.histogram(name, { description, boundaries })

/** From 10 ns to 1000 s, multiplied up as the reference does: so the bounds are the same doubles, and the same texts. */
const queueBounds = [1e-8]
while (queueBounds.length < 12) queueBounds.push((queueBounds.at(-1) ?? 0) * 10)

const runBounds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60
]

const reconcileTotal = counter("controller_runtime_reconcile_total", "Reconciles, by controller and result")
const reconcileErrors = counter("controller_runtime_reconcile_errors_total", "Reconciles that failed, by controller")
const terminalErrors = counter(
  "controller_runtime_terminal_reconcile_errors_total",
  "Reconciles that failed and are not retried, by controller"
)
const panics = counter("controller_runtime_reconcile_panics_total", "Reconciles that died of a defect, by controller")
const timeouts = counter(
  "controller_runtime_reconcile_timeouts_total",
  "Reconciles that ran out of time, by controller"
)
const reconcileTime = histogram(
  "controller_runtime_reconcile_time_seconds",
  "Length of reconciles, by controller",
  runBounds
)
const maxConcurrent = gauge("controller_runtime_max_concurrent_reconciles", "Most reconciles at once, by controller")
const activeWorkers = gauge("controller_runtime_active_workers", "Reconciles under way, by controller")
const depth = gauge("workqueue_depth", "Keys that wait for a worker, by queue and priority")
const adds = counter("workqueue_adds_total", "Keys queued anew, by queue")
const retries = counter("workqueue_retries_total", "Adds with a delay, by queue")
const queueTime = histogram(
  "workqueue_queue_duration_seconds",
  "How long keys were ready before a worker took them",
  queueBounds
)
const workTime = histogram("workqueue_work_duration_seconds", "How long workers held keys", queueBounds)
const unfinished = gauge("workqueue_unfinished_work_seconds", "Time the reconciles under way have run for, added up")
const longest = gauge("workqueue_longest_running_processor_seconds", "Time the oldest reconcile under way has run for")
const oldestReady = gauge("workqueue_oldest_ready_seconds", "How long the next key has been ready; ours")

/** Priorities that get a series of their own; the rest share one. Source: controller-runtime's priority queue. */
const mostPriorities = 25
const shared = "exceeded_cardinality_limit"

/** A queue, as the series and whoever looks at it see it. */
export interface QueueView {
  /** The queue in numbers. */
  readonly stats: () => LoopLook.QueueStats
  /** The keys that come next, at most so many of each sort. */
  readonly head: (limit: number) => LoopLook.QueueHead
  /** Ready keys by priority. */
  readonly levels: () => ReadonlyMap<number, number>
  /** Milliseconds for which the key that comes next has been ready; 0 when there is none. */
  readonly waited: () => number
  /** Milliseconds since a key was last handed out, or since there are any to hand out if that was later; 0 when there are none. */
  readonly stalled: () => number
}

/** A running loop, as the series see it. */
export interface LoopView {
  /** How many runs there may be at once. */
  readonly concurrency: number
  /** How many there are. */
  readonly active: () => number
  /** The runs that have not ended, and how long each has been going on, in milliseconds. */
  readonly running: () => Iterable<LoopLook.Running>
}

/** Every bound of both histograms that show how long runs took: counted once, shown twice. */
const elapsedBounds = [...new Set([...queueBounds, ...runBounds])].sort((a, b) => a - b)

/** The counters of one controller, which its queues and loops write and the metrics page reads. */
export class LoopMetrics {
  /** How long keys were ready before they were handed out. */
  readonly waits = new Durations(queueBounds)
  /** Of all runs. Those that are in none of the counters below succeeded and have nothing more to do. */
  private readonly elapsed = new Durations(elapsedBounds)
  private readonly requeued = { now: 0, later: 0 }
  private readonly failed = { error: 0, terminal: 0, panics: 0, timeouts: 0 }
  /** With the names that they have been given. */
  private readonly queues = new Map<QueueView, string>()
  private readonly loops = new Set<LoopView>()
  /** What queues that are gone have counted. */
  private readonly past = { adds: 0, retries: 0 }
  /** Priorities with a series of their own, at most as many as allowed. */
  private readonly priorities = new Set<number>()
  private failure: LoopLook.Failure | undefined
  private readonly clock: Clock.Clock
  private readonly labels: { readonly name: string; readonly controller: string }
  private readonly register: Registrar

  constructor(name: string, register: Registrar, clock: Clock.Clock) {
    this.clock = clock
    this.labels = { name, controller: name }
    this.register = register
    this.registerRuns(register, { controller: name })
    this.registerQueue(register)
  }

  /** A run has ended, after so many milliseconds. */
  ended(elapsed: number): void {
    this.elapsed.observe(elapsed)
  }

  /** The run that has just ended asked to run again. */
  requeues(when: "now" | "later"): void {
    this.requeued[when]++
  }

  /** The run that has just ended did not end well. Only the last failure is kept. */
  fails(why: LoopLook.Failure["why"], key: string | undefined, cause: Cause.Cause<unknown>): void {
    this.failed[why]++
    this.failure = { why, key, cause, at: this.clock.currentTimeMillisUnsafe() }
  }

  /** What its queues and workers are busy with at this moment, at most so many keys of each sort. */
  look(limit: number): LoopLook.LoopLook {
    const runs = Array.from(this.loops, (loop) => [...loop.running()]).flat()
    return {
      isRunning: this.loops.size > 0,
      workers: this.over(this.loops, (loop) => loop.concurrency),
      active: this.over(this.loops, (loop) => loop.active()),
      running: LoopLook.longest(runs, limit),
      failure: this.failure,
      queues: Array.from(this.queues, ([queue, name]) => ({ name, ...queue.stats(), ...queue.head(limit) }))
    }
  }

  /** Until the function it answers with is called. */
  attachQueue(view: QueueView, name: string): () => void {
    this.queues.set(view, name)
    return () => {
      if (!this.queues.delete(view)) return
      const stats = view.stats()
      this.past.adds += stats.adds
      this.past.retries += stats.retries
    }
  }

  /** As {@link attachQueue}, for the workers. */
  attachLoop(view: LoopView): () => void {
    this.loops.add(view)
    return () => void this.loops.delete(view)
  }

  /** A key has become ready with a priority that may be new. */
  readonly sawPriority = (priority: number): void => {
    if (this.priorities.has(priority) || this.priorities.size > mostPriorities) return
    if (this.priorities.size === mostPriorities) return this.shareTheRest()
    this.priorities.add(priority)
    const labels = { ...this.labels, priority: String(priority) }
    this.register.gauge(depth, labels, () =>
      this.over(this.queues.keys(), (queue) => queue.levels().get(priority) ?? 0)
    )
  }

  /** Milliseconds for which keys have been ready and none has been taken. */
  stalled(): number {
    return Math.max(0, ...Array.from(this.queues.keys(), (queue) => queue.stalled()))
  }

  /** How many runs have ended. */
  runs(): number {
    return this.elapsed.count
  }

  /** Whether nothing is under way and no key is ready; undefined while there are no workers. */
  isIdle(): boolean | undefined {
    if (this.loops.size === 0) return undefined
    return (
      this.over(this.loops, (loop) => loop.active()) + this.over(this.queues.keys(), (queue) => queue.stats().ready) ===
      0
    )
  }

  private shareTheRest(): void {
    const own = new Set(this.priorities)
    // One more than is allowed: full for ever.
    this.priorities.add(Number.NaN)
    const rest = (queue: QueueView): number => {
      let keys = 0
      for (const [priority, count] of queue.levels()) if (!own.has(priority)) keys += count
      return keys
    }
    this.register.gauge(depth, { ...this.labels, priority: shared }, () => this.over(this.queues.keys(), rest))
  }

  private over<A>(all: Iterable<A>, of: (one: A) => number): number {
    let sum = 0
    for (const one of all) sum += of(one)
    return sum
  }

  private registerRuns(register: Registrar, labels: { readonly controller: string }): void {
    const { failed, requeued } = this
    const errors = () => failed.error + failed.terminal + failed.panics + failed.timeouts
    const total = (result: string, count: () => number) =>
      register.counter(reconcileTotal, { ...labels, result }, count)
    total("success", () => this.elapsed.count - errors() - requeued.now - requeued.later)
    total("error", errors)
    total("requeue", () => requeued.now)
    total("requeue_after", () => requeued.later)
    register.counter(reconcileErrors, labels, errors)
    register.counter(terminalErrors, labels, () => failed.terminal)
    register.counter(panics, labels, () => failed.panics)
    register.counter(timeouts, labels, () => failed.timeouts)
    register.histogram(reconcileTime, labels, () => this.elapsed.state(runBounds))
    register.gauge(maxConcurrent, labels, () => this.over(this.loops, (loop) => loop.concurrency))
    register.gauge(activeWorkers, labels, () => this.over(this.loops, (loop) => loop.active()))
  }

  private registerQueue(register: Registrar): void {
    const { labels } = this
    const total = (which: "adds" | "retries") => () =>
      this.past[which] + this.over(this.queues.keys(), (queue) => queue.stats()[which])
    const ages = () => Array.from(this.loops, (loop) => Array.from(loop.running(), (run) => run.millis)).flat()
    for (const priority of [0, -100]) this.sawPriority(priority)
    register.counter(adds, labels, total("adds"))
    register.counter(retries, labels, total("retries"))
    register.histogram(queueTime, labels, () => this.waits.state())
    register.histogram(workTime, labels, () => this.elapsed.state(queueBounds))
    register.gauge(unfinished, labels, () => this.over(ages(), (age) => age / 1000))
    register.gauge(longest, labels, () => Math.max(0, ...ages()) / 1000)
    register.gauge(
      oldestReady,
      labels,
      () => Math.max(0, ...Array.from(this.queues.keys(), (one) => one.waited())) / 1000
    )
  }
}

/** Those made so far. By registry, as the series are; a registry that is gone takes its own with it. */
const made = new WeakMap<Metric.MetricRegistry, Map<string, LoopMetrics>>()

/** The series of a controller, all at zero when they are new. */
export const of = (name: string): Effect.Effect<LoopMetrics> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.map(Metric.MetricRegistry, (registry) => {
      const known = made.get(registry) ?? new Map<string, LoopMetrics>()
      made.set(registry, known)
      const found = known.get(name) ?? new LoopMetrics(name, registrar(context), Context.get(context, Clock.Clock))
      known.set(name, found)
      return found
    })
  )
