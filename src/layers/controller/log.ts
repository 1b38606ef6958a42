/**
 * The log lines of a controller's loop: that it starts and stops, and one line for each run that did not succeed. Messages are constant;
 * what varies is in the annotations. The first three conflicts in a row are logged at debug level, because a conflict only means that
 * another writer was faster, and the retry repairs it. Source: controller-runtime's LogConstructor.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as ApiError from "../../kube/ApiError.ts"
import type * as Key from "../../kube/Key.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Causes } from "../../streams/reconcile/cause.ts"
import type { RunEvent } from "../../streams/reconcile/Reconcile.ts"
import type { Timeline } from "../Timeline.ts"
import * as CurrentRun from "./currentRun.ts"

export interface Log {
  /** Begins the run of a key. What the run logs, and the line about its end, have the same id. `about`: the object, if the key does not name it. */
  readonly begin: (key: string, causes: Causes | undefined, about?: About) => CurrentRun.Run
  /** `isLogged`: false for an end that is expected, and only recorded. */
  readonly observe: <E>(event: RunEvent<string, E>, isLogged?: boolean) => void
}

/** Emptied when the run ends: V8 keeps former tables of a map longer than needed, see `streams/chain.ts`, and a run has the object that caused it. */
interface Current {
  run: CurrentRun.Run | undefined
}

interface About {
  readonly resource: Resource.Any | undefined
  readonly key: Key.Key
}

/** Turns the loop's synchronous reports into log lines with the annotations and loggers of the caller. */
export const make = (kind: Resource.Any | undefined, timeline?: Timeline, controller = ""): Effect.Effect<Log> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.map(Random.Random, (random) => {
      const say = Effect.runForkWith(context)
      /** The runs in flight: at most one for each worker. */
      const runs = new Map<string, Current>()
      return {
        begin: (key, causes, about) => {
          const of = about === undefined ? kind : about.resource
          const named = about === undefined ? key : about.key
          const entry = timeline?.begin(controller, of, named, causes)
          const run = new CurrentRun.Run(named, random, of, causes, entry)
          runs.set(key, { run })
          return run
        },
        observe: (event, isLogged = true) => {
          if (event._tag === "Started") return
          const current = runs.get(event.key)
          const known = current?.run
          if (current !== undefined) current.run = undefined
          runs.delete(event.key)
          if (known?.entry !== undefined) timeline?.end(known.entry, event)
          const line = lineOf(event)
          if (line === undefined || !isLogged) return
          // A key can fail without a run: then the line has only the key.
          const run = known ?? new CurrentRun.Run(event.key, random, kind)
          say(Effect.provideService(line, CurrentRun.CurrentRun, run))
        }
      }
    })
  )

type Ended<E> = Exclude<RunEvent<string, E>, { readonly _tag: "Started" }>

const lineOf = <E>(event: Ended<E>): Effect.Effect<void> | undefined => {
  switch (event._tag) {
    case "Done":
    case "After":
    case "Stopped":
      return undefined
    case "Failed": {
      const quiet =
        ApiError.isApiError(event.error) && ApiError.hasReason(event.error, "Conflict") && event.attempt <= 3
      const log = quiet ? Effect.logDebug : Effect.logWarning
      return log("Reconciler error").pipe(Effect.annotateLogs({ ...ApiError.facts(event.error), ...retryOf(event) }))
    }
    case "Terminal":
      return Effect.logError("Reconciler error, not retried").pipe(Effect.annotateLogs(ApiError.facts(event.error)))
    case "Defect":
      return Effect.logError("Reconciler died", Cause.die(event.defect)).pipe(Effect.annotateLogs(retryOf(event)))
    case "Timeout":
      return Effect.logWarning("Reconciler took too long and was interrupted").pipe(
        Effect.annotateLogs({ limitInMillis: event.limit, ...retryOf(event) })
      )
    case "GaveUp":
      return Effect.logError("Reconciler gave up; the key waits for the next change of its object", event.cause).pipe(
        Effect.annotateLogs({ attempt: event.attempt })
      )
    case "Interrupted":
      return Effect.logWarning("Reconciler was interrupted").pipe(Effect.annotateLogs(retryOf(event)))
  }
}

const retryOf = (event: { readonly attempt: number; readonly delay: number | undefined }) => ({
  attempt: event.attempt,
  ...(event.delay === undefined ? {} : { retryInMillis: Math.round(event.delay) })
})
