/**
 * Maps changes of Services and pods to Service keys. A pod maps to the Services that match its labels before or after the change, and only if the
 * change matters to endpoints. The triggers also maintain the table of selectors. Source: staging/src/k8s.io/endpointslice/util:
 * GetPodServiceMemberships.
 */
import * as Duration from "effect/Duration"
import * as Equality from "../../../kube/equality.ts"
import * as Key from "../../../kube/Key.ts"
import type { Pod, Service } from "../../../kube/resources.ts"
import * as Setting from "../../../layers/Setting.ts"
import * as Codecs from "../../../layers/setting/codecs.ts"
import type { Delta } from "../../../streams/store/Store.ts"
import type { KeyedQueue } from "../../../streams/queue/KeyedQueue.ts"
import type * as Trigger from "../../../streams/store/trigger.ts"
import * as Pods from "./pods.ts"
import * as Selection from "./selection.ts"

const none: ReadonlyArray<Key.Key> = []

/** How long changes are batched before they are written. `what` completes its description. */
export const batchPeriod = (name: string, what: string) =>
  Setting.make(Codecs.duration, {
    name,
    group: "tuning",
    description: `How long changes of ${what}; 0 does so at once`,
    default: "0s"
  })

export const services =
  (table: Selection.Table): Trigger.Trigger<Service> =>
  ({ _tag, object }) => {
    const key = Key.of(object)
    if (_tag === "Deleted") table.delete(key)
    else table.set(key, object.metadata.namespace, Selection.selectorOf(object))
    return [key]
  }

export const pods =
  (table: Selection.Table): Trigger.Trigger<Pod> =>
  (delta) => {
    if (delta._tag !== "Updated") return isSeen(delta.object) ? matching(table, delta.object) : none
    return delta.previous === delta.object ? none : changed(table, delta)
  }

/** Adds the keys `period` after the change; the queue merges further changes until then. */
export const batched = <A>(
  trigger: Trigger.Trigger<A>,
  queue: Pick<KeyedQueue, "addWithUnsafe">,
  period: Duration.Duration
): Trigger.Trigger<A> => {
  if (Duration.isZero(period)) return trigger
  return (delta) => {
    for (const key of trigger(delta)) queue.addWithUnsafe(key, { after: period })
    return none
  }
}

const isSeen = (pod: Pod): boolean => Pods.contributes(pod, { includeTerminating: true })

const matching = (table: Selection.Table, { metadata }: Pod): ReadonlyArray<Key.Key> =>
  table.matching(metadata.namespace, metadata.labels)

const changed = (
  table: Selection.Table,
  { object, previous }: Extract<Delta<Pod>, { readonly _tag: "Updated" }>
): ReadonlyArray<Key.Key> => {
  if (!isSeen(object) && !isSeen(previous)) return none
  const hasChanged = Pods.hasChanged(previous, object)
  if (Equality.isSameMap(previous.metadata.labels, object.metadata.labels))
    return hasChanged ? matching(table, object) : none
  const now = matching(table, object)
  const before = matching(table, previous)
  const fresh = now.filter((key) => !before.includes(key))
  // A change of labels alone does not change the endpoints of Services that select the pod before and after it.
  return hasChanged ? [...before, ...fresh] : [...before.filter((key) => !now.includes(key)), ...fresh]
}
