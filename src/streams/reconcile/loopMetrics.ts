/**
 * The metrics of a controller's loop, its queues and its runs, with the names, labels and buckets of Go controllers, for their dashboards.
 * There is one object for each controller and metric registry, shared by all terms of leadership, so counters continue. It is made before
 * the controller, so that a standby has the series too. Gauges are read from the queue and loop that are attached at that moment. Source: controller-runtime pkg/internal/controller/metrics; client-go util/workqueue/metrics.go.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as LoopSnapshot from "./loopSnapshot.ts"
import { Durations, type Registrar, registrar } from "./counters.ts"

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })
const gauge = (name: string, description: string) => Metric.gauge(name, { description })
const histogram = (name: string, description: string, boundaries: ReadonlyArray<number>) =>
  Metric.histogram(name, { description, boundaries })

/** From 10 ns to 1000 s, multiplied in the same way as in Go, so that the bounds are the same doubles and the same texts. */
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

/** How the series of queues are labelled: see {@link Labelling}. */
type Convention = "controller-runtime" | "client-go"

/**
 * The labels of the series of queues. `controller-runtime`: `name`, `controller` and, for the depth, `priority`. `client-go`: only the queue's
 * `name`, and two buckets fewer, as in kube-controller-manager.
 */
export const Labelling = Context.Reference<Convention>("effect-controller-manager/QueueLabelling", {
  defaultValue: () => "controller-runtime"
})

/** The last bucket of client-go's queue histograms is 10 s. */
const clientGoBounds = 10

/** The most priorities with their own series; the others share one. Source: controller-runtime's priority queue. */
const mostPriorities = 25
const shared = "exceeded_cardinality_limit"

/** A queue, as metrics and snapshots read it. */
export interface QueueView {
  /** The sizes of the queue. */
  readonly stats: () => LoopSnapshot.QueueStats
  /** The keys that come next and those that are due next, at most `limit` of each. */
  readonly head: (limit: number) => LoopSnapshot.QueueHead
  /** When the key will be handed out next; undefined if it is not queued. */
  readonly dueOf: (key: string) => LoopSnapshot.DelayedKey | undefined
  /** Ready keys by priority. */
  readonly levels: () => ReadonlyMap<number, number>
  /** Milliseconds for which the key that comes next has been ready; 0 when there is none. */
  readonly waited: () => number
  /** Milliseconds since a key was last handed out, or since keys are ready if that was later; 0 when none is ready. */
  readonly stalled: () => number
}

/** A running loop, as metrics read it. */
export interface LoopView {
  /** How many runs there may be at once. */
  readonly concurrency: number
  /** How many there are. */
  readonly active: () => number
  /** The runs in flight, each with its duration until now in milliseconds. */
  readonly running: () => Iterable<LoopSnapshot.Running>
}

/** The bounds of both histograms of run durations: durations are counted once, and exported in both. */
const elapsedBounds = [...new Set([...queueBounds, ...runBounds])].sort((a, b) => a - b)

/** The counters of one queue and of the workers that take its keys. */
export class QueueMetrics {
  /** How long keys were ready before they were handed out. */
  readonly waits = new Durations(queueBounds)
  /** Of all runs of its keys. */
  private readonly elapsed = new Durations(elapsedBounds)
  private readonly views = new Set<QueueView>()
  private readonly loops = new Set<LoopView>()
  /** The counts of views that are gone. */
  private readonly past = { adds: 0, retries: 0 }
  /** Priorities with a series of their own, at most as many as allowed. */
  private readonly priorities = new Set<number>()
  private readonly name: string
  private readonly owner: LoopMetrics
  private readonly register: Registrar
  private readonly convention: Convention
  private readonly labels: Readonly<Record<string, string>>

  constructor(name: string, owner: LoopMetrics, register: Registrar, convention: Convention) {
    this.name = name
    this.owner = owner
    this.register = register
    this.convention = convention
    this.labels = convention === "client-go" ? { name } : { name, controller: owner.name }
    this.registerAll()
  }

  /** Counts a run of one of its keys, with its duration in milliseconds. */
  ended(elapsed: number): void {
    this.elapsed.observe(elapsed)
  }

  /** As {@link LoopMetrics.requeues}. */
  requeues(when: "now" | "later"): void {
    this.owner.requeues(when)
  }

  /** As {@link LoopMetrics.fails}. */
  fails(why: LoopSnapshot.Failure["why"], key: string | undefined, cause: Cause.Cause<unknown>): void {
    this.owner.fails(why, key, cause)
  }

  /** Attaches it until the returned function is called. */
  attachQueue(view: QueueView): () => void {
    this.views.add(view)
    return () => {
      if (!this.views.delete(view)) return
      const stats = view.stats()
      this.past.adds += stats.adds
      this.past.retries += stats.retries
    }
  }

  /** As {@link attachQueue}, for the workers. */
  attachLoop(view: LoopView): () => void {
    const detach = this.owner.attachLoop(view)
    this.loops.add(view)
    return () => {
      this.loops.delete(view)
      detach()
    }
  }

  /** Called when a key becomes ready with a priority that may have no series yet. */
  readonly sawPriority = (priority: number): void => {
    if (this.convention === "client-go") return
    if (this.priorities.has(priority) || this.priorities.size > mostPriorities) return
    if (this.priorities.size === mostPriorities) return this.shareTheRest()
    this.priorities.add(priority)
    this.registerDepth({ priority: String(priority) }, (of) => of === priority)
  }

  /** Its contents, at most `limit` keys of each sort. */
  look(limit: number): LoopSnapshot.LoopSnapshot["queues"] {
    return Array.from(this.views, (view) => ({ name: this.name, ...view.stats(), ...view.head(limit) }))
  }

  /** Keys that could be taken now. */
  ready(): number {
    return total(this.views, (view) => view.stats().ready)
  }

  /** Milliseconds for which keys have been ready and none has been taken. */
  stalled(): number {
    return Math.max(0, ...Array.from(this.views, (view) => view.stalled()))
  }

  /** Milliseconds for which the key that comes next has been ready; 0 when there is none. */
  waited(): number {
    return Math.max(0, ...Array.from(this.views, (view) => view.waited()))
  }

  /** When the key will be handed out next, in each of its views that has it. */
  dueOf(key: string): ReadonlyArray<LoopSnapshot.DelayedKey> {
    return Array.from(this.views).flatMap((view) => view.dueOf(key) ?? [])
  }

  /** Of all runs, in the buckets of runs. */
  runs(): Metric.HistogramState {
    return this.elapsed.state(runBounds)
  }

  private shareTheRest(): void {
    const own = new Set(this.priorities)
    // One more than allowed: from now on the others share a series.
    this.priorities.add(Number.NaN)
    this.registerDepth({ priority: shared }, (priority) => !own.has(priority))
  }

  private registerDepth(labels: Readonly<Record<string, string>>, counts: (priority: number) => boolean): void {
    const keys = (view: QueueView) => total(view.levels(), ([priority, count]) => (counts(priority) ? count : 0))
    this.register.gauge(depth, { ...this.labels, ...labels }, () => total(this.views, keys))
  }

  private registerAll(): void {
    const { labels, register } = this
    const isClientGo = this.convention === "client-go"
    const bounds = isClientGo ? queueBounds.slice(0, clientGoBounds) : queueBounds
    const counted = (which: "adds" | "retries") => () =>
      this.past[which] + total(this.views, (view) => view.stats()[which])
    const ages = () => Array.from(this.loops, (loop) => Array.from(loop.running(), (run) => run.millis)).flat()
    if (isClientGo) this.registerDepth({}, () => true)
    else for (const priority of [0, -100]) this.sawPriority(priority)
    register.counter(adds, labels, counted("adds"))
    register.counter(retries, labels, counted("retries"))
    register.histogram(queueTime, labels, () => this.waits.state(bounds))
    register.histogram(workTime, labels, () => this.elapsed.state(bounds))
    register.gauge(unfinished, labels, () => total(ages(), (age) => age / 1000))
    register.gauge(longest, labels, () => Math.max(0, ...ages()) / 1000)
    register.gauge(oldestReady, labels, () => this.waited() / 1000)
  }
}

const total = <A>(all: Iterable<A>, of: (one: A) => number): number => {
  let sum = 0
  for (const one of all) sum += of(one)
  return sum
}

/** The counters of one controller, which its queues and loops write and a scrape reads. */
export class LoopMetrics {
  /** The controller's. */
  readonly name: string
  /** The runs that are not for a key of a queue. */
  private readonly elapsed = new Durations(runBounds)
  private readonly requeued = { now: 0, later: 0 }
  private readonly failed = { error: 0, terminal: 0, panics: 0, timeouts: 0 }
  private readonly queues = new Map<string, QueueMetrics>()
  private readonly loops = new Set<LoopView>()
  private failure: LoopSnapshot.Failure | undefined
  private readonly clock: Clock.Clock
  private readonly register: Registrar
  private readonly convention: Convention

  constructor(name: string, register: Registrar, clock: Clock.Clock, convention: Convention) {
    this.name = name
    this.register = register
    this.clock = clock
    this.convention = convention
    this.registerRuns()
  }

  /** The series of one of its queues; new series are zero. */
  queue(name: string): QueueMetrics {
    const found = this.queues.get(name) ?? new QueueMetrics(name, this, this.register, this.convention)
    this.queues.set(name, found)
    return found
  }

  /** Counts a run that was not for a key of a queue, with its duration in milliseconds. */
  ended(elapsed: number): void {
    this.elapsed.observe(elapsed)
  }

  /** Counts that the run that has just ended asked for another run. */
  requeues(when: "now" | "later"): void {
    this.requeued[when]++
  }

  /** Counts that the run that has just ended failed. Only the last failure is kept. */
  fails(why: LoopSnapshot.Failure["why"], key: string | undefined, cause: Cause.Cause<unknown>): void {
    this.failed[why]++
    this.failure = { why, key, cause, at: this.clock.currentTimeMillisUnsafe() }
  }

  /** The keys in its queues and workers at this moment, at most `limit` of each sort. */
  look(limit: number): LoopSnapshot.LoopSnapshot {
    const runs = Array.from(this.loops, (loop) => [...loop.running()]).flat()
    return {
      isRunning: this.loops.size > 0,
      workers: total(this.loops, (loop) => loop.concurrency),
      active: total(this.loops, (loop) => loop.active()),
      running: LoopSnapshot.longest(runs, limit),
      failure: this.failure,
      queues: Array.from(this.queues.values(), (queue) => queue.look(limit)).flat()
    }
  }

  /** Attaches it until the returned function is called. */
  attachLoop(view: LoopView): () => void {
    this.loops.add(view)
    return () => void this.loops.delete(view)
  }

  /** Milliseconds for which keys have been ready and none has been taken. */
  stalled(): number {
    return Math.max(0, ...Array.from(this.queues.values(), (queue) => queue.stalled()))
  }

  /** Milliseconds for which the oldest of the keys that come next has been ready; 0 when there is none. */
  waited(): number {
    return Math.max(0, ...Array.from(this.queues.values(), (queue) => queue.waited()))
  }

  /** When its queues will hand out the key next. */
  dueOf(key: string): ReadonlyArray<LoopSnapshot.DelayedKey> {
    return Array.from(this.queues.values(), (queue) => queue.dueOf(key)).flat()
  }

  /** The number of runs that have ended. */
  runs(): number {
    return this.durations().count
  }

  /** How many of them have failed. */
  failures(): number {
    const { error, panics, terminal, timeouts } = this.failed
    return error + terminal + panics + timeouts
  }

  /** The durations of all runs that have ended, in seconds. */
  durations(): Metric.HistogramState {
    return [...this.queues.values()].reduce((sum, queue) => added(sum, queue.runs()), this.elapsed.state())
  }

  /** Whether no run is in flight and no key is ready; undefined while there are no workers. */
  isIdle(): boolean | undefined {
    if (this.loops.size === 0) return undefined
    return total(this.loops, (loop) => loop.active()) + total(this.queues.values(), (queue) => queue.ready()) === 0
  }

  private registerRuns(): void {
    const { failed, register, requeued } = this
    const labels = { controller: this.name }
    const errors = () => this.failures()
    const counted = (result: string, count: () => number) =>
      register.counter(reconcileTotal, { ...labels, result }, count)
    counted("success", () => this.runs() - errors() - requeued.now - requeued.later)
    counted("error", errors)
    counted("requeue", () => requeued.now)
    counted("requeue_after", () => requeued.later)
    register.counter(reconcileErrors, labels, errors)
    register.counter(terminalErrors, labels, () => failed.terminal)
    register.counter(panics, labels, () => failed.panics)
    register.counter(timeouts, labels, () => failed.timeouts)
    register.histogram(reconcileTime, labels, () => this.durations())
    register.gauge(maxConcurrent, labels, () => total(this.loops, (loop) => loop.concurrency))
    register.gauge(activeWorkers, labels, () => total(this.loops, (loop) => loop.active()))
  }
}

/** Both together; their buckets have the same bounds. */
const added = (a: Metric.HistogramState, b: Metric.HistogramState): Metric.HistogramState => ({
  buckets: a.buckets.map(([bound, count], i) => [bound, count + (b.buckets[i]?.[1] ?? 0)]),
  count: a.count + b.count,
  min: a.count === 0 ? b.min : b.count === 0 ? a.min : Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
  sum: a.sum + b.sum
})

/** All objects made so far, by metric registry, so that they can be collected with the registry. */
const made = new WeakMap<Metric.MetricRegistry, Map<string, LoopMetrics>>()

/** The metrics of a controller; new series are zero. */
export const of = (name: string): Effect.Effect<LoopMetrics> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.map(Metric.MetricRegistry, (registry) => {
      const known = made.get(registry) ?? new Map<string, LoopMetrics>()
      made.set(registry, known)
      const found =
        known.get(name) ??
        new LoopMetrics(name, registrar(context), Context.get(context, Clock.Clock), Context.get(context, Labelling))
      known.set(name, found)
      return found
    })
  )
