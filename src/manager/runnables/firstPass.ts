/**
 * Waits until a controller with `startFirst` is ready: its kinds have synced, and every key of their first lists was reconciled once; or its first
 * scheduled run has ended. It polls the counters of the loop, so other controllers have no cost.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as LoopMetrics from "../../streams/reconcile/loopMetrics.ts"
import { Cache } from "../../layers/Cache.ts"
import type { Descriptor } from "../../layers/Controller.ts"
import * as SyncLimit from "./syncLimit.ts"

/** A controller with `startFirst` is not ready in time; the message is one sentence. */
export class NotReady extends Data.TaggedError("NotReady")<{ readonly message: string }> {}

/** Time between two polls. */
const interval = "100 millis"

/** Call it before the controller is built; it returns the effect that waits. */
export const watch = Effect.fnUntraced(function* (
  { name, reads }: Pick<Descriptor<unknown>, "name" | "reads">,
  timeout: Duration.Duration
) {
  const cache = yield* Cache
  const metrics = yield* LoopMetrics.of(name)
  const before = metrics.runs()
  const isReady = () => metrics.isIdle() ?? metrics.runs() > before
  const ready = Effect.gen(function* () {
    while (!isReady()) yield* Effect.sleep(interval)
  })
  const late = Effect.gen(function* () {
    const why = SyncLimit.unsynced(yield* cache.status, reads)
    const more = why.length === 0 ? "" : `: ${why.join("; ")}`
    const limit = Duration.format(timeout)
    return yield* new NotReady({
      message: `controller ${name} starts first and was not ready within ${limit}${more}`
    })
  })
  return Effect.timeoutOrElse(ready, { duration: timeout, orElse: () => late })
})
