/**
 * The cost of a key: add → take → done in the plain core, through `take`/`done` by a fiber, and through `Reconcile.run`; and the cost of a million delayed
 * keys. The lower bound is the minimum for a key with deduplication: a Map and an array.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Key from "../src/kube/Key.ts"
import { CurrentRun } from "../src/layers/controller/currentRun.ts"
import * as Log from "../src/layers/controller/log.ts"
import * as KeyedQueue from "../src/streams/queue/KeyedQueue.ts"
import * as LoopMetrics from "../src/streams/reconcile/loopMetrics.ts"
import * as Reconcile from "../src/streams/reconcile/Reconcile.ts"
import TraceableQueue from "traceable:queue/KeyedQueue"
import TraceableReconcile from "traceable:reconcile/Reconcile"
import UntracedQueue from "untraced:queue/KeyedQueue"
import UntracedReconcile from "untraced:reconcile/Reconcile"
import type { Figure } from "./figure.ts"

const keys = Array.from({ length: 1000 }, (_, i) => `namespace-${i % 50}/object-${i}`)

/** Runs `round` (which returns how many cycles it did) for about `millis` and returns the best of five rates per second. */
const rate = async (round: () => number | Promise<number>, millis = 400): Promise<number> => {
  let best = 0
  for (let attempt = 0; attempt < 6; attempt++) {
    const start = performance.now()
    let cycles = 0
    while (performance.now() - start < millis) cycles += await round()
    const measured = (cycles * 1000) / (performance.now() - start)
    if (attempt > 0) best = Math.max(best, measured)
  }
  return Math.round(best)
}

/** The lower bound: deduplication and order, nothing else. */
const floorRound = () => {
  const queued = new Map<string, boolean>()
  const ready: Array<string> = []
  return () => {
    let cycles = 0
    for (let round = 0; round < 20; round++) {
      for (const key of keys) {
        if (queued.has(key)) continue
        queued.set(key, true)
        ready.push(key)
      }
      for (let i = 0; i < ready.length; i++) {
        queued.delete(ready[i]!)
        cycles++
      }
      ready.length = 0
    }
    return cycles
  }
}

/** The lower bound for one key at a time. */
const singleFloorRound = () => {
  const queued = new Map<string, boolean>()
  const ready: Array<string> = []
  return () => {
    for (let round = 0; round < 20; round++) {
      for (const key of keys) {
        if (queued.has(key)) continue
        queued.set(key, true)
        ready.push(key)
        queued.delete(ready.pop()!)
      }
    }
    return 20 * keys.length
  }
}

const coreRound = (queue: KeyedQueue.KeyedQueue) => () => {
  let cycles = 0
  for (let round = 0; round < 20; round++) {
    for (const key of keys) queue.addUnsafe(key)
    for (let key = queue.takeUnsafe(); key !== undefined; key = queue.takeUnsafe()) {
      queue.doneUnsafe(key)
      cycles++
    }
  }
  return cycles
}

/** One key at a time, as a goroutine with an empty queue would handle it. */
const singleRound = (queue: KeyedQueue.KeyedQueue) => () => {
  for (let round = 0; round < 20; round++) {
    for (const key of keys) {
      queue.addUnsafe(key)
      queue.doneUnsafe(queue.takeUnsafe()!)
    }
  }
  return 20 * keys.length
}

const fiberRound = (queue: KeyedQueue.KeyedQueue) => {
  let left = 0
  const cycle = Effect.flatMap(queue.take, queue.done)
  const loop: Effect.Effect<void, Cause.Done> = Effect.flatMap(cycle, () => (--left > 0 ? loop : Effect.void))
  const round = Effect.suspend(() => {
    queue.addAllUnsafe(keys)
    left = keys.length
    return loop
  })
  return () => Effect.runPromise(Effect.as(round, keys.length))
}

/** Rounds of a thousand keys through `Reconcile.run`; resolves when the queue is idle again. */
const reconcileRound = (queue: KeyedQueue.KeyedQueue) => {
  const round = Effect.andThen(
    Effect.sync(() => queue.addAllUnsafe(keys)),
    queue.idle
  )
  return () => Effect.runPromise(Effect.as(round, keys.length))
}

const withLoop = (
  reconcile: (key: string) => Effect.Effect<void>,
  observe?: (event: Reconcile.RunEvent<string, never>) => void
): Promise<number> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const queue = yield* KeyedQueue.make()
        yield* Effect.forkScoped(Reconcile.run(queue, { concurrency: 8, reconcile, observe }))
        return yield* Effect.promise(() => rate(reconcileRound(queue)))
      })
    )
  )

/** Rounds of a loop that does nothing, run as `Controller` runs it, until the scope of the caller closes. */
const noOp = (metrics: LoopMetrics.QueueMetrics | undefined, modules: Modules = { KeyedQueue, Reconcile }) =>
  Effect.gen(function* () {
    const queue = yield* modules.KeyedQueue.make({ metrics })
    const reconcile = ({ name }: { readonly name: string }) => (name === "" ? Effect.never : Effect.void)
    const { begin, observe } = yield* Log.make(undefined)
    const loop = modules.Reconcile.run(queue, {
      concurrency: 8,
      metrics,
      observe,
      reconcile: (key, causes) => Effect.provideService(reconcile(Key.parse(key)), CurrentRun, begin(key, causes))
    })
    yield* Effect.forkScoped(loop)
    return reconcileRound(queue)
  })

/** The tenth of them that other work on the machine disturbed least. */
const undisturbed = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)] ?? Number.NaN

/** Microseconds for a run of each, and their ratio; measured alternately, in changing order. */
const compared = (without: () => Promise<number>, having: () => Promise<number>) =>
  Effect.promise(async () => {
    const micros = async (round: () => Promise<number>): Promise<number> => {
      const start = performance.now()
      const cycles = await round()
      return ((performance.now() - start) * 1000) / cycles
    }
    const pairs: Array<{ readonly plain: number; readonly measured: number }> = []
    for (let i = 0; i < 3000; i++) {
      const first = i % 2 === 0 ? await micros(without) : undefined
      const own = await micros(having)
      pairs.push({ plain: first ?? (await micros(without)), measured: own })
    }
    const warm = pairs.slice(500)
    const plain = undisturbed(warm.map((pair) => pair.plain))
    const measured = undisturbed(warm.map((pair) => pair.measured))
    return { plain, measured, ratio: measured / plain }
  })

/** With metrics and without them. */
const counted = Effect.scoped(
  Effect.gen(function* () {
    const plain = yield* noOp(undefined)
    return yield* compared(plain, yield* noOp((yield* LoopMetrics.of("bench")).queue("bench")))
  })
)

interface Modules {
  readonly KeyedQueue: typeof KeyedQueue
  readonly Reconcile: typeof Reconcile
}

const untraced = { KeyedQueue: UntracedQueue, Reconcile: UntracedReconcile } as Modules
const copied = { KeyedQueue: TraceableQueue, Reconcile: TraceableReconcile } as Modules

/**
 * Without a tracer, and with the code of tracing removed. Whichever loop is created later is a few percent faster or slower for that reason alone. So
 * both orders are measured, and the effect of the order cancels out of the ratio.
 */
const traceable = Effect.gen(function* () {
  const inTurn = (first: Modules, second: Modules) =>
    Effect.scoped(
      Effect.gen(function* () {
        return yield* compared(yield* noOp(undefined, first), yield* noOp(undefined, second))
      })
    )
  const later = yield* inTurn(untraced, copied)
  const earlier = yield* inTurn(copied, untraced)
  return {
    plain: Math.min(later.plain, earlier.measured),
    measured: Math.min(later.measured, earlier.plain),
    ratio: Math.sqrt(later.ratio / earlier.ratio)
  }
})

/** Counts the pending sleeps of the clock. */
const countingClock = (real: Clock.Clock) => {
  const counter = { sleeping: 0, most: 0 }
  const clock: Clock.Clock = {
    currentTimeMillis: real.currentTimeMillis,
    currentTimeNanos: real.currentTimeNanos,
    monotonicTimeNanos: real.monotonicTimeNanos,
    currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe(),
    currentTimeNanosUnsafe: () => real.currentTimeNanosUnsafe(),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    sleep: (duration) =>
      Effect.acquireUseRelease(
        Effect.sync(() => (counter.most = Math.max(counter.most, ++counter.sleeping))),
        () => real.sleep(duration),
        () => Effect.sync(() => void counter.sleeping--)
      )
  }
  return { clock, counter }
}

const delayed = Effect.scoped(
  Effect.gen(function* () {
    const real = yield* Clock.Clock
    const { clock, counter } = countingClock(real)
    const queue = yield* Effect.provideService(KeyedQueue.make(), Clock.Clock, clock)
    const names = Array.from({ length: 1_000_000 }, (_, i) => `ns/${i}`)
    const start = performance.now()
    for (let i = 0; i < names.length; i++) queue.addWithUnsafe(names[i]!, { after: 60_000 + ((i * 7919) % 600_000) })
    const nanos = ((performance.now() - start) * 1e6) / names.length
    return { nanos: Math.round(nanos), waiting: queue.stats().waiting, most: counter.most }
  })
)

export const run = async (): Promise<Array<Figure>> => {
  const deepFloor = await rate(floorRound())
  const singleFloor = await rate(singleFloorRound())
  const queue = await Effect.runPromise(Effect.scoped(Effect.flatMap(KeyedQueue.make(), measureCore)))
  const fiber = queue.fiber
  const loop = await withLoop(() => Effect.void)
  const observed = await withLoop(
    () => Effect.void,
    () => {}
  )
  const suspending = await withLoop(() => Effect.yieldNow)
  const metrics = await Effect.runPromise(counted)
  const traces = await Effect.runPromise(traceable)
  const heap = await Effect.runPromise(delayed)
  const cycles = (name: string, value: number, bar: number, floor = deepFloor): Figure => ({
    name,
    value,
    unit: "cycles/s",
    floor,
    ratio: Number((value / floor).toFixed(2)),
    bar: `≥ ${bar.toLocaleString("en")}`,
    ok: value >= bar
  })
  const micros = (name: string, perSecond: number): Figure => {
    const value = Number((1e6 / perSecond).toFixed(2))
    return { name, value, unit: "µs/run", bar: "≤ 25", ok: value <= 25 }
  }
  return [
    cycles("queue: add, take, done, 1000 keys deep", queue.core, 1_500_000),
    cycles("queue: add, take, done, one at a time", queue.single, 1_500_000, singleFloor),
    cycles("queue: take and done by a fiber", fiber, 400_000),
    cycles("queue: through Reconcile.run, 8 workers", loop, 400_000),
    micros("reconcile: no-op, 8 workers, 5 min timeout", loop),
    micros("reconcile: the same with an observer", observed),
    micros("reconcile: the same, each run suspends once", suspending),
    {
      name: "reconcile: no-op of a controller with every metric, in pairs",
      value: Number(metrics.measured.toFixed(2)),
      unit: "µs/run",
      floor: Number(metrics.plain.toFixed(2)),
      ratio: Number(metrics.ratio.toFixed(3)),
      bar: "≤ 1.03 × without",
      ok: metrics.ratio <= 1.03
    },
    {
      name: "reconcile: no-op that could be traced and is not, in pairs",
      value: Number(traces.measured.toFixed(2)),
      unit: "µs/run",
      floor: Number(traces.plain.toFixed(2)),
      ratio: Number(traces.ratio.toFixed(3)),
      bar: "≤ 1.03 × without",
      ok: traces.ratio <= 1.03
    },
    {
      name: "queue: one of 1,000,000 delayed adds",
      value: heap.nanos,
      unit: "ns",
      bar: "≤ 5000",
      ok: heap.nanos <= 5000
    },
    {
      name: "queue: timers for 1,000,000 delayed keys",
      value: heap.most,
      unit: "timers",
      bar: "1",
      ok: heap.most === 1 && heap.waiting === 1_000_000
    }
  ]
}

const measureCore = (queue: KeyedQueue.KeyedQueue) =>
  Effect.promise(async () => ({
    core: await rate(coreRound(queue)),
    single: await rate(singleRound(queue)),
    fiber: await rate(fiberRound(queue))
  }))
