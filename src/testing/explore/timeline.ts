/** A timeline that records the ends of runs in the record of an exploration, and nothing else. */
import * as Cause from "effect/Cause"
import { messageOf } from "./messageOf.ts"
import * as Resource from "../../kube/Resource.ts"
import type { Going, Timeline } from "../../layers/Timeline.ts"
import type * as Injection from "./Injection.ts"
import type * as Record from "./record.ts"

/** The end of a run that the end of its process interrupts says nothing about the controller: it is not recorded. */
export const recorder = (
  entries: Array<Record.Entry>,
  now: () => number,
  process: Injection.Process,
  mostRuns: number,
  onTooMany: () => void
): Timeline => {
  let runs = 0
  return {
    change: () => undefined,
    begin: (controller, kind, key) => ({
      ...unknownRun,
      controller,
      key,
      at: now(),
      resource: kind === undefined ? undefined : Resource.qualifiedName(kind)
    }),
    end: (run, event) => {
      if (process.hasEnded || process.hasLostTerm) return
      if (++runs === mostRuns) onTooMany()
      const error = "error" in event ? event.error : "cause" in event ? Cause.squash(event.cause) : undefined
      entries.push({
        type: "run",
        at: now(),
        process: process.id,
        controller: run.controller,
        resource: run.resource,
        key: run.key,
        outcome: event._tag,
        error: error === undefined ? undefined : messageOf(error)
      })
    },
    write: (_, call) => call,
    event: () => {},
    of: () => ({ entries: [], truncated: false }),
    bytesUnsafe: () => 0
  }
}

const unknownRun: Going = {
  type: "reconcile",
  id: 0,
  at: 0,
  controller: "",
  resource: undefined,
  key: "",
  causes: [],
  duration: null,
  outcome: "running",
  error: undefined,
  attempt: undefined,
  due: undefined
}
