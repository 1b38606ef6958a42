/**
 * What a controller's loop says: one line for each run that did not end well. A conflict is no news - another writer was faster
 * and the retry settles it - so the first three in a row are whispered. Source: framework.md 2.7.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type { RunEvent } from "../../streams/Reconcile.ts"

/** Turns the loop's synchronous reports into log lines with the annotations and loggers of the caller. */
export const observer: Effect.Effect<<E>(event: RunEvent<string, E>) => void> = Effect.map(
  Effect.context(),
  (context: Context.Context<never>) => {
    const say = Effect.runForkWith(context)
    return (event) => {
      const line = lineOf(event)
      if (line !== undefined) say(line)
    }
  }
)

const lineOf = <E>(event: RunEvent<string, E>): Effect.Effect<void> | undefined => {
  switch (event._tag) {
    case "Started":
    case "Done":
    case "After":
    case "Stopped":
      return undefined
    case "Failed": {
      const quiet =
        ApiError.isApiError(event.error) && ApiError.hasReason(event.error, "Conflict") && event.attempt <= 3
      const log = quiet ? Effect.logDebug : Effect.logWarning
      return log(`Reconciler error: ${text(event.error)}`).pipe(Effect.annotateLogs(retryOf(event)))
    }
    case "Terminal":
      return Effect.logError(`Reconciler error, not retried: ${text(event.error)}`).pipe(
        Effect.annotateLogs({ key: event.key })
      )
    case "Defect":
      return Effect.logError("Reconciler died", Cause.die(event.defect)).pipe(Effect.annotateLogs(retryOf(event)))
    case "Timeout":
      return Effect.logWarning(`Reconciler took longer than ${event.limit} ms and was interrupted`).pipe(
        Effect.annotateLogs(retryOf(event))
      )
    case "GaveUp":
      return Effect.logError("Reconciler gave up; the key waits for the next change of its object", event.cause).pipe(
        Effect.annotateLogs({ key: event.key, attempt: event.attempt })
      )
    case "Interrupted":
      return Effect.logWarning("Reconciler was interrupted").pipe(Effect.annotateLogs(retryOf(event)))
  }
}

const retryOf = (event: { readonly key: string; readonly attempt: number; readonly delay: number | undefined }) => ({
  key: event.key,
  attempt: event.attempt,
  ...(event.delay === undefined ? {} : { retryInMillis: Math.round(event.delay) })
})

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error))
