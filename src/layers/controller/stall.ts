/**
 * The readiness check of a controller's loop: workers that take nothing, although there is something to take, have come to a
 * stop. For whoever runs a loop; it reads what the loop's queues say and keeps nothing itself.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as LoopMetrics from "../../streams/reconcile/loopMetrics.ts"
import { type Check, Health } from "../Health.ts"

/** For as long as the scope is open. `timeout`: how long one run may last. */
export const register = (
  controller: string,
  metrics: LoopMetrics.LoopMetrics,
  timeout: Duration.Input | "none" | undefined
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Health, (health) => health.register("readiness", workers(controller, metrics, stalledAfter(timeout))))

/** Milliseconds after which ready keys that no worker takes are a stall: more than any run with a timeout may last. */
const stalledAfter = (timeout: Duration.Input | "none" | undefined): number =>
  Math.max(600_000, timeout === undefined || timeout === "none" ? 0 : 2 * Duration.toMillis(timeout))

const workers = (controller: string, metrics: LoopMetrics.LoopMetrics, limit: number): Check => ({
  name: `workers-${controller}`,
  run: Effect.sync(() => {
    const millis = metrics.stalled()
    return millis <= limit
      ? undefined
      : `controller ${controller} has taken no key for ${Math.round(millis / 1000)} s, although keys are ready: all its workers are busy or gone`
  })
})
