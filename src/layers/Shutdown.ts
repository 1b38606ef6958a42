/**
 * An orderly stop as a thing: when it began, how much time each stage of it has left, who is at work, and what was given up for
 * lack of time. The order of the stages is the nesting of scopes; this is the one clock that all of them look at. When it begins,
 * every loop stops taking work at once, whichever is closed first. Whoever says nothing gets all the time there is.
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

/** A controller's loop, for which a stop has to wait. */
export interface Loop {
  /** The controller. */
  readonly name: string
  /** Knows what is under way. */
  readonly metrics: LoopMetrics
  /** From now on nothing new is begun. Run when the stop begins and when the loop's own scope closes. */
  readonly stop: Effect.Effect<void>
  /** Waits until nothing is under way; to be asked after `stop`. */
  readonly idle: Effect.Effect<void>
}

/** The same for whoever stops it. */
interface Work extends Pick<Loop, "stop" | "idle"> {
  /** What is under way at this moment, in the words of a log line; a few, if it is many. */
  readonly running: () => ReadonlyArray<string>
}

/** So many keys of one controller are named. */
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
  /** The stop begins now; harmless when it has begun already. */
  readonly begin: Effect.Effect<void>
  /** Waits for that. */
  readonly begun: Effect.Effect<void>
  /** Whether the stop has begun. */
  readonly hasBegunUnsafe: () => boolean
  /** Work under way is let finish; otherwise it is interrupted at once. */
  readonly drains: boolean
  /** Milliseconds that a stage still has. Before the stop, work has what it would have if the stop began now. */
  readonly left: (stage: Stage) => Effect.Effect<number>
  /** Among those that are stopped together, and asked what they are doing, until the scope is closed. */
  readonly join: (work: Work) => Effect.Effect<void, never, Scope.Scope>
  /** What is under way at this moment. */
  readonly runningUnsafe: () => ReadonlyArray<string>
  /** The time was used up before this was done: one of a few words each. */
  readonly giveUp: (what: ReadonlyArray<string>) => Effect.Effect<void>
  /** What was not done in time. */
  readonly givenUpUnsafe: () => ReadonlyArray<string>
}

/** In this order. `drain`: work finishes. `release`: leases are given back. `flush`: events are sent. `end`: all is closed. */
type Stage = "drain" | "release" | "flush" | "end"

/** Settings of a stop. */
export interface Options {
  /** 30 s unless said otherwise; zero leaves running work no time, infinity is no limit. */
  readonly timeout?: Duration.Input | undefined
  /** `drain` unless said otherwise: work under way is let finish. `interrupt`: it is not. */
  readonly mode?: "drain" | "interrupt" | undefined
}

/** For a program without a time limit on its stop. It keeps nothing. */
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

/** The stop that this process is under, or will be; without one of its own nothing hurries. */
export const Shutdown = Context.Reference<Shutdown>("effect-controller-manager/Shutdown", {
  defaultValue: () => unlimited
})

/** Milliseconds that are kept for what comes after the work, at most. */
const reserve = 2000

/**
 * Milliseconds from the beginning of the stop at which each stage is over at the latest; they never decrease. Work may take nearly all of
 * the time; a small reserve is kept for what must come after it, however long it takes.
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

/** A stop that has not begun. */
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

/** For programs that stop within a time. */
export const layer = (options: Options): Layer.Layer<never> => Layer.effect(Shutdown, make(options))

/**
 * Joins a loop to the stop, for as long as the scope is open. What it answers with belongs in the finaliser that runs first, before
 * the fibers of the work are interrupted: it lets the work finish within the time there is, and not at all when leadership was
 * lost, before or meanwhile, because then nothing may be written any more.
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

/** The shorter of the time that a stage still has and of what it would take by itself, in milliseconds. */
export const atMost = (stage: Stage, own: number): Effect.Effect<number> =>
  Effect.flatMap(Shutdown, (shutdown) => Effect.map(shutdown.left(stage), (left) => Math.min(left, own)))

/** Whether a scope is being closed because leadership was lost. */
const isLost = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some((reason) => reason._tag === "Fail" && reason.error instanceof LeaderLost)
