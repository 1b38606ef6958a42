/**
 * The queue of a controller, which keeps with each key the change that has added it: whatever a trigger adds while it handles a change is caused by
 * this change, also if it adds the key itself and with a delay. The cause is made once for a change, and only if it adds a key. What a run adds is
 * caused by that run.
 */
import * as Fiber from "effect/Fiber"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type { Cause } from "../../streams/reconcile/cause.ts"
import type { Trace } from "../../streams/reconcile/trace.ts"
import type { Delta } from "../../streams/store/Store.ts"
import type { Timeline } from "../Timeline.ts"
import { CurrentRun } from "./currentRun.ts"

export interface CausedQueue {
  readonly queue: KeyedQueue
  /** From here to `end`, keys that are added to `queue` are caused by the change. */
  readonly begin: (resource: Resource.Any, delta: Delta<KubeObject>) => void
  readonly end: () => void
}

export const make = (queue: KeyedQueue, trace: Trace | undefined, timeline: Timeline | undefined): CausedQueue => {
  /** The change that is handled now. */
  let resource: Resource.Any | undefined
  let delta: Delta<KubeObject> | undefined
  let made: Cause | undefined
  const cause = (): Cause | undefined => {
    if (resource === undefined || delta === undefined) return undefined
    if (made !== undefined) return made
    made = {
      _tag: "Change",
      kind: resource.kind,
      delta,
      entry: timeline?.change(resource, delta),
      span: trace?.event(resource.kind, delta)
    }
    return made
  }
  return {
    begin: (one, change) => {
      resource = one
      delta = change
      made = undefined
    },
    end: () => {
      resource = undefined
      delta = undefined
      made = undefined
    },
    queue: {
      ...queue,
      addUnsafe: (key, priority, own) => queue.addUnsafe(key, priority, own ?? cause() ?? byRun(key)),
      addAllUnsafe: (keys, priority, own) => queue.addAllUnsafe(keys, priority, own ?? cause() ?? byRun(undefined)),
      addWithUnsafe: (key, options) => {
        const own = options.cause ?? cause() ?? byRun(key)
        return queue.addWithUnsafe(key, own === undefined ? options : { ...options, cause: own })
      }
    }
  }
}

/** The run that adds the key now, if one does. */
const byRun = (key: string | undefined): Cause | undefined => {
  const run = Fiber.getCurrent()?.getRef(CurrentRun)
  if (run === undefined) return undefined
  const object = run.kind === undefined ? run.key : `${run.kind.kind} ${run.key}`
  const why = run.key === key ? "the run before asked for it" : `found in the run for ${object}`
  return { _tag: "Asked", why, entry: run.entry?.id, span: undefined }
}
