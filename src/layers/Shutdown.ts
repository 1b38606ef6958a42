/**
 * The state of a graceful shutdown: when it began, how much time each stage has left, which runs are in flight, and what was given up for
 * lack of time. The nesting of scopes determines the order of the stages; all of them read their remaining time here. When the
 * shutdown begins, every loop stops taking keys at once, in whatever order their scopes close. Without this layer there is no time limit.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { LoopMetrics } from "../streams/reconcile/loopMetrics.ts"
import * as Monotonic from "../streams/monotonic.ts"
import { CurrentTerm, LeaderLost } from "./Leadership.ts"

/** The loop of a controller, for which a shutdown waits. */
export interface Loop {
  /** The name of the controller. */
  readonly name: string
  /** Knows which runs are in flight. */
  readonly metrics: LoopMetrics
  /** Starts no new runs from now on. Called when the shutdown begins and when the loop's own scope closes. */
  readonly stop: Effect.Effect<void>
  /** Waits until no run is in flight. Call it after `stop`. */
  readonly idle: Effect.Effect<void>
}

/** The same, as the shutdown uses it. */
interface Work extends Pick<Loop, "stop" | "idle"> {
  /** The runs in flight, as in a log line; only a few of many. */
  readonly running: () => ReadonlyArray<string>
}

/** How many keys of one controller are named. */
const named = 5

const workOf = ({ idle, metrics, name, stop }: Loop): Work => ({
  stop,
  idle,
  running: () => {
    const { active, running } = metrics.look(named)
    const names = running.map(({ key }) => (key === "" ? name : `${name} ${key}`))
    return active > names.length ? [...names, `${active - names.length} more of ${name}`] : names
  }
})

export interface Shutdown {
  /** Begins the shutdown; a second call has no effect. */
  readonly begin: Effect.Effect<void>
  /** Waits until the shutdown begins. */
  readonly begun: Effect.Effect<void>
  /** Whether the shutdown has begun. */
  readonly hasBegunUnsafe: () => boolean
  /** True: runs in flight may finish. False: they are interrupted at once. */
  readonly drains: boolean
  /** Milliseconds that a stage still has. Before the shutdown `drain` has the time that it would have if the shutdown began now. */
  readonly left: (stage: Stage) => Effect.Effect<number>
  /** Adds a loop to the shutdown until the scope is closed. */
  readonly join: (work: Work) => Effect.Effect<void, never, Scope.Scope>
  /** The runs in flight. */
  readonly runningUnsafe: () => ReadonlyArray<string>
  /** Records what was not done in time, each in a few words. */
  readonly giveUp: (what: ReadonlyArray<string>) => Effect.Effect<void>
  /** What was not done in time. */
  readonly givenUpUnsafe: () => ReadonlyArray<string>
}

/** In this order. `drain`: runs finish. `release`: Leases are released. `flush`: events are sent. `end`: everything is closed. */
type Stage = "drain" | "release" | "flush" | "end"

/** Settings of a shutdown. */
export interface Options {
  /** Default 30 s. With zero, runs in flight have no time; infinity is no limit. */
  readonly timeout?: Duration.Input | undefined
  /** `drain` (default): runs in flight may finish. `interrupt`: they are interrupted. */
  readonly mode?: "drain" | "interrupt" | undefined
}

/** For a program whose shutdown has no time limit. It has no state. */
const unlimited: Shutdown = {
  begin: Effect.void,
  begun: Effect.never,
  hasBegunUnsafe: () => false,
  drains: true,
  left: () => Effect.succeed(Infinity),
  join: () => Effect.void,
  runningUnsafe: () => [],
  giveUp: () => Effect.void,
  givenUpUnsafe: () => []
}

/** The shutdown of this process. Default: one without a time limit. */
export const Shutdown = Context.Reference<Shutdown>("effect-controller-manager/Shutdown", {
  defaultValue: () => unlimited
})

/** The most milliseconds that are reserved for the stages after `drain`. */
const reserve = 2000

/**
 * Milliseconds after the beginning of the shutdown at which each stage ends at the latest; they never decrease. `drain` may take nearly
 * all of the time; a small part is reserved for the later stages.
 */
export const limitsOf = ({ mode = "drain", timeout = "30 seconds" }: Options): Readonly<Record<Stage, number>> => {
  const given = Duration.toMillis(timeout)
  const end = given > 0 ? given : reserve
  const kept = end === Infinity ? 0 : Math.min(reserve, given > 0 ? given / 4 : reserve)
  return {
    drain: mode === "interrupt" ? 0 : end - kept,
    release: end - kept / 2,
    flush: end - (3 * kept) / 8,
    end
  }
}

/** A shutdown that has not begun. */
export const make = (options: Options): Effect.Effect<Shutdown> =>
  Clock.clockWith((clock) =>
    Effect.sync(() => {
      const limits = limitsOf(options)
      const now = Monotonic.millis(clock)
      const begun = Deferred.makeUnsafe<void>()
      const works = new Set<Work>()
      const givenUp: Array<string> = []
      /** Milliseconds of the monotonic clock; set once. */
      let begunAt: number | undefined
      const left = (stage: Stage): number => {
        if (begunAt === undefined) return stage === "drain" ? limits.drain : Infinity
        return Math.max(0, limits[stage] - (now() - begunAt))
      }
      const begin = Effect.suspend(() => {
        if (begunAt !== undefined) return Effect.void
        begunAt = now()
        Deferred.doneUnsafe(begun, Effect.void)
        return Effect.forEach([...works], (work) => work.stop, { discard: true })
      })
      return {
        begin,
        begun: Deferred.await(begun),
        hasBegunUnsafe: () => begunAt !== undefined,
        drains: limits.drain > 0,
        left: (stage) => Effect.sync(() => left(stage)),
        join: (work) =>
          Effect.acquireRelease(
            Effect.suspend(() => {
              works.add(work)
              return begunAt === undefined ? Effect.void : work.stop
            }),
            () => Effect.sync(() => works.delete(work))
          ),
        runningUnsafe: () => [...works].flatMap((work) => work.running()),
        giveUp: (what) => Effect.sync(() => void givenUp.push(...what)),
        givenUpUnsafe: () => givenUp
      }
    })
  )

/** For programs whose shutdown has a time limit. */
export const layer = (options: Options): Layer.Layer<never> => Layer.effect(Shutdown, make(options))

/**
 * Adds a loop to the shutdown for as long as the scope is open. Use the returned function as the finalizer that runs first, before the
 * fibers of the loop are interrupted: it lets runs in flight finish within the time that is left, unless leadership is lost, before or
 * meanwhile, because then nothing may be written.
 */
export const enlist = (
  loop: Loop
): Effect.Effect<(exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const shutdown = yield* Shutdown
    const term = yield* CurrentTerm
    const work = workOf(loop)
    yield* shutdown.join(work)
    return (exit) => (isLost(exit) ? Effect.void : drain(shutdown, work, Effect.asVoid(term.lost)))
  })

const drain = Effect.fnUntraced(function* (shutdown: Shutdown, work: Work, lost: Effect.Effect<void>) {
  yield* work.stop
  if (!shutdown.drains) return
  const over = Effect.as(Effect.raceFirst(work.idle, lost), true)
  const left = yield* shutdown.left("drain")
  const late = left === Infinity ? Effect.never : Effect.sleep(left)
  if (yield* Effect.raceFirst(over, Effect.as(late, false))) return
  yield* shutdown.giveUp(work.running())
})

/** The shorter of the time that a stage still has and of `own`, in milliseconds. */
export const atMost = (stage: Stage, own: number): Effect.Effect<number> =>
  Effect.flatMap(Shutdown, (shutdown) => Effect.map(shutdown.left(stage), (left) => Math.min(left, own)))

/** Whether a scope is being closed because leadership was lost. */
const isLost = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some((reason) => reason._tag === "Fail" && reason.error instanceof LeaderLost)
