/**
 * The loop behind `Controller.scheduled`: it waits for the controller's kinds, runs, and runs again according to the schedule. A run that
 * fails or dies is logged and the schedule goes on; the next run does not start before the last has ended. When the layer's scope
 * closes, a run in flight may finish while the shutdown has time; if leadership is lost, it is interrupted.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Schedule from "effect/Schedule"
import type * as Resource from "../../kube/Resource.ts"
import * as LoopMetrics from "../../streams/reconcile/loopMetrics.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import { Cache } from "../Cache.ts"
import { KubeClient } from "../KubeClient.ts"
import { Recorder } from "../Recorder.ts"
import type { Run } from "../Schedules.ts"
import * as Shutdown from "../Shutdown.ts"
import { Supervisor } from "../Supervisor.ts"
import { Defaults } from "./defaults.ts"
import { synced } from "./loop.ts"
import * as ReconcileContext from "./reconcileContext.ts"

export interface Options<A, E, R> {
  readonly name: string
  readonly reads: ReadonlyArray<Resource.Any>
  readonly schedule: Schedule.Schedule<unknown, Run>
  readonly component?: string | undefined
  readonly run: (context: ReconcileContext.ReconcileContext<A>) => Effect.Effect<void, E, R>
}

export const layer = <A, E, R>(options: Options<A, E, R>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const cache = yield* Cache
      const supervisor = yield* Supervisor
      for (const resource of options.reads) yield* cache.subscribe(resource)
      const context = ReconcileContext.make<A>(
        {
          cache,
          client: yield* KubeClient,
          events: (yield* Recorder).named(options.component ?? options.name),
          fieldManager: options.name
        },
        () => Effect.void
      )
      const metrics = yield* LoopMetrics.of(options.name)
      const { recoversDefects } = yield* Defaults
      const guarded = options.run(context).pipe(
        Effect.annotateLogs({ reason: "schedule" }),
        Effect.catchCause((cause) => {
          metrics.fails(Cause.hasDies(cause) ? "panics" : "error", undefined, cause)
          if (recoversDefects === false && Cause.hasDies(cause)) return Effect.failCause(cause)
          return Effect.logWarning("Scheduled run failed", cause)
        })
      )
      const now = Monotonic.millis(yield* Clock.Clock)
      /** When the present run began; undefined between two runs. */
      let since: number | undefined
      const view = {
        concurrency: 1,
        active: () => (since === undefined ? 0 : 1),
        running: () => (since === undefined ? [] : [{ key: "", millis: now() - since }])
      }
      const run = Effect.flatMap(Clock.monotonicTimeNanos, (startedAt) =>
        Effect.flatMap(guarded, () =>
          Effect.map(Clock.monotonicTimeNanos, (endedAt) => {
            metrics.ended(Number(endedAt - startedAt) / 1e6)
            return { startedAt }
          })
        )
      )
      /** Open while no run is in flight. */
      const idle = Latch.makeUnsafe(true)
      let stopping = false
      const stop = Effect.sync(() => void (stopping = true))
      const drain = yield* Shutdown.enlist({ name: options.name, metrics, stop, idle: idle.await })
      const begun = Effect.suspend(() => {
        if (stopping) return Effect.never
        idle.closeUnsafe()
        since = now()
        return Effect.ensuring(
          run,
          Effect.sync(() => {
            since = undefined
            idle.openUnsafe()
          })
        )
      })
      yield* supervisor.fork(
        options.name,
        Effect.andThen(
          synced(cache, options.reads),
          Effect.acquireUseRelease(
            Effect.sync(() => metrics.attachLoop(view)),
            () => Effect.repeat(begun, options.schedule),
            (detach) => Effect.sync(detach)
          )
        )
      )
      // Registered last, so it runs first: the run in flight finishes before the fiber is interrupted.
      yield* Effect.addFinalizer(drain)
    }).pipe(Effect.annotateLogs({ controller: options.name }))
  )
