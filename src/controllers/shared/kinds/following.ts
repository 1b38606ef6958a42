/**
 * How monitors follow discovery: a first look, which is repeated until the server has listed something, and one each thirty seconds after
 * it. A look that fails leaves everything as it is. What happens is told in lines that say what it means for whoever follows.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Resource from "../../../kube/Resource.ts"
import type { Monitors, Refreshed } from "./monitors.ts"

/** Between two looks at what the server serves. Source: the discovery sync period of garbagecollector and resourcequota. */
const interval = "30 seconds"

/** Until the server has listed something, and that has been read or been waited for long enough. `idle`: `nothing is collected yet`. */
export const first = (monitors: Monitors, idle: string): Effect.Effect<void> =>
  monitors.refresh.pipe(
    Effect.tapError((error) => Effect.logWarning(`Discovery failed, ${idle}: ${error.message}`)),
    Effect.tap(tellUnsynced),
    Effect.filterOrFail(() => monitors.count() > 0),
    Effect.retry(Schedule.min([Schedule.exponential("1 second"), Schedule.spaced(interval)])),
    Effect.orDie,
    Effect.asVoid
  )

/** From then on, for ever. */
export const forever = (monitors: Monitors): Effect.Effect<unknown> =>
  Effect.schedule(refresh(monitors), Schedule.spaced(interval))

const refresh = (monitors: Monitors) =>
  Effect.matchEffect(monitors.refresh, {
    onFailure: (error) => Effect.logWarning(`Discovery failed, the same kinds are watched on: ${error.message}`),
    onSuccess: tellUnsynced
  })

const tellUnsynced = ({ unsynced }: Refreshed): Effect.Effect<void> =>
  unsynced.length === 0
    ? Effect.void
    : Effect.logWarning(
        `Not all kinds could be read in time, going on without: ${unsynced.map(Resource.qualifiedName).join(", ")}`
      )
