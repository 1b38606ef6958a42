/**
 * The queue of a controller, which keeps with each key the change that has added it: whatever a trigger adds while it handles a change is caused by
 * this change, also if it adds the key itself and with a delay. The cause is made once for a change, and only if it adds a key.
 */
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type { Cause } from "../../streams/reconcile/cause.ts"
import type { Trace } from "../../streams/reconcile/trace.ts"
import type { Delta } from "../../streams/store/Store.ts"
import type { Timeline } from "../Timeline.ts"

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
    if (made !== undefined || resource === undefined || delta === undefined) return made
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
      addUnsafe: (key, priority) => queue.addUnsafe(key, priority, cause()),
      addAllUnsafe: (keys, priority) => queue.addAllUnsafe(keys, priority, cause()),
      addWithUnsafe: (key, options) => {
        const own = options.cause ?? cause()
        return queue.addWithUnsafe(key, own === undefined ? options : { ...options, cause: own })
      }
    }
  }
}
