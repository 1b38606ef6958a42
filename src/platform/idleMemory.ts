/**
 * Returns memory to the operating system after a burst of work. V8 collects garbage when something is allocated, so what a burst has left stays in
 * memory for as long as the process is idle. The collection runs in one piece, so it only runs in a process that is idle, and it takes at most a
 * hundredth of the time.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import process from "node:process"
import * as Monotonic from "../streams/monotonic.ts"

/** What is read from a heap, and its full collection. */
export interface Heap {
  /** Bytes of memory that the heap and its buffers occupy. */
  readonly occupiedUnsafe: () => number
  /** Milliseconds of CPU time that the process has used. */
  readonly cpuMillisUnsafe: () => number
  readonly collect: Effect.Effect<void>
}

/** How often the process is observed. */
const interval = 10_000

/** A process is idle if it used less CPU time than this in an interval, in milliseconds: two percent. */
const idleMillis = 200

const mib = 1024 * 1024

/** A smaller increase since the last collection is not worth another one. */
const leastIncrease = 16 * mib

/** The collection of a larger heap would stop the program for about a second; V8 does it in steps when it needs the memory. */
const largest = 256 * mib

/** Collects whenever the process is idle and occupies more than after the last collection. It does not end. */
export const release = (heap: Heap): Effect.Effect<never> =>
  Effect.gen(function* () {
    const now = Monotonic.millis(yield* Clock.Clock)
    let [left, cpu, notBefore] = [0, heap.cpuMillisUnsafe(), 0]
    const isDue = Effect.sync(() => {
      const before = cpu
      cpu = heap.cpuMillisUnsafe()
      const occupied = heap.occupiedUnsafe()
      const isWorthIt = occupied <= largest && occupied - left >= leastIncrease
      return cpu - before < idleMillis && isWorthIt && now() >= notBefore
    })
    const collect = Effect.gen(function* () {
      const began = now()
      yield* heap.collect
      notBefore = now() + 100 * (now() - began)
      left = heap.occupiedUnsafe()
      cpu = heap.cpuMillisUnsafe()
    })
    return yield* collect.pipe(Effect.when(isDue), Effect.delay(interval), Effect.forever)
  })

/** The heap of this process; undefined in Bun and Deno. */
export const thisHeap = (): Heap | undefined =>
  process.versions["bun"] !== undefined || process.versions["deno"] !== undefined
    ? undefined
    : {
        occupiedUnsafe: () => {
          const { external, heapTotal } = process.memoryUsage()
          return heapTotal + external
        },
        cpuMillisUnsafe: () => {
          const { system, user } = process.cpuUsage()
          return (system + user) / 1000
        },
        collect: Effect.flatMap(
          Effect.promise(() => import("./inspector.ts")),
          ({ collectGarbage }) => collectGarbage
        )
      }
