/**
 * The processes of the controllers in one run: each has its own client, cache, discovery, recorder and supervisor, as a program has. A process ends when it
 * crashes, when its leadership is lost, or by itself, and another one starts from nothing.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Cache } from "../../layers/Cache.ts"
import type { Descriptor } from "../../layers/Controller.ts"
import { Discovery } from "../../layers/Discovery.ts"
import * as Fence from "../../layers/fence.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import { CurrentTerm, LeaderLost, type Term } from "../../layers/Leadership.ts"
import { Recorder } from "../../layers/Recorder.ts"
import { Supervisor } from "../../layers/Supervisor.ts"
import { Timeline } from "../../layers/Timeline.ts"
import { Transport } from "../../layers/Transport.ts"
import type * as Injection from "./Injection.ts"
import type { Kind } from "./perturbation.ts"
import { recorder } from "./timeline.ts"

/** What the processes of a run have in common. */
interface Deps {
  /** A process whose controllers run more often is stopped. */
  readonly mostRuns: number
  readonly controllers: ReadonlyArray<Descriptor<unknown>>
  readonly injection: Injection.Injection
  /** The revision that a cache has which lags by so many writes. */
  readonly revisionBefore: (writes: number) => number
  /** The wall clock of the machine; undefined: that of the cluster. */
  readonly clock: Clock.Clock | undefined
}

const gone = new LeaderLost({ reason: "Stolen", message: "the process is gone" })

/** How long the cache of a process stays behind that starts with an old one, in milliseconds. */
const lagMillis = 30_000

/** By how many writes the cache of the next process lags. */
const lags: Partial<Record<Kind, number>> = { "travel-1": 1, "travel-2": 2, "travel-4": 4 }

/** Starts the first process, in the scope of the run. */
export const start = Effect.fnUntraced(function* (deps: Deps) {
  const { clock, controllers, injection, mostRuns, revisionBefore } = deps
  const { entries, now } = injection
  const scope = yield* Effect.scope
  const context = yield* Effect.context()
  const closing = new Map<number, Effect.Effect<void>>()
  const runFork = Effect.runForkWith(yield* Effect.context())
  let count = 0

  const fork = (effect: Effect.Effect<unknown>) => Effect.asVoid(Effect.forkIn(effect, scope))

  const open = (why: string, stale?: Injection.Process["stale"]): Effect.Effect<void> =>
    Effect.gen(function* () {
      const process: Injection.Process = { id: ++count, hasEnded: false, hasLostTerm: false, stale }
      entries.push({ type: "start", at: now(), process: process.id, why })
      const own = yield* Scope.fork(scope)
      const lost = yield* Deferred.make<LeaderLost>()
      closing.set(process.id, Effect.andThen(Deferred.succeed(lost, gone), Scope.close(own, Exit.fail(gone))))
      const term: Term = { lost: Deferred.await(lost), isValidUnsafe: () => !process.hasLostTerm }
      const services = yield* Layer.buildWithScope(servicesOf(process), own)
      yield* Effect.forkIn(
        Effect.catch(Context.get(services, Supervisor).failure, ({ message }) =>
          Effect.suspend(() => {
            entries.push({ type: "problem", kind: "failed", at: now(), process: process.id, message })
            return control.crash(process, "it failed")
          })
        ),
        own
      )
      const fenced = services.pipe(
        Context.add(KubeClient, Fence.client(Context.get(services, KubeClient), Effect.succeed(term))),
        Context.add(CurrentTerm, term)
      )
      const timeline = recorder(entries, now, process, mostRuns, () =>
        runFork(control.stop(process, `the controllers ran more than ${mostRuns} times`))
      )
      for (const { layer } of controllers) {
        yield* Layer.buildWithScope(layer, own).pipe(
          Effect.provideService(Timeline, timeline),
          Effect.provideContext(fenced as Context.Context<unknown>)
        )
      }
    }).pipe(
      Effect.provideService(Cache.Frozen, true),
      (started) => (clock === undefined ? started : Effect.provideService(started, Clock.Clock, clock)),
      // What else the controllers need was given to the run.
      Effect.provideContext(context as Context.Context<unknown>)
    )

  const servicesOf = (process: Injection.Process) => {
    const client = Layer.effect(
      KubeClient,
      Effect.map(KubeClient, (one) => KubeClient.of(one.through((sent) => sent, injection.around(process, control))))
    )
    // A streaming list has no version that could be an old one.
    const shared = Layer.mergeAll(Cache.layer({ streamingList: "never" }), Discovery.layer, Recorder.layer)
    return Layer.fresh(
      Layer.merge(shared, Supervisor.layer).pipe(
        Layer.provideMerge(client),
        Layer.provide(KubeClient.layer),
        Layer.provide(Layer.succeed(Transport, injection.transport(process)))
      )
    )
  }

  const close = (process: Injection.Process, why: string) => {
    entries.push({ type: "end", at: now(), process: process.id, why })
    // In the background: it interrupts the fiber that calls this.
    return fork(closing.get(process.id) ?? Effect.void)
  }

  /** A process ends once, for one reason, and has one successor. */
  const hasEnded = (process: Injection.Process): boolean => process.hasEnded || process.hasLostTerm

  const control: Injection.Control = {
    fork,
    crash: (process, why) =>
      Effect.suspend(() => {
        if (hasEnded(process)) return Effect.void
        process.hasEnded = true
        const lag = lags[why as Kind]
        const revision = lag === undefined ? undefined : revisionBefore(lag)
        const next = Effect.suspend(() =>
          open("restart", revision === undefined ? undefined : { revision, until: now() + lagMillis })
        )
        return Effect.andThen(close(process, why), fork(Effect.delay(next, "1 second")))
      }),
    stop: (process, message) =>
      Effect.suspend(() => {
        if (hasEnded(process)) return Effect.void
        process.hasEnded = true
        entries.push({ type: "problem", kind: "endless", at: now(), process: process.id, message })
        return close(process, message)
      }),
    handoff: (process) =>
      Effect.suspend(() => {
        if (hasEnded(process)) return Effect.void
        process.hasLostTerm = true
        return Effect.andThen(close(process, "leadership lost"), fork(open("took over")))
      })
  }

  yield* open("start")
})
