/**
 * The status of a watch of an informer, and its log lines: a failure is logged when it begins or changes, not each time. Log lines are
 * collected synchronously, and `flush` writes them.
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as ApiError from "../../../kube/ApiError.ts"
import type { Change } from "../../../streams/watch/protocol.ts"

/** The last failure of a watch. */
export interface InformerFailure {
  /** One line that names verb and resource: `list pods: pods is forbidden: …`. */
  readonly message: string
  readonly verb: string
  readonly reason: ApiError.ReasonTag | "Defect"
  /** HTTP status, if there was one: 403 means a permission is missing, 404 that the server does not know the kind. */
  readonly status: number | undefined
  /** Wall clock, milliseconds. */
  readonly at: number
  /** Milliseconds from `at` to the next attempt. */
  readonly retryIn: number
}

/** The counters of a cache that its informers advance. */
export interface Counters {
  /** The full state is read again; `reason` is that of an `ApiError`. */
  readonly relisted: (reason: string) => void
  readonly failed: () => void
}

export type Report = ReturnType<typeof make>

/** The report of one watch. `of` is its name: `pods`, `pods in namespace a`. */
export const make = (clock: Clock.Clock, of: string, counters: Counters) => {
  const startedAt = clock.currentTimeMillisUnsafe()
  let attempts = 0
  let failures = 0
  let relists = 0
  let lastError: InformerFailure | undefined
  let lastEventAt: number | undefined
  let defects = 0
  let lines: Array<Effect.Effect<void>> = []

  const failure = (found: Omit<InformerFailure, "at">): void => {
    lastError = { ...found, at: clock.currentTimeMillisUnsafe() }
  }
  const count = (): void => {
    attempts += 1
    failures += 1
    counters.failed()
  }
  return {
    relisted: (reason: string): void => {
      relists += 1
      counters.relisted(reason)
    },
    changed: (change: Change<unknown>): void => {
      if (change._tag !== "Restarted") lastEventAt = clock.currentTimeMillisUnsafe()
      if (change._tag !== "Synced" && change._tag !== "Changed") return
      if (attempts > 0) lines.push(Effect.logInfo(`informer of ${of} works again after ${attempts} failures`))
      attempts = 0
    },
    failed: (error: ApiError.ApiError, attempt: number, retryIn: number): void => {
      const isNew = attempts === 0 || lastError?.reason !== error.reason._tag
      const { verb } = error.context
      if (attempt > 0) count()
      const message = `${verb} ${of}: ${error.message}`
      failure({ message, verb, reason: error.reason._tag, status: error.status, retryIn })
      const line = `${message}; trying again in ${Math.round(retryIn)} ms`
      lines.push(isNew && attempt > 0 ? Effect.logWarning(line) : Effect.logDebug(line))
    },
    died: (cause: Cause.Cause<unknown>, retryIn: number): Effect.Effect<void> => {
      defects += 1
      count()
      const message = `informer of ${of}: ${String(Cause.squash(cause))}`
      failure({ message, verb: "watch", reason: "Defect", status: undefined, retryIn })
      return Effect.logError(`informer of ${of} met a defect; starting anew in ${Math.round(retryIn)} ms`, cause)
    },
    /** Writes the log lines since the last call. */
    flush: (): Effect.Effect<void> => {
      if (lines.length === 0) return Effect.void
      const logs = lines
      lines = []
      return Effect.all(logs, { discard: true })
    },
    state: () => ({ startedAt, attempts, failures, relists, lastError, lastEventAt, defects })
  }
}
