/**
 * Runs one watch for ever and hands each of its changes on, after noting it. No failure ends it: those of the server are the watch's
 * to retry, and a defect is reported and starts the watch anew after a wait. What a change means to a store is not its business.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import * as Backoff from "../../../streams/queue/backoff.ts"
import type { Change } from "../../../streams/watch/Change.ts"
import type { CacheMetrics } from "../metrics.ts"
import * as Report from "./report.ts"

export interface Options<A> {
  readonly clock: Clock.Clock
  /** What is watched, in words: `pods in namespace a`. */
  readonly of: string
  readonly changes: Stream.Stream<Change<A>>
  /** Synchronous; a chunk of changes is handed over in one turn. */
  readonly accept: (change: Change<A>) => void
  /** Run after each chunk. */
  readonly after: () => Effect.Effect<void>
  readonly metrics: Pick<CacheMetrics, "relisted">
}

export interface Reflector {
  readonly run: Effect.Effect<never>
  readonly state: Report.Report["state"]
}

export const make = <A>({ accept, after, changes, clock, metrics, of }: Options<A>): Reflector => {
  const report = Report.make(clock, of)
  /** Why the full state is being read, where that is not for the first time: the failure since it was complete. */
  let reason = "Unknown"
  let isFirst = true
  const note = (change: Change<A>): void => {
    if (change._tag === "Failed") {
      reason = change.error.reason._tag
      return report.failed(change.error, change.attempt, Duration.toMillis(change.delay))
    }
    report.heard(change)
    if (change._tag === "Synced") reason = "Unknown"
    if (change._tag !== "Restarted") return
    if (!isFirst) metrics.relisted(reason)
    isFirst = false
  }
  const run = Effect.suspend(() =>
    Stream.runForEachArray(changes, (chunk) =>
      Effect.suspend(() => {
        for (const change of chunk) {
          note(change)
          accept(change)
        }
        const noted = report.flush()
        // Nearly always there is nothing to write, and then nothing more to run.
        return noted === Effect.void ? after() : Effect.andThen(noted, after())
      })
    )
  )
  return { run: restarting(run, report), state: report.state }
}

const backoff = Backoff.exponential({ base: "800 millis", max: "30 seconds" })

/** A run that lasted longer than this, in milliseconds, starts the backoff over. */
const quiet = 120_000

/**
 * Runs for ever. A watch never ends by itself, so each end is a defect: it is reported, and a new watch, which begins with a
 * full state, puts right whatever the old one left half done. An interruption from outside passes through: the wait is the
 * first thing it stops.
 */
const restarting = (run: Effect.Effect<void>, report: Report.Report): Effect.Effect<never> => {
  let failures = 0
  const once = Effect.gen(function* () {
    const started = yield* Clock.monotonicTimeNanos
    const cause = yield* Effect.matchCause(run, {
      onFailure: (cause) => cause,
      onSuccess: () => Cause.die(new Error("the watch ended"))
    })
    if (Number((yield* Clock.monotonicTimeNanos) - started) / 1e6 > quiet) failures = 0
    const delay = Backoff.jitter(backoff(failures++), yield* Random.next)
    yield* report.died(cause, delay)
    yield* Effect.sleep(delay)
  })
  return Effect.forever(once)
}
