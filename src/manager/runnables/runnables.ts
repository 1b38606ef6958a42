/**
 * Starts and stops the controllers of one group as `StartPlan` decides, one after another. Each has a scope of its own inside the caller's, so
 * closing that scope stops them in reverse order. A controller whose kind is no longer served is drained while the others continue. It never ends
 * by itself. The caller defines how a controller starts.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import * as StartPlan from "./startPlan.ts"
import * as Kinds from "./kinds.ts"

export interface Options<M extends StartPlan.Member & Kinds.Needy, E, R> {
  readonly members: ReadonlyArray<M>
  readonly kinds: Kinds.Kinds
  /** Whether missing kinds may be served later. */
  readonly waits: boolean
  /** The time between two starts is between once and twice this interval. */
  readonly interval: Duration.Duration
  /** Starts a controller for as long as its scope is open; the next one starts after this has succeeded. */
  readonly open: (member: M) => Effect.Effect<void, E, R>
  /** Called before a controller is stopped while the caller's scope stays open. */
  readonly leaving: (member: M) => Effect.Effect<void>
}

export const run = Effect.fnUntraced(function* <M extends StartPlan.Member & Kinds.Needy, E, R>(
  options: Options<M, E, R>
) {
  const { kinds, members, waits } = options
  const around = yield* Effect.scope
  /** By name, in the order of their starts; disjoint from `closing`. */
  const running = new Map<string, Scope.Closeable>()
  const closing = new Set<string>()
  /** Open when a controller has stopped since the last step. */
  const stopped = Latch.makeUnsafe(false)
  /** Monotonic nanoseconds before which no further controller starts. */
  let earliest = 0n

  const start = Effect.fnUntraced(function* (member: M) {
    const scope = yield* Scope.fork(around)
    running.set(member.name, scope)
    yield* Scope.provide(options.open(member), scope)
    earliest = (yield* Clock.monotonicTimeNanos) + Duration.toNanosUnsafe(yield* gap(options.interval))
  })

  const stop = (member: M) =>
    Effect.gen(function* () {
      const scope = running.get(member.name)
      if (scope === undefined) return
      running.delete(member.name)
      closing.add(member.name)
      yield* options.leaving(member)
      // Uninterruptible, so that the caller's scope closes only after this one has closed completely.
      const close = Effect.andThen(Scope.close(scope, Exit.void), () =>
        Effect.sync(() => {
          closing.delete(member.name)
          stopped.openUnsafe()
        })
      )
      yield* Effect.forkIn(Effect.uninterruptible(close), around, { startImmediately: true })
    }).pipe(Effect.uninterruptible)

  while (true) {
    const absent = kinds.absent()
    const step = StartPlan.next({
      members,
      running: [...running.keys()],
      closing,
      isMissing: (member) => Kinds.missing(absent, member).length > 0,
      waits
    })
    if (step._tag === "Stop") {
      yield* stop(step.member)
    } else if (step._tag === "Rest") {
      stopped.closeUnsafe()
      yield* Effect.raceFirst(kinds.after(absent), stopped.await)
    } else {
      const rest = earliest - (yield* Clock.monotonicTimeNanos)
      if (rest <= 0n) yield* start(step.member)
      else yield* Effect.raceFirst(kinds.after(absent), Effect.sleep(Duration.nanos(rest)))
    }
  }
})

/** A random time between once and twice the interval. */
const gap = (interval: Duration.Duration): Effect.Effect<Duration.Duration> =>
  Duration.isZero(interval)
    ? Effect.succeed(interval)
    : Effect.map(Random.next, (random) => Duration.times(interval, 1 + random))
